//! Programs that are no files, and files that cannot be read or written.

use super::scene::{PROGRAM, Scene};
use super::{build_dir, command, text};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The output of `list` in the folder, and its exit code.
fn list(folder: &std::path::Path, paths: &[&str]) -> (Option<i32>, String) {
    let output = command(folder)
        .arg("list")
        .args(paths)
        .output()
        .expect("the program starts");
    (output.status.code(), text(&output))
}

#[test]
fn a_fifo_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("mkfifo")
        .arg(folder.path().join("pipe.fut"))
        .status();
    assert!(made.expect("mkfifo starts").success());
    fs::write(folder.path().join("a.fut"), PROGRAM).unwrap();
    let (code, shown) = list(folder.path(), &["pipe.fut"]);
    assert_eq!(code, Some(2), "{shown}");
    assert!(
        shown.contains("use pipe.fut: not a regular file"),
        "{shown}"
    );
    let (code, shown) = list(folder.path(), &["."]);
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(
        shown,
        "a.fut: 0 test cases\npipe.fut: skipped: not a regular file\n"
    );
}

#[test]
fn a_program_that_several_paths_name_runs_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("programs/sums")).unwrap();
    fs::write(at("programs/sums/a.fut"), PROGRAM).unwrap();
    symlink("programs", at("again")).unwrap();
    symlink("..", at("programs/loop")).unwrap();
    let paths = [
        "programs",
        "programs/sums",
        "again",
        "again/sums/a.fut",
        "./programs/loop",
    ];
    let (code, shown) = list(folder.path(), &paths);
    assert_eq!(
        (code, shown.as_str()),
        (Some(0), "programs/sums/a.fut: 0 test cases\n")
    );
}

/// The folder's path is too long, which is an error for every user, root included.
#[test]
fn a_folder_that_cannot_be_read_fails_the_run_and_the_rest_is_checked() {
    let Some(scene) = Scene::new() else { return };
    scene.write("a.fut", PROGRAM);
    let mut deep = fs::File::open(scene.path(".")).unwrap();
    for _ in 0..25 {
        use rustix::fs::{Mode, OFlags, mkdirat, openat};
        let name = "d".repeat(200);
        mkdirat(&deep, &name, Mode::RWXU).unwrap();
        deep = openat(&deep, &name, OFlags::RDONLY, Mode::empty())
            .unwrap()
            .into();
    }
    let output = scene.run([
        OsStr::new("."),
        OsStr::new("--futhark"),
        scene.real().as_os_str(),
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let records = scene.records(["outcome", "cause", "backend"]);
    assert_eq!(records, [["fail", "error", "-"], ["pass", "", "c"]]);
}

#[test]
fn a_run_that_is_killed_keeps_earlier_reports_and_its_own_results() {
    let Some(scene) = Scene::new() else { return };
    scene.write("a.fut", PROGRAM);
    scene.write("b.fut", PROGRAM);
    for name in ["report.jsonl", "junit.xml", "page.html"] {
        scene.write(name, "of an earlier run");
    }
    let slow = scene.compiler("futhark", "case \"$1 $3\" in 'c '*b.fut) sleep 5 ;; esac");
    let mut command = scene.command("run");
    command.args([".", "--backend", "c", "--check", "compile", "--jobs", "1"]);
    command.args([
        "--json",
        "report.jsonl",
        "--junit",
        "junit.xml",
        "--html",
        "page.html",
    ]);
    command
        .arg("--build-dir")
        .arg(build_dir())
        .arg("--futhark")
        .arg(&slow);
    let part = scene.path("report.jsonl.part");
    let mut run = command
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let has_a_record = || fs::read_to_string(&part).is_ok_and(|text| text.contains("a.fut"));
    for _ in 0..1200 {
        if has_a_record() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(has_a_record());
    for name in ["report.jsonl", "junit.xml", "page.html"] {
        let text = fs::read_to_string(scene.path(name)).unwrap();
        assert_eq!(text, "of an earlier run", "{name}");
    }

    // Without an earlier one, the name of the report names what there is.
    fs::remove_file(scene.path("report.jsonl")).unwrap();
    let report = scene
        .command("report")
        .arg("report.jsonl")
        .output()
        .unwrap();
    let shown = text(&report);
    assert_eq!(report.status.code(), Some(3), "{shown}");
    assert!(shown.contains("1 checks: 1 passed"), "{shown}");
    assert!(
        shown.contains("missing: the end of report.jsonl"),
        "{shown}"
    );
    let again = scene.run([
        OsStr::new("a.fut"),
        OsStr::new("--futhark"),
        scene.real().as_os_str(),
    ]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again));
    assert!(text(&again).contains("report.jsonl.part of an interrupted run is replaced"));
    assert!(!part.exists());
}
