//! What the installed compilers really write.

use std::path::Path;

use crate::common::{faultless, fixtures, read};
use crate::toolchain::{compilers, generate, manifests_made, primes, scratch, tell};
use futhark_manifest::{Backend, Code, Manifest, Program};

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

/// Every manifest that a compiler makes of the corpus is read without a warning,
/// and written as it was.
#[test]
fn manifests_of_the_corpus_are_faultless() {
    for manifest in manifests_made() {
        faultless(&read(manifest), manifest.display());
    }
    tell("manifests read");
}

/// The one known mistake of the compilers in a manifest is refused, with its place.
#[test]
fn a_name_that_c_cannot_have_is_refused() {
    let source = primes();
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
