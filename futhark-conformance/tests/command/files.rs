//! Programs that are no files, and files that cannot be read or written.

use super::run::kept;
use super::scene::{PROGRAM, Scene, assert_has};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The output of `list`, with an exit code.
fn list(scene: &Scene, paths: &str, code: i32) -> String {
    scene.ends(&format!("list {paths}"), code)
}

/// Compiles on backend c.
const COMPILE: &str = "--all --backend c --check compile";

#[test]
fn a_fifo_is_not_opened() {
    let scene = Scene::without_compiler(&[("a.fut", PROGRAM)]);
    let made = Command::new("mkfifo").arg(scene.path("pipe.fut")).status();
    assert!(made.expect("mkfifo starts").success());
    let shown = list(&scene, "pipe.fut", 2);
    assert_has(&shown, "use pipe.fut: not a regular file");
    let expected = "a.fut: 0 test cases\npipe.fut: skipped: not a regular file\n";
    assert_eq!(list(&scene, ".", 0), expected);
    let mut run = scene.command("run a.fut --build-dir builds --futhark ./pipe.fut");
    let shown = scene.ended(&mut run).ends_with(2);
    assert_has(&shown, "pipe.fut as a Futhark compiler");
}

/// The folder's path is too long, which is an error for every user, root included.
#[test]
fn a_folder_that_cannot_be_read_fails_the_run_and_the_rest_is_checked() {
    let scene = needed!(Scene::new(&[("a.fut", PROGRAM)]));
    let mut deep = fs::File::open(scene.path(".")).unwrap();
    for _ in 0..25 {
        use rustix::fs::{Mode, OFlags, mkdirat, openat};
        let name = "d".repeat(200);
        mkdirat(&deep, &name, Mode::RWXU).unwrap();
        deep = openat(&deep, &name, OFlags::RDONLY, Mode::empty())
            .unwrap()
            .into();
    }
    let run = scene.run(&format!(". {COMPILE}"));
    run.ends_with(1);
    let records = run.texts(["outcome", "cause", "backend"]);
    assert_eq!(records, [["fail", "error", "-"], ["pass", "", "c"]]);
}

