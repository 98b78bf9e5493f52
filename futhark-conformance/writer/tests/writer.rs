//! Programs are valid, and a planted bug of a compiler is found, reduced and classified.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

fn writer(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_futhark-writer"))
        .args(arguments)
        .output()
        .unwrap()
}

fn compiler(version: &str) -> String {
    let toolchain = std::env::var("FUTHARK_TOOLCHAIN").expect("source .toolchain/env.sh first");
    format!("{toolchain}/bin/futhark-{version}")
}

#[test]
fn programs_are_the_same_each_time_and_both_compilers_accept_them() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 1..=8 {
        let arguments = ["--print", "--seed", &seed.to_string()];
        let program = writer(&arguments).stdout;
        assert_eq!(program, writer(&arguments).stdout);
        let path = folder.path().join(format!("s{seed}.fut"));
        fs::write(&path, program).unwrap();
        for version in ["0.25.27", "0.25.32"] {
            let output = Command::new(compiler(version))
                .args(["check", "-w"])
                .arg(&path)
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "seed {seed}: {}",
                String::from_utf8_lossy(&output.stdout)
            );
        }
    }
}

/// A compiler whose backend multicore writes to the wrong element.
fn faulty(folder: &Path) -> String {
    // The arguments are BACKEND --library SOURCE -o BASE.
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" != multicore ]; then exec {real} \"$@\"; fi\n\
         sed 's/with \\[i % n\\] = x/with [(i + 1) % n] = x/' \"$3\" > {folder}/changed$$.fut\n\
         exec {real} \"$1\" \"$2\" {folder}/changed$$.fut -o \"$5\"\n",
        real = compiler("0.25.32"),
        folder = folder.display()
    );
    let path = folder.join("futhark");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn a_planted_bug_is_reduced_and_classified() {
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("into").display().to_string();
    let faulty = faulty(folder.path());
    let arguments = [
        "--seed",
        "8",
        "--count",
        "1",
        "--backend",
        "c,multicore",
        "--compiler",
        &faulty,
        "--into",
        &into,
    ];
    let output = writer(&arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let found: Vec<_> = fs::read_dir(Path::new(&into).join("found"))
        .unwrap()
        .collect();
    for finding in found {
        let folder = finding.unwrap().path();
        let report = fs::read_to_string(folder.join("report.md")).unwrap();
        assert!(report.starts_with("# Wrong, class Compiler"), "{report}");
        let program = fs::read_to_string(folder.join("minimal.fut")).unwrap();
        let seed = folder
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .split('-')
            .next()
            .unwrap();
        let whole = writer(&["--print", "--seed", seed]).stdout;
        assert!(
            program.contains("def put ") && program.len() < whole.len() / 4,
            "{program}"
        );
    }
}
