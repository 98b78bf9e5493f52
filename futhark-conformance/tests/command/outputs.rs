//! Outputs that cannot be written.

#![cfg(target_os = "linux")]

use super::{build_dir, command, needs, text};
use std::fs::{self, File, OpenOptions};
use std::process::Stdio;

/// Commands that print, with their arguments.
fn printing() -> Vec<Vec<&'static str>> {
    let mut all = vec![
        vec!["list", "a.fut"],
        vec!["list", "--checks"],
        vec!["explain", "blocks"],
    ];
    if needs::compiler().is_some() {
        let machine = ["--backend", "c"];
        for (command, options) in [
            (
                "run",
                &["a.fut", "--check", "manifest", "--json", "report.jsonl"][..],
            ),
            ("devices", &[]),
        ] {
            all.push([&[command], options, &machine].concat());
        }
        // After `run`, whose report it reads.
        all.push(vec!["report", "report.jsonl"]);
    }
    all
}

fn full() -> File {
    let file = OpenOptions::new().write(true).open("/dev/full");
    file.expect("Linux has it")
}

#[test]
fn a_closed_or_full_output_is_no_panic() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    fs::write(folder.path().join("a.fut"), "entry f = 1i32\n").expect("it can be written");
    let closed = || {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        writer
    };
    for arguments in printing() {
        let run = |stdout: Stdio, stderr: Stdio| {
            let mut command = command(folder.path());
            command.args(&arguments).stdout(stdout).stderr(stderr);
            // The default build folder is below it.
            command.env("CARGO_TARGET_DIR", build_dir());
            let child = command.spawn().expect("the program starts");
            let output = child.wait_with_output().expect("it was started");
            (output.status.code(), text(&output))
        };
        let (code, shown) = run(closed().into(), Stdio::piped());
        assert_eq!(code, Some(0), "{arguments:?}: {shown}");
        assert!(!shown.contains("error"), "{arguments:?}: {shown}");
        let (code, shown) = run(full().into(), Stdio::piped());
        assert_eq!(code, Some(3), "{arguments:?}: {shown}");
        assert!(shown.contains("No space left"), "{arguments:?}: {shown}");
        for stderr in [closed().into(), full().into()] {
            let (code, shown) = run(Stdio::piped(), stderr);
            assert_eq!(code, Some(0), "{arguments:?}: {shown}");
            assert!(!shown.is_empty(), "{arguments:?}");
        }
    }
}

#[test]
fn a_report_on_a_full_disk_is_an_error() {
    if needs::compiler().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    fs::write(folder.path().join("a.fut"), "entry f = 1i32\n").expect("it can be written");
    let mut command = command(folder.path());
    command.args(["run", "a.fut", "--backend", "c", "--check", "manifest"]);
    command.args(["--json", "/dev/full"]);
    command.arg("--build-dir").arg(build_dir());
    let output = command.output().expect("the program starts");
    let shown = text(&output);
    // Whether the first line or a later one did not fit.
    assert!(matches!(output.status.code(), Some(2 | 3)), "{shown}");
    assert!(
        shown.contains("/dev/full") && shown.contains("No space left"),
        "{shown}"
    );
}
