//! The generated C of programs that have all kinds of checks.

use std::path::Path;
use std::process::Command;

use futhark_manifest::Backend;
use futhark_sys::compile::{BACKENDS, Compiler, hardened_source};

use crate::file::File;
use crate::{protection, support};

/// One program, compiled by one compiler for one backend.
pub struct Text {
    pub label: String,
    pub c: String,
    pub h: String,
    pub manifest: String,
    pub hardened: String,
}

impl Text {
    pub fn file(&self) -> File<'_> {
        let sizes = protection::sizes(&self.hardened);
        let file = File::read(&self.c);
        File { sizes, ..file }
    }
}

/// Compiles the programs of `folder` with the names `programs`.
pub fn generate(programs: &[&str]) -> Vec<Text> {
    let folder = support::folder("mutations");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let compilers = Compiler::all();
    let mut texts = Vec::new();
    for (i, program) in programs.iter().enumerate() {
        let source = root.join(format!("{program}.fut"));
        for (j, backend) in BACKENDS.into_iter().enumerate() {
            // Each program on one GPU backend; each backend gets each compiler, with other programs.
            let is_chosen = support::is_full() || !backend.is_gpu() || j == 2 + i % 3;
            let compilers = match support::is_full() {
                true => &compilers[..],
                false => &compilers[(i + j) % compilers.len()..][..1],
            };
            let compilers = compilers.iter().filter(|_| is_chosen);
            texts.extend(compilers.map(|compiler| text(compiler, backend, &source, &folder)));
        }
    }
    texts
}

fn text(compiler: &Compiler, backend: Backend, source: &Path, folder: &Path) -> Text {
    let name = source.file_stem().expect("a name").to_string_lossy();
    let (major, minor, patch) = compiler.version().number.expect("a number");
    let version = format!("{major}.{minor}.{patch}");
    let label = format!("{name}-{backend}-{version}");
    let mut command = Command::new(compiler.program());
    command.arg(backend.to_string()).args(["--library", "-o"]);
    let output = command.args([&folder.join(&label), source]).output();
    let output = output.expect("the compiler runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{label}: {errors}");
    let read = |extension: &str| {
        let file = folder.join(format!("{label}.{extension}"));
        std::fs::read_to_string(file).expect("a file of the compiler")
    };
    let (c, h, manifest) = (read("c"), read("h"), read("json"));
    let hardened = hardened_source(&c, &h, &manifest).unwrap_or_else(|e| panic!("{label}: {e}"));
    Text {
        label,
        c,
        h,
        manifest,
        hardened,
    }
}
