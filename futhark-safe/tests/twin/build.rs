//! Compiles `twin`.

use futhark_safe::{Backend, Error, build::Program};

fn main() -> Result<(), Error> {
    Program::new("twin.fut")
        .backends([Backend::C, Backend::Multicore])
        .flag("-O0")
        .compile()
}
