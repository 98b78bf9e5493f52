//! Two compilers that report one version.

use super::run::kept;
use super::scene::{PROGRAM, Run, Scene, assert_has};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Rejects `a.fut`.
const PATCHED: &str = "case \"$1 $3\" in 'c '*a.fut) echo 'a bug of the patch' >&2; exit 2 ;; esac";

fn run(scene: &Scene, compilers: &[&Path]) -> Run {
    let mut command = scene.command("run . --all --backend c --check compile --json report.jsonl");
    command.arg("--build-dir").arg(kept());
    for path in compilers {
        command.arg("--futhark").arg(path);
    }
    scene.ended(&mut command)
}

#[test]
fn two_compilers_of_one_version_are_compared_by_two_runs() {
    needed!(crate::needs::full());
    let scene = needed!(Scene::new(&[("a.fut", PROGRAM), ("b.fut", PROGRAM)]));
    let (released, patched) = (
        scene.compiler("released", ""),
        scene.compiler("patched", PATCHED),
    );
    let shown = run(&scene, &[&released, &patched]).ends_with(2);
    assert_has(&shown, "are both Futhark");

    for (compiler, code) in [(&released, 0), (&patched, 1)] {
        run(&scene, &[compiler]).ends_with(code);
        let name = compiler.with_extension("jsonl");
        fs::rename(scene.path("report.jsonl"), name).unwrap();
    }
    let mut diff = scene.command("diff released.jsonl patched.jsonl");
    let shown = scene.ended(&mut diff).ends_with(1);
    assert_has(&shown, "1 broken,");
    assert_has(&shown, "a.fut on c");
}

#[test]
fn a_compiler_that_is_named_twice_is_one() {
    let scene = needed!(Scene::new(&[("a.fut", PROGRAM)]));
    let compiler = scene.compiler("futhark", "");
    let link = scene.path("link");
    symlink(&compiler, &link).unwrap();
    let run = run(&scene, &[&compiler, &link]);
    run.ends_with(0);
    assert_eq!(run.lines[0]["compilers"].as_array().map(Vec::len), Some(1));
}
