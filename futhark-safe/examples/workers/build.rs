//! Compiles workers.fut. For a GPU, put Backend::Cuda, Backend::Hip or Backend::OpenCl first.

use futhark_safe::{Backend, Error, build::Program};

fn main() -> Result<(), Error> {
    Program::new("workers.fut")
        .backends([Backend::Multicore, Backend::C])
        .compile()
}
