//! Raw builds: for every backend and compiler, the declared functions are exported.
#![cfg(all(feature = "raw", unix))]

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use futhark_manifest::Backend;
use futhark_sys::compile::{Artifact, BACKENDS, Compiler, ErrorKind, Linkage};
use support::Source;

const PROGRAM: &str = "\
type pt = {x: f64, y: f64}
entry f (x: f16) (xs: []bool) : ([]bool, f16) = (xs, x)
entry g [n] (xs: *[n]pt) : *[n]pt = xs
entry kind (p: pt) : pt = p
";

/// The global symbols of a library.
fn global(library: &Path) -> BTreeSet<String> {
    let output = std::process::Command::new("nm")
        .args(["--extern-only", "--defined-only"])
        .arg(library)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let symbol = |line: &str| line.split(' ').nth(2).map(str::to_owned);
    text.lines().filter_map(symbol).collect()
}

/// The symbols in the declarations.
fn declared(bindings: &str) -> BTreeSet<String> {
    let names = bindings.split("link_name = \"\\u{1}").skip(1);
    names
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect()
}

fn build(source: &Source, backend: Backend, compiler: &Compiler) -> Artifact {
    let build = source.build(backend).compiler(compiler.clone());
    let build = build.linkage(Linkage::Static).raw(true);
    build
        .run()
        .unwrap_or_else(|error| panic!("{backend}: {error}"))
}

#[test]
fn declared_functions_are_exported() {
    let Some(source) = Source::to_compile("raw", PROGRAM) else {
        return;
    };
    let mut seen = BTreeSet::new();
    for compiler in support::compilers() {
        for backend in BACKENDS {
            eprintln!("{} {backend}", compiler.version());
            let artifact = build(&source, backend, &compiler);
            let bindings = artifact.bindings().unwrap();
            let mut declared = declared(&bindings);
            for function in [
                "entry_f",
                "entry_g",
                "entry_kind",
                "new_bool_1d",
                "free_opaque_pt",
                "context_sync",
                "context_get_error",
            ] {
                let symbol = format!("futhark_{function}_{}", artifact.symbol());
                assert!(declared.contains(&symbol), "{symbol}: {bindings}");
            }
            for absent in [
                "fn futhark_context_new",
                "fn futhark_context_free",
                "futhark_context_config",
                "fn futhark_new_raw_",
            ] {
                assert!(!bindings.contains(absent), "{absent}: {bindings}");
            }
            declared.insert(artifact.symbol().to_owned());
            let global = global(&artifact.library());
            assert!(declared.is_subset(&global), "{declared:?} {global:?}");
            // Symbols of different backends and compilers differ.
            for symbol in global {
                assert!(symbol.ends_with(artifact.symbol()), "{symbol}");
                assert!(seen.insert(symbol));
            }
        }
    }
}

#[test]
fn missing_libclang_is_an_error() {
    let Some(source) = Source::to_compile("raw-without-libclang", PROGRAM) else {
        return;
    };
    const VARIABLE: &str = "LIBCLANG_PATH";
    const NOWHERE: &str = "/nonexistent";
    if std::env::var(VARIABLE).as_deref() != Ok(NOWHERE) {
        // bindgen loads libclang once per process.
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "missing_libclang_is_an_error"])
            .env(VARIABLE, NOWHERE)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains(" 1 passed"),
            "{text}"
        );
        return;
    }
    let compiler = Compiler::find().unwrap();
    let error = build(&source, Backend::C, &compiler)
        .bindings()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Bindings);
    let message = error.to_string();
    for words in ["libclang", "apt-get install libclang-dev", VARIABLE] {
        assert!(message.contains(words), "{message}");
    }
}
