//! Compiles `twin`.

use futhark_safe::{Backend, build::Program};

fn main() {
    Program::new("twin.fut")
        .backends([Backend::C, Backend::Multicore])
        .flag("-O0")
        .compile();
}
