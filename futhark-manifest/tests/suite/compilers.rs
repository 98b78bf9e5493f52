//! The manifests of the installed compilers: their one known bug, and their backends.

use crate::common::{faultless, fixtures, read};
use crate::corpus::primes;
use crate::toolchain::{compilers, generate};
use futhark_manifest::{Backend, Code, Manifest};

/// The one known bug of compilers in manifests is an error, with its place.
#[test]
fn invalid_c_names_of_the_compiler_are_rejected() {
    let source = primes();
    for compiler in compilers() {
        let manifest = generate(&compiler, Backend::C, &source).expect("it compiles");
        let manifest = Manifest::parse(&read(&manifest)).expect("it is a manifest");
        let error = manifest
            .resolve()
            .expect_err("the compiler bug is fixed: remove this exception");
        assert_eq!(error.code(), Code::InvalidCName, "{error}");
        assert!(error.pointer().starts_with("/types/"), "{error}");
    }
}

/// Backends may differ only in C names.
#[test]
fn all_backends_have_the_same_interface() {
    let source = fixtures().join("everything.fut");
    for compiler in compilers() {
        let build = |backend: Backend| {
            let manifest = generate(&compiler, backend, &source)
                .unwrap_or_else(|text| panic!("{} {backend}: {text}", compiler.display()));
            let program = faultless(&read(&manifest), manifest.display());
            assert_eq!(program.backend, backend);
            program
        };
        let c = build(Backend::C);
        assert!(!c.entries().is_empty());
        for &backend in Backend::ALL {
            // The code generator for ispc runs the ISPC compiler, which is often missing.
            if backend == Backend::Ispc {
                continue;
            }
            let other = build(backend);
            assert_eq!(other.interface_text(), c.interface_text(), "{backend}");
            assert_eq!(other.interface_hash(), c.interface_hash(), "{backend}");
        }
    }
}
