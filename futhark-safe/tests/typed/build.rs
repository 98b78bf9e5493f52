//! Compiles the programs of the tests.

use futhark_safe::{Backend, build::Program};

fn main() {
    for name in [
        "arrays",
        "basics",
        "names",
        "opaques",
        "records",
        "tuples",
        "sums",
        "record_arrays",
        "record_consumption",
        "record_nesting",
        "record_matrices",
        "opaque_arrays",
        "opaque_matrices",
        "stored",
    ] {
        let source = format!("programs/{name}.fut");
        Program::new(source)
            .backends([Backend::C, Backend::Multicore, Backend::OpenCl])
            .compile();
    }
    for name in ["first", "twin"] {
        let source = format!("programs/{name}.fut");
        Program::new(source)
            .backends([Backend::C, Backend::Multicore])
            .compile();
    }
}
