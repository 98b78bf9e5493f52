//! The check `bridge`, with a driver around a server program that makes a mistake on request.

use super::needs;
use super::run::{Run, text};
use super::scene::{Scene, assert_has};
use std::fs;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "\
type~ pair = {xs: []i32, n: i64}

def constant : [3]i32 = [1, 2, 3]

entry table (_: i32) : [3]i32 = copy constant
entry same (xs: []i32) : []i32 = xs
entry transposed (xss: [][]i32) : [][]i32 = transpose xss
entry pair (xs: []i32) (n: i64) : pair = {xs, n}

-- ==
-- entry: cleared
-- input { [1, 2, 3] 1i64 } output { [1, 0, 3] }
-- input { [1, 2, 3] 3i64 } error: out of bounds
entry cleared (xs: *[]i32) (i: i64) : *[]i32 = xs with [i] = 0
";

struct Bench {
    scene: Scene,
    server: String,
}

impl Bench {
    fn new() -> Option<Bench> {
        let python = Command::new("python3").arg("--version").output();
        needs::or_skip(python.map_err(|error| format!("no python3: {error}")))?;
        let scene = Scene::new(&[("a.fut", PROGRAM)])?;
        let server = scene.path("server");
        let mut compiler = Command::new(&scene.futhark);
        compiler.args(["c", "--server", "-o"]).arg(&server);
        let made = compiler.arg(scene.path("a.fut")).output();
        let made = made.expect("the compiler starts");
        assert!(made.status.success(), "{}", text(&made));
        let server = server.display().to_string();
        Some(Bench { scene, server })
    }

    /// Runs cases with a driver that makes a mistake.
    fn run(&self, mistake: &str, cases: &str) -> Run {
        let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/driver.py");
        let bridge = format!(
            "python3 -B '{}' '{}' {mistake}",
            driver.display(),
            self.server
        );
        let cases = format!("bridge:{cases}");
        let further = ["--bridge", &bridge, "--check", &cases];
        self.scene.run_with(&further, "a.fut --backend c")
    }

    /// Fails unless the driver that makes a mistake fails in this case, with a message that has these words.
    #[track_caller]
    fn finds(&self, mistake: &str, case: &str, words: &str) {
        let run = self.run(mistake, case);
        run.ends_with(1);
        let (outcome, message) = run.case("bridge", case);
        assert_eq!(outcome, "fail", "{mistake}: {case}: {message}");
        assert_has(message, words);
    }
}

#[test]
fn a_correct_bridge_passes_and_commands_that_it_lacks_are_skipped() {
    needed!(needs::full());
    let bench = needed!(Bench::new());
    let run = bench.run("none", "*");
    run.ends_with(0);
    for case in [
        "call transposed",
        "inputs and outputs",
        "store [][]i32",
        "make pair, record",
        "consume cleared xs, new",
        "consume cleared xs, returned by same",
        "consume cleared xs, made by table",
        "consume cleared xs, taken from field xs of record pair",
        "mistake: free twice",
        "mistake: an argument too many",
        "fail cleared #1",
    ] {
        let (outcome, message) = run.case("bridge", case);
        assert_eq!(outcome, "pass", "{case}: {message}");
    }
    let run = bench.run("lacks-records", "*pair*");
    run.ends_with(0);
    let (outcome, message) = run.case("bridge", "make pair, record");
    assert_eq!(
        (outcome, message),
        ("skip", "the driver has no command `new`")
    );
}

#[test]
fn a_value_that_is_stored_wrongly_is_found() {
    needed!(needs::full());
    let bench = needed!(Bench::new());
    bench.finds(
        "drops-an-element",
        "call same",
        "expected [1]i32, got [0]i32",
    );
    bench.finds(
        "swaps-the-shape",
        "store [][]i32",
        "expected [2][3]i32, got [3][2]i32",
    );
}

#[test]
fn a_lost_error_is_found() {
    needed!(needs::full());
    let bench = needed!(Bench::new());
    bench.finds("loses-errors", "fail cleared #1", "the command succeeded");
}

#[test]
fn a_consumed_variable_that_can_be_used_is_found() {
    needed!(needs::full());
    let bench = needed!(Bench::new());
    let words = "store of a consumed variable: expected a failure";
    bench.finds("uses-consumed", "consume cleared xs, new", words);
}

#[test]
fn a_call_that_changes_another_value_is_found() {
    needed!(needs::full());
    let bench = needed!(Bench::new());
    let words = "a value that may share memory with the argument: [3]i32 at [1]";
    bench.finds("shares-memory", "consume cleared xs, made by table", words);
}

#[test]
fn a_driver_that_ends_is_found() {
    needed!(needs::full());
    let bench = needed!(Bench::new());
    let words = "the process has ended (exit status: 4): out of luck";
    bench.finds("ends-at-failures", "fail cleared #1", words);
}

#[test]
fn the_check_needs_a_driver() {
    let scene = Scene::without_compiler(&[("a.fut", PROGRAM)]);
    let text = scene.ends("run a.fut --check bridge", 2);
    assert_has(&text, "--bridge COMMAND");
}

#[test]
fn the_driver_gets_the_files_of_a_library_and_a_start_that_fails_is_one_failure() {
    needed!(needs::full());
    let bench = needed!(Bench::new());
    let list = bench.scene.script(
        "list",
        "ls \"$(dirname \"$1\")\" > files; echo why >&2; exit 1\n",
    );
    let bridge = list.display().to_string();
    let run = bench
        .scene
        .run_with(&["--bridge", &bridge], "a.fut --backend c");
    run.ends_with(1);
    // Only this check runs, and of it only this case.
    assert_eq!(
        run.texts(["check", "case", "outcome"]),
        [["bridge", "start", "fail"]]
    );
    assert_has(run.case("bridge", "start").1, "exit status: 1): why");
    let files = fs::read_to_string(bench.scene.path("files")).unwrap();
    for file in ["libprog.so", "prog.h", "prog.json", "prog.resolved.json"] {
        assert!(files.lines().any(|line| line == file), "{file} in {files}");
    }
}

#[test]
fn a_driver_that_does_not_answer_takes_one_time_limit() {
    needed!(needs::full());
    let bench = needed!(Bench::new());
    let bridge = ["--bridge", "exec sleep 100 #"];
    let run = bench
        .scene
        .run_with(&bridge, "a.fut --backend c --timeout 5");
    run.ends_with(1);
    assert_eq!(
        run.texts(["check", "case", "cause"]),
        [["bridge", "start", "timeout"]]
    );
}
