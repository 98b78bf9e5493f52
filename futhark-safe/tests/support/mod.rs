//! What the tests of the dynamic face share: compilers, backends, libraries.

use std::path::{Path, PathBuf};

use futhark_safe::Backend;
use futhark_safe::compile::{Build, Compiler};
use futhark_safe::dynamic::Library;

/// Every compiler that is set up; at least one, or the test says how to get it.
pub fn compilers() -> Vec<Compiler> {
    let all = Compiler::all();
    assert!(
        !all.is_empty(),
        "these tests need a Futhark compiler: {}",
        Compiler::find()
            .err()
            .map(|e| e.to_string())
            .unwrap_or_default()
    );
    all
}

/// A test program of this folder.
pub fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(name)
}

/// Builds `name` and loads it.
pub fn library(name: &str, backend: Backend, compiler: &Compiler) -> Library {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("futhark");
    let build = Build::new(program(name), backend)
        .compiler(compiler.clone())
        .out_dir(out)
        .fast(true);
    Library::build(&build).unwrap_or_else(|error| panic!("{name} for {backend}: {error}"))
}
