//! For build scripts.
