//! The bridges in `futhark-manifest/examples` call hardened libraries from Ruby and OCaml.
//!
//! Only with `FUTHARK_TESTS_FULL`. The test of a language that is not installed is skipped with a message.
#![cfg(all(feature = "library", target_os = "linux"))]

mod support;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_manifest::Backend;
use futhark_sys::compile::{Build, Linkage, library};

const MANIFEST_CRATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../futhark-manifest");

#[test]
fn ruby_calls_hardened_libraries() {
    if !is_installed(&["ruby", "-e", "require 'fiddle/import'"]) {
        return;
    }
    let driver = Path::new(MANIFEST_CRATE).join("tests/bridge/drive.rb");
    drive("ruby", Command::new("ruby").arg("-W").arg(driver));
}

#[test]
fn ocaml_calls_hardened_libraries() {
    const PACKAGES: &str = "ctypes.foreign,yojson";
    if !is_installed(&["ocamlfind", "query", "ctypes.foreign", "yojson"]) {
        return;
    }
    let folder = support::folder("foreign-ocaml");
    let sources = ["examples/ocaml/futhark.ml", "tests/bridge/drive.ml"].map(|path| {
        let source = Path::new(MANIFEST_CRATE).join(path);
        // The compiler writes its results beside the sources.
        let copy = folder.join(source.file_name().unwrap());
        std::fs::copy(source, &copy).unwrap();
        copy
    });
    let driver = folder.join("drive");
    let mut compile = Command::new("ocamlfind");
    compile.args([
        "ocamlopt", "-thread", "-package", PACKAGES, "-linkpkg", "-I",
    ]);
    run(compile.arg(&folder).args(sources).arg("-o").arg(&driver));
    drive("ocaml", &mut Command::new(driver));
}

/// Runs a driver with the libraries of two programs, for each backend that needs no device.
fn drive(language: &str, driver: &mut Command) {
    if support::no_compiler() {
        return;
    }
    let programs = ["bridges/everything.fut", "kills/negative_size.fut"];
    let folder = support::folder(&format!("foreign-{language}"));
    let builds = |program: &PathBuf| {
        [Backend::Multicore, Backend::C]
            .map(|backend| Build::new(program, backend).out_dir(&folder).fast(true))
    };
    for program in programs {
        let program = Path::new(MANIFEST_CRATE).join("../programs").join(program);
        let prefix = folder.join(program.file_stem().unwrap());
        library(&builds(&program), &prefix, Linkage::Shared).unwrap();
        driver.arg(prefix);
    }
    for backend in ["c", "multicore"] {
        run(driver.env("FUTHARK_BACKEND", backend));
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

fn is_installed(check: &[&str]) -> bool {
    if !support::is_full() {
        println!("skipped: FUTHARK_TESTS_FULL is not set");
        return false;
    }
    let output = Command::new(check[0]).args(&check[1..]).output();
    let installed = output.is_ok_and(|output| output.status.success());
    if !installed {
        // Written directly, because the test harness captures `eprintln!`.
        let _ = writeln!(std::io::stderr(), "skipped: `{}` failed", check.join(" "));
    }
    installed
}
