//! What newer compilers write, imitated by the stand-in of futhark-safe's tests.

#[path = "../../../futhark-safe/tests/newer/mod.rs"]
mod stand_in;

use super::scene::{PROGRAM, Scene};
use super::{build_dir, command, needs, text};
use std::path::Path;

/// The checks of values. The stand-in changes no server program, and renames a function.
const CHECKS: [&str; 6] = ["blocks", "opaque", "store", "consume", "errors", "leaks"];

#[test]
fn sums_without_a_tag_pass_the_checks_of_values() {
    if needs::compiler_path().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let safe = Path::new(env!("CARGO_MANIFEST_DIR")).join("../futhark-safe/tests/newer");
    // The path is a part of the key of kept builds.
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("futhark-newer");
    stand_in::compiler(&safe, &script);
    let mut command = command(folder.path());
    command.arg("run").arg(safe.join("unary.fut"));
    command
        .args(["--backend", "c,multicore", "--futhark"])
        .arg(&script);
    command.arg("--build-dir").arg(build_dir());
    command.args(CHECKS.iter().flat_map(|check| ["--check", check]));
    let output = command.output().expect("the program starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let skipped = text(&output).contains("skipped, by reason");
    assert!(!skipped, "{}", text(&output));
}

/// A script before the real compiler.
const NEWER: &str = "case $1 in --version) echo 'Futhark 0.99.0.'; exit ;; esac";

#[test]
fn a_compiler_after_the_newest_known_one_gets_a_warning() {
    let Some(scene) = Scene::new() else { return };
    scene.write("a.fut", PROGRAM);
    let (newer, known) = (scene.compiler("newer", NEWER), scene.compiler("known", ""));
    let run = |compiler: &Path| {
        let arguments = ["a.fut", "--futhark", compiler.to_str().expect("UTF-8")];
        text(&scene.run(arguments))
    };
    let warning = "warning: Futhark 0.99.0 is newer than 0.27.1, the newest known version";
    let shown = run(&newer);
    assert_eq!(shown.matches(warning).count(), 1, "{shown}");
    assert!(!run(&known).contains("is newer than"));
}
