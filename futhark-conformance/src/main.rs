//! The `futhark-conformance` program.

#![forbid(unsafe_code)]

fn main() {}
