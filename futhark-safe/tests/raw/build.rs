//! Compiles the programs of the tests, with raw modules.

use futhark_safe::{Backend, build::Program};

fn main() {
    for name in ["stats", "other"] {
        Program::new(format!("programs/{name}.fut"))
            .backends([Backend::C, Backend::Multicore, Backend::OpenCl])
            .raw(true)
            .flag("-O0")
            .compile();
    }
}