#[test]
fn a_run_that_is_killed_keeps_earlier_reports_and_its_own_results() {
    let mut scene = needed!(Scene::new(&[("a.fut", PROGRAM), ("b.fut", PROGRAM)]));
    for name in ["report.jsonl", "junit.xml", "page.html"] {
        scene.write(name, "of an earlier run");
    }
    let slow = scene.compiler("futhark", "case \"$1 $3\" in 'c '*b.fut) sleep 5 ;; esac");
    let real = std::mem::replace(&mut scene.futhark, slow);
    let options = "run . --jobs 1 --json report.jsonl --junit junit.xml --html page.html";
    let mut command = scene.compiling(&format!("{options} {COMPILE}"));
    let results = scene.path("report.jsonl");
    let temporary = scene.path("temporary");
    fs::create_dir(&temporary).unwrap();
    command.env("TMPDIR", &temporary);
    let mut run = command
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let has_a_record = || fs::read_to_string(&results).is_ok_and(|text| text.contains("a.fut"));
    for _ in 0..1200 {
        if has_a_record() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(has_a_record());
    let folders = || {
        let entries = fs::read_dir(&temporary).unwrap();
        entries
            .map(|entry| entry.unwrap().path())
            .collect::<Vec<_>>()
    };
    let left = folders();
    assert_eq!(left.len(), 1, "{left:?}");
    for name in ["junit.xml", "page.html"] {
        let text = fs::read_to_string(scene.path(name)).unwrap();
        assert_eq!(text, "of an earlier run", "{name}");
    }

    let shown = scene.ends("report report.jsonl --json again", 3);
    assert_has(&shown, "1 check: 1 passed");
    assert_has(&shown, "missing: the end of report.jsonl");

    // A merged report of an incomplete run is incomplete, too.
    scene.ends("report again", 3);

    // The next run replaces the results, and removes the temporary files of the killed one when they
    // are old.
    let touched = Command::new("touch")
        .args(["-d", "2 days ago"])
        .arg(&left[0])
        .status();
    assert!(touched.unwrap().success());
    scene.futhark = real;
    let mut again = scene.compiling(&format!("run a.fut --json report.jsonl {COMPILE}"));
    scene.ended(again.env("TMPDIR", &temporary)).ends_with(0);
    let again = scene.read("report.jsonl");
    assert!(again.ends_with("{\"records\":1}\n"), "{again}");
    assert_eq!(folders(), [""; 0].map(PathBuf::from));
}

#[test]
fn options_that_cannot_be_used_are_refused() {
    let scene = Scene::without_compiler(&[("a.fut", PROGRAM)]);
    for (options, words) in [
        (
            "--architectures nonsense",
            "expected an architecture such as sm_90",
        ),
        (
            "--input nowhere.json",
            "failed to read --input nowhere.json",
        ),
        ("--input .", "failed to read --input .: not a regular file"),
        ("--build-dir a.fut", "--build-dir a.fut is not a folder"),
    ] {
        let mut command = scene.command(&format!("run a.fut {options}"));
        let shown = scene.ended(&mut command).ends_with(2);
        assert!(shown.contains(words), "{options}: {shown}");
    }
    use std::os::unix::ffi::OsStrExt as _;
    let mut command = scene.command("run a.fut --build-dir");
    let folder = std::ffi::OsStr::from_bytes(b"builds\xff");
    let shown = scene.ended(command.arg(folder)).ends_with(2);
    assert_has(&shown, "--build-dir builds\u{fffd} is not UTF-8");
}

/// Each is said once, not for each program and backend.
#[test]
fn a_machine_that_cannot_compile_ends_the_run() {
    let scene = needed!(Scene::new(&[("a.fut", PROGRAM), ("b.fut", PROGRAM)]));
    let run = |change: &dyn Fn(&mut Command)| {
        let mut command = scene.command("run . --backend c,multicore --json report.jsonl");
        command.arg("--futhark").arg(&scene.futhark);
        change(&mut command);
        let shown = scene.ended(&mut command).ends_with(3);
        assert!(!scene.path("report.jsonl").exists());
        shown
    };
    let build_dir = kept();
    let no_compiler = run(&|command| {
        command
            .arg("--build-dir")
            .arg(&build_dir)
            .env("CC", "/nonexistent/cc");
    });
    let below_a_file = run(&|command| {
        command.arg("--build-dir").arg(scene.path("a.fut/builds"));
    });
    let cannot = "this machine cannot compile programs: ";
    for (shown, words) in [
        (&no_compiler, "/nonexistent/cc"),
        (&below_a_file, "a.fut/builds"),
    ] {
        assert_eq!(shown.matches(cannot).count(), 1, "{shown}");
        assert_has(shown, words);
    }
    let homeless = run(&|command| {
        for name in ["HOME", "XDG_CACHE_HOME", "CARGO_TARGET_DIR"] {
            command.env_remove(name);
        }
        let temporary = scene.path("temporary");
        fs::create_dir_all(&temporary).unwrap();
        command.env("TMPDIR", temporary);
    });
    assert!(
        homeless.contains("choose one with --build-dir"),
        "{homeless}"
    );
    let left = fs::read_dir(scene.path("temporary")).unwrap().count();
    assert_eq!(left, 0, "no folder for everyone");
}

#[test]
fn a_second_run_needs_not_write_to_the_build_folder() {
    let scene = needed!(Scene::new(&[("a.fut", PROGRAM)]));
    let builds = scene.path("builds");
    let run = || {
        let arguments = "run a.fut --backend c --check compile --check blocks --build-dir builds";
        let mut command = scene.command(arguments);
        scene.ended(command.arg("--futhark").arg(&scene.futhark))
    };
    let mode = |mode: &str| {
        let changed = Command::new("chmod")
            .args(["-R", mode])
            .arg(&builds)
            .status();
        assert!(changed.unwrap().success());
    };
    // Without the files that only avoid work at the same time.
    let files = || {
        let entries = walkdir::WalkDir::new(&builds)
            .sort_by_file_name()
            .into_iter();
        let entries = entries.map(|entry| entry.unwrap()).filter(|entry| {
            !entry.path().starts_with(builds.join("turns")) && entry.file_type().is_file()
        });
        let time = |entry: &walkdir::DirEntry| entry.metadata().unwrap().modified().unwrap();
        let entries = entries.map(|entry| (time(&entry), entry.into_path()));
        entries.collect::<Vec<_>>()
    };
    run().ends_with(0);
    let before = files();
    assert!(before.iter().any(|(_, path)| path.ends_with("probe.fut")));
    // Root can write in any case, so the files are compared, too.
    mode("a-w");
    let second = run();
    mode("u+w");
    second.ends_with(0);
    assert_eq!(files(), before);
}

#[test]
fn a_pipe_gets_the_results_of_a_run() {
    let scene = needed!(Scene::new(&[("a.fut", PROGRAM)]));
    let mut command = scene.compiling(&format!("run a.fut --json /dev/stdout {COMPILE}"));
    let run = scene.ended(&mut command);
    let shown = run.ends_with(0);
    let lines = String::from_utf8_lossy(&run.output.stdout);
    let lines: Vec<&str> = lines.lines().filter(|line| line.starts_with('{')).collect();
    assert!(
        lines.len() >= 3 && lines[0].starts_with("{\"schema\":"),
        "{shown}"
    );
    let end = format!("{{\"records\":{}}}", lines.len() - 2);
    assert_eq!(lines.last(), Some(&end.as_str()), "{shown}");
}

/// Threads of the check `lifecycle` read arguments again, for which the Futhark compiler generates
/// values.
#[test]
fn nothing_is_written_to_the_working_directory() {
    let program = "-- ==\n-- entry: size\n-- random input { [10]i32 } output { 10i64 }\n\
                   entry size [n] (_: [n]i32): i64 = n\n";
    let scene = needed!(Scene::new(&[("random.fut", program)]));
    let here = scene.path("here");
    fs::create_dir(&here).unwrap();
    let mut command =
        scene.command("run ../random.fut --backend c --check lifecycle --build-dir ../builds");
    command
        .current_dir(&here)
        .arg("--futhark")
        .arg(&scene.futhark);
    let shown = scene.ended(&mut command).ends_with(0);
    let written: Vec<_> = fs::read_dir(&here).unwrap().collect();
    assert!(written.is_empty(), "{written:?}\n{shown}");
}
