//! Compiles the program of the tests, with raw modules.

use futhark_safe::{Backend, Error, build::Program};

fn main() -> Result<(), Error> {
    Program::new("programs/stats.fut")
        .backends([Backend::C, Backend::Multicore, Backend::OpenCl])
        .raw(true)
        .flag("-O0")
        .compile()
}
