//! Two compilers that report one version.

use super::scene::{PROGRAM, Scene};
use super::text;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Rejects `a.fut`.
const PATCHED: &str = "case \"$1 $3\" in 'c '*a.fut) echo 'a bug of the patch' >&2; exit 2 ;; esac";

fn run(scene: &Scene, compilers: &[&Path]) -> std::process::Output {
    let named = compilers
        .iter()
        .flat_map(|path| [OsStr::new("--futhark"), path.as_os_str()]);
    scene.run([OsStr::new(".")].into_iter().chain(named))
}

#[test]
fn two_compilers_of_one_version_are_compared_by_two_runs() {
    let Some(scene) = Scene::new() else { return };
    for name in ["a.fut", "b.fut"] {
        scene.write(name, PROGRAM);
    }
    let (released, patched) = (
        scene.compiler("released", ""),
        scene.compiler("patched", PATCHED),
    );
    let output = run(&scene, &[&released, &patched]);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(2), "{shown}");
    assert!(shown.contains("are both Futhark"), "{shown}");

    for (compiler, code) in [(&released, 0), (&patched, 1)] {
        let output = run(&scene, &[compiler]);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output));
        let name = compiler.with_extension("jsonl");
        fs::rename(scene.path("report.jsonl"), name).unwrap();
    }
    let mut diff = scene.command("diff");
    let output = diff.args(["released.jsonl", "patched.jsonl"]).output();
    let output = output.expect("the program starts");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(
        shown.contains("1 broken,") && shown.contains("a.fut on c"),
        "{shown}"
    );
}

#[test]
fn a_compiler_that_is_named_twice_is_one() {
    let Some(scene) = Scene::new() else { return };
    scene.write("a.fut", PROGRAM);
    let compiler = scene.compiler("futhark", "");
    let link = scene.path("link");
    symlink(&compiler, &link).unwrap();
    let output = run(&scene, &[&compiler, &link]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let header = scene.lines().swap_remove(0);
    assert_eq!(header["compilers"].as_array().map(Vec::len), Some(1));
}
