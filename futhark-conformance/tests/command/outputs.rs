//! Outputs that cannot be written.

#![cfg(target_os = "linux")]

use super::needs;
use super::run::{kept, text};
use super::scene::{Scene, assert_has};
use std::fs::{File, OpenOptions};
use std::process::Stdio;

/// Commands that print; those after the first three need a compiler, and the last reads a report.
const PRINTING: [&str; 6] = [
    "list a.fut",
    "list --checks",
    "explain blocks",
    "run a.fut --check manifest --json report.jsonl --backend c",
    "devices --backend c",
    "report report.jsonl",
];

const PROGRAM: (&str, &str) = ("a.fut", "entry f = 1i32\n");

fn full() -> File {
    let file = OpenOptions::new().write(true).open("/dev/full");
    file.expect("Linux has it")
}

#[test]
fn a_closed_or_full_output_is_no_panic() {
    let scene = Scene::without_compiler(&[PROGRAM]);
    let count = if needs::compiler().is_some() { 6 } else { 3 };
    let closed = || {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        writer
    };
    for arguments in &PRINTING[..count] {
        let run = |stdout: Stdio, stderr: Stdio| {
            let mut command = scene.command(arguments);
            command.stdout(stdout).stderr(stderr);
            // The default build folder is below it.
            command.env("CARGO_TARGET_DIR", kept());
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
    let scene = needed!(Scene::new(&[PROGRAM]));
    let mut command = scene.compiling("run a.fut --backend c --check manifest --json /dev/full");
    let run = scene.ended(&mut command);
    let shown = run.shown();
    // Whether the first line or a later one did not fit.
    assert!(matches!(run.code(), Some(2 | 3)), "{shown}");
    assert_has(&shown, "/dev/full");
    assert_has(&shown, "No space left");
}
