//! What the installed compilers really write.
//!
//! Compilers are `bin/futhark-*` below the folder that `FUTHARK_TOOLCHAIN`
//! names, the program that `FUTHARK` names, and `futhark` on the path. Without
//! any, the tests say so and pass.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{faultless, files_below, fixtures, read};
use futhark_manifest::{Backend, Code, Manifest, Program};

pub fn compilers() -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(toolchain) = env::var_os("FUTHARK_TOOLCHAIN") {
        let folder = Path::new(&toolchain).join("bin");
        let launchers = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_launcher = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("futhark-"))
        };
        found.extend(launchers.map(|entry| entry.path()).filter(is_launcher));
        found.sort();
    }
    let named = env::var_os("FUTHARK").filter(|name| !name.is_empty());
    found.extend(named.map(PathBuf::from));
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| folder.join("futhark"));
    found.extend(on_path.filter(|program| program.is_file()).take(1));
    if found.is_empty() {
        println!("skipped: no compiler in FUTHARK_TOOLCHAIN, FUTHARK or PATH");
    }
    found
}

/// Compiles a program and reads its manifest; or gives what the compiler said.
fn compile(
    compiler: &Path,
    backend: Backend,
    source: &Path,
    folder: &Path,
) -> Result<Program, String> {
    let manifest = generate(compiler, backend, source, folder)?;
    let program = faultless(&read(&manifest), manifest.display());
    assert_eq!(program.backend, backend);
    Ok(program)
}

/// Compiles a program and gives its manifest's file; or what the compiler said.
pub fn generate(
    compiler: &Path,
    backend: Backend,
    source: &Path,
    folder: &Path,
) -> Result<PathBuf, String> {
    fs::create_dir_all(folder).expect("a writable folder");
    let target = folder.join(source.file_stem().expect("a file name"));
    let output = Command::new(compiler)
        .arg(backend.as_str())
        .arg("--library")
        .arg(source)
        .arg("-o")
        .arg(&target)
        .output()
        .map_err(|error| format!("{}: {error}", compiler.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(target.with_extension("json"))
}

/// A folder of its own for each pair of compiler and purpose.
pub fn scratch(compiler: &Path, purpose: &str) -> PathBuf {
    let name = compiler.file_name().expect("a file name");
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("compilers")
        .join(name)
        .join(purpose)
}

/// Every program of the corpus that a compiler accepts has a manifest that is
/// read without a warning. That a compiler rejects some is not for this crate
/// to judge.
#[test]
fn manifests_of_the_corpus_are_faultless() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let mut sources = files_below(&corpus, "fut");
    sources.retain(|source| !source.ends_with(PRIMES));
    for compiler in compilers() {
        let folder = scratch(&compiler, "corpus");
        let mut read = 0;
        for (number, source) in sources.iter().enumerate() {
            // Programs in different folders may have the same name.
            let folder = folder.join(number.to_string());
            match compile(&compiler, Backend::C, source, &folder) {
                Ok(_) => read += 1,
                Err(text) => {
                    let first = text.lines().next().unwrap_or("no message");
                    println!("{}: not compiled: {first}", source.display());
                }
            }
        }
        let all = sources.len();
        println!("{}: {read} of {all} manifests read", compiler.display());
        assert!(
            read > 0 || all == 0,
            "{} compiles nothing",
            compiler.display()
        );
    }
}

/// A variant whose name has a prime: no known compiler can write it in C.
pub const PRIMES: &str = "names/variants_with_primes.fut";

/// The one known mistake of the compilers in a manifest is refused, with its place.
#[test]
fn a_name_that_c_cannot_have_is_refused() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../programs")
        .join(PRIMES);
    for compiler in compilers() {
        let folder = scratch(&compiler, "primes");
        let manifest = generate(&compiler, Backend::C, &source, &folder).expect("it compiles");
        let manifest = Manifest::parse(&read(&manifest)).expect("it is a manifest");
        let error = manifest
            .resolve()
            .expect_err("the compiler has learned it: no exception is needed");
        assert_eq!(error.code(), Code::InvalidCName, "{error}");
        assert!(error.pointer().starts_with("/types/"), "{error}");
    }
}

/// The backends differ in C names at most: the interface is the same.
#[test]
fn all_backends_have_the_same_interface() {
    let source = fixtures().join("everything.fut");
    for compiler in compilers() {
        let folder = scratch(&compiler, "backends");
        let build = |backend: Backend| {
            compile(&compiler, backend, &source, &folder.join(backend.as_str()))
                .unwrap_or_else(|text| panic!("{} {backend}: {text}", compiler.display()))
        };
        let c = build(Backend::C);
        assert!(!c.entries().is_empty());
        for &backend in Backend::ALL {
            // Its code generator runs the ISPC compiler, which few have.
            if backend == Backend::Ispc {
                continue;
            }
            let other = build(backend);
            assert_eq!(other.interface_text(), c.interface_text(), "{backend}");
            assert_eq!(other.interface_hash(), c.interface_hash(), "{backend}");
        }
    }
}
