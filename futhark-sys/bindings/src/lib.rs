//! Nothing but a test: the committed bindings of futhark-sys are what bindgen makes of
//! the header today. A package of its own, so that it can be run while futhark-sys
//! does not compile, and so that nobody else needs bindgen.
