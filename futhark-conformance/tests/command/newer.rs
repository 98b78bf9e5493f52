//! What newer compilers write, imitated by the stand-in of futhark-safe's tests.

#[path = "../../../futhark-safe/tests/newer/mod.rs"]
mod stand_in;

use super::scene::{PROGRAM, Scene};
use std::path::{Path, PathBuf};

/// The checks of values. The stand-in changes no server program, and renames a function.
const CHECKS: &str = "--backend c,multicore --check blocks --check opaque --check store --check consume \
                      --check errors --check leaks";

#[test]
fn sums_without_a_tag_pass_the_checks_of_values() {
    needed!(crate::needs::full());
    let mut scene = needed!(Scene::new(&[]));
    let safe = Path::new(env!("CARGO_MANIFEST_DIR")).join("../futhark-safe/tests/newer");
    // The path is a part of the key of kept builds.
    scene.futhark = Path::new(env!("CARGO_TARGET_TMPDIR")).join("futhark-newer");
    stand_in::compiler(&safe, &scene.futhark);
    let program = safe.join("unary.fut");
    let shown = scene
        .run(&format!("{} {CHECKS}", program.display()))
        .ends_with(0);
    assert!(!shown.contains("skipped, by reason"), "{shown}");
}

/// A script before the real compiler.
const NEWER: &str = "case $1 in --version) echo 'Futhark 0.99.0.'; exit ;; esac";

#[test]
fn a_compiler_after_the_newest_known_one_gets_a_warning() {
    needed!(crate::needs::full());
    let mut scene = needed!(Scene::new(&[("a.fut", PROGRAM)]));
    let (newer, known) = (scene.compiler("newer", NEWER), scene.compiler("known", ""));
    let mut run = |compiler: PathBuf| {
        scene.futhark = compiler;
        scene.run("a.fut --backend c --check compile").shown()
    };
    let warning = "warning: Futhark 0.99.0 is newer than 0.27.1, the newest known version";
    let shown = run(newer);
    assert_eq!(shown.matches(warning).count(), 1, "{shown}");
    assert!(!run(known).contains("is newer than"));
}
