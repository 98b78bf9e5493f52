//! Compiles the programs of the tests, with raw modules.

use futhark_safe::{Backend, Error, build::Program};

fn main() -> Result<(), Error> {
    for name in ["stats", "other"] {
        Program::new(format!("programs/{name}.fut"))
            .backends([Backend::C, Backend::Multicore, Backend::OpenCl])
            .raw(true)
            .flag("-O0")
            .compile()?;
    }
    Ok(())
}
