//! What the installed compilers make of the same program: those that
//! `FUTHARK_TOOLCHAIN` has. Without any, the test says so and passes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_manifest::Program;
use futhark_manifest::diff::{self, Severity};

use super::lines;
use crate::common::{faultless, fixtures, read};

fn compilers() -> Vec<PathBuf> {
    let toolchain = env::var_os("FUTHARK_TOOLCHAIN").unwrap_or_default();
    let launchers = fs::read_dir(Path::new(&toolchain).join("bin"));
    let launchers = launchers.into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = launchers.map(|entry| entry.path()).collect();
    found.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("futhark-"))
    });
    found.sort();
    found
}

fn compile(compiler: &Path, source: &Path) -> Program {
    let name = compiler.file_name().expect("a file name");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("diff")
        .join(name);
    fs::create_dir_all(&folder).expect("a writable folder");
    let target = folder.join(source.file_stem().expect("a file name"));
    let mut command = Command::new(compiler);
    command
        .args(["c", "--library"])
        .arg(source)
        .arg("-o")
        .arg(&target);
    let output = command.output().expect("a compiler that can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", source.display());
    let manifest = target.with_extension("json");
    faultless(&read(&manifest), manifest.display())
}

/// No compiler differs from itself, and from one to another none of these
/// programs breaks for users of a bridge.
#[test]
fn compilers_do_not_break_programs() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let sources = [
        fixtures().join("everything.fut"),
        corpus.join("arrays-of-opaques/abstract.fut"),
        corpus.join("arrays-of-records/rank1.fut"),
        corpus.join("names/fields.fut"),
        corpus.join("sums/payloads.fut"),
    ];
    let compilers = compilers();
    if compilers.is_empty() {
        println!("skipped: no compiler in FUTHARK_TOOLCHAIN");
    }
    for source in sources {
        let programs: Vec<Program> = compilers
            .iter()
            .map(|compiler| compile(compiler, &source))
            .collect();
        for old in &programs {
            assert_eq!(lines(&diff::compare(old, old)), [""; 0]);
            for new in programs.iter().filter(|new| new.version > old.version) {
                let diff = diff::compare(old, new);
                let breaking: Vec<_> = diff.of(Severity::Breaking).collect();
                assert!(breaking.is_empty(), "{}: {diff}", source.display());
            }
        }
    }
}
