//! Compiles workers.fut for backend c only: the threads are those of rayon.

use futhark_safe::{Backend, Error, build::Program};

fn main() -> Result<(), Error> {
    Program::new("workers.fut").backends([Backend::C]).compile()
}
