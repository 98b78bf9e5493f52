//! Compiles the programs of the tests.

#[path = "../newer/mod.rs"]
mod newer;

use std::path::{Path, PathBuf};

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
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets it"));
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../newer");
    println!("cargo::rerun-if-changed={}", here.display());
    let compiler = out.join("futhark-newer");
    newer::compiler(&here, &compiler);
    Program::new(here.join("elements.fut"))
        .futhark(compiler)
        .backends([Backend::C, Backend::Multicore, Backend::OpenCl])
        .compile();
}
