//! Two compilers that report one version.

use super::scene::{PROGRAM, Scene};
use super::{repeat_command, text};
use serde_json::Value;
use std::ffi::OsStr;
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

/// The version, label and hash of each compiler in the report.
fn compilers(scene: &Scene) -> Vec<[String; 3]> {
    let header = scene.lines().swap_remove(0);
    let compilers = header["compilers"].as_array().expect("a list").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    compilers
        .map(|one| ["version", "label", "hash"].map(|key| text(&one[key])))
        .collect()
}

#[test]
fn a_patched_compiler_has_a_column_findings_and_commands_of_its_own() {
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
    assert_eq!(output.status.code(), Some(1), "{shown}");
    let found = compilers(&scene);
    let [[version, old, old_hash], [same, new, new_hash]] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(version, same);
    for (label, hash) in [(old, old_hash), (new, new_hash)] {
        assert_eq!(label, &format!("{version}-{}", &hash[..6]));
    }
    let mut records = scene.records(["program", "compiler", "outcome"]);
    records.sort();
    let mut expected = [
        ["a.fut", old, "pass"],
        ["a.fut", new, "fail"],
        ["b.fut", old, "pass"],
        ["b.fut", new, "pass"],
    ];
    expected.sort();
    assert_eq!(records, expected, "{shown}");
    for words in [
        format!("FAIL (error) a.fut [c, cpu, {new}] compile"),
        format!("{new} is {}", patched.display()),
        format!("Futhark {old} -> Futhark {new}: 1 broken, "),
    ] {
        assert!(shown.contains(&words), "no {words:?} in\n{shown}");
    }
    let repeat = format!(
        "futhark-conformance run a.fut --backend c --futhark {} ",
        patched.display()
    );
    assert!(repeat_command(&shown).starts_with(&repeat), "{shown}");

    // The labels are the same in every order, and an entry about the version is about both.
    let entry = format!(
        "[[expect]]\nprogram = \"a.fut\"\ncheck = \"compile\"\ncompiler = \"{version}\"\nreason = \"known\"\nsometimes = true\n"
    );
    scene.write("expectations.toml", &entry);
    let output = run(&scene, &[&patched, &released]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let expected = ["a.fut", new, "expected-fail"].map(str::to_owned);
    let records = scene.records(["program", "compiler", "outcome"]);
    assert!(records.contains(&expected), "{records:?}");
    // Alone, a compiler has its version as label.
    let output = run(&scene, &[&patched]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(
        compilers(&scene)[0][..2],
        [version.clone(), version.clone()]
    );
}

#[test]
fn a_compiler_that_is_named_twice_is_one() {
    let Some(scene) = Scene::new() else { return };
    scene.write("a.fut", PROGRAM);
    let compiler = scene.compiler("futhark", "");
    let (link, copy) = (scene.path("link"), scene.compiler("copy", ""));
    symlink(&compiler, &link).unwrap();
    let output = run(&scene, &[&compiler, &link, &copy]);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert_eq!(compilers(&scene).len(), 1, "{shown}");
    assert_eq!(
        shown.matches("is the same compiler as").count(),
        1,
        "the copy: {shown}"
    );
}
