//! What newer compilers write, imitated by the stand-in of futhark-safe's tests.

#[path = "../../../futhark-safe/tests/newer/mod.rs"]
mod stand_in;

use super::{build_dir, command, needs, text};
use std::path::Path;

/// The checks of values. The stand-in changes no server program, and renames a function.
const CHECKS: [&str; 7] = [
    "blocks", "opaque", "store", "algebra", "consume", "errors", "leaks",
];

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
