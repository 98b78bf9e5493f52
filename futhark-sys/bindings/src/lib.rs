//! Only a test: compares the committed bindings of futhark-sys with the output of bindgen. A separate
//! package, so that it runs even if futhark-sys does not compile, and no other package needs bindgen.
