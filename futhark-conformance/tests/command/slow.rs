//! Programs whose calls are slow: checks make fewer calls, and nothing fails.

use super::{build_dir, command, needs, text};
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The work grows with the square and the cube of the size of an array.
const SORTS: &str = "
entry bubble [n] (xs: [n]i32) : [n]i32 =
  (loop (xs, swapped) = (copy xs, true) while swapped do
     loop (xs, swapped) = (xs, false) for j < n - 1 do
       if xs[j] > xs[j + 1]
       then (let (a, b) = (xs[j], xs[j + 1]) in (xs with [j] = b with [j + 1] = a, true))
       else (xs, swapped)).0

entry quartic [n] (xs: [n]f64) : [n]f64 =
  loop xs = copy xs for _m < n do loop xs for _k < n do
    loop xs for _i < n do
      loop xs for j < n - 1 do
        if xs[j] > xs[j + 1]
        then (let (a, b) = (xs[j], xs[j + 1]) in xs with [j] = b with [j + 1] = a)
        else xs
";

/// The work grows exponentially with an argument, with the size of an array, and linearly with an
/// argument, which is large in the test block.
const LOOPS: &str = "
-- ==
-- entry: count
-- input { 100000000i64 }

entry count (n: i64) : i64 =
  loop acc = 0 for i < n do acc ^ (acc * 31 + i)

entry exponential (n: i64) : i64 = count (if n < 0 then 0 else 1 << i64.min n 62)

entry exponential_size [n] (xs: [n]bool) : i64 =
  exponential (n + i64.bool (or xs))
";

/// The loop ends for no argument that a check would choose.
const ENDLESS: &str = "
entry endless (n: i64) : i64 =
  (loop (k, acc) = (n, 0) while k != 12345 do (k, acc ^ (acc * 31 + k))).1
";

struct Bench {
    folder: TempDir,
    compiler: PathBuf,
}

/// The records of a run, what it printed, and its duration.
struct Run {
    records: Vec<Value>,
    shown: String,
    time: Duration,
}

impl Bench {
    fn new(program: &str) -> Option<Bench> {
        let compiler = needs::compiler_path()?;
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        std::fs::write(folder.path().join("slow.fut"), program).expect("the folder is writable");
        Some(Bench { folder, compiler })
    }

    /// Runs the program, after another run has compiled it.
    fn run(&self, arguments: &[&str]) -> Run {
        self.run_once(&["--check", "compile"]);
        self.run_once(arguments)
    }

    fn run_once(&self, arguments: &[&str]) -> Run {
        let report = self.folder.path().join("report.jsonl");
        let mut command = command(self.folder.path());
        command.args(["run", "slow.fut", "--backend", "c"]);
        command.arg("--futhark").arg(&self.compiler);
        command.arg("--json").arg(&report);
        command.arg("--build-dir").arg(build_dir()).args(arguments);
        let begun = Instant::now();
        let output = command.output().expect("the program starts");
        let time = begun.elapsed();
        let report = std::fs::read_to_string(report).unwrap_or_default();
        let lines = report.lines().map(serde_json::from_str::<Value>);
        let records = lines.collect::<Result<Vec<_>, _>>();
        let mut records = records.expect("each line is JSON");
        records.retain(|record| record.get("check").is_some());
        let shown = text(&output);
        assert!(output.status.success(), "{shown}");
        Run {
            records,
            shown,
            time,
        }
    }
}

impl Run {
    /// The message of a case and its outcome.
    fn case(&self, check: &str, case: &str) -> (&str, &str) {
        let found = self
            .records
            .iter()
            .find(|record| record["check"] == check && record["case"] == case);
        let found = found.unwrap_or_else(|| panic!("no {check} {case} in {}", self.shown));
        let text = |key: &str| found[key].as_str().unwrap_or_default();
        (text("outcome"), text("message"))
    }
}

#[test]
fn inputs_stay_small_if_the_work_grows_fast_with_them() {
    let Some(bench) = Bench::new(SORTS) else {
        return;
    };
    let run = bench.run(&[]);
    assert_eq!(run.case("server", "bubble").0, "pass");
    let (outcome, message) = run.case("server", "quartic");
    assert_eq!(outcome, "pass");
    assert!(
        message.contains("of 16 inputs: calls take up to"),
        "{message}"
    );
    assert!(run.time < Duration::from_secs(60), "{:?}", run.time);
}

#[test]
fn slow_arguments_of_test_blocks_are_not_repeated_by_other_checks() {
    let Some(bench) = Bench::new(LOOPS) else {
        return;
    };
    let run = bench.run(&[]);
    assert_eq!(run.case("blocks", "count #0").0, "pass");
    for case in ["calls of count", "calls of exponential"] {
        assert_eq!(run.case("leaks", case).0, "pass", "{}", run.shown);
    }
    assert_eq!(run.case("server", "exponential").0, "pass");
    let (outcome, message) = run.case("server", "exponential_size");
    assert_eq!(outcome, "pass", "{message}");
    assert!(message.contains("of 16 inputs"), "{message}");
    assert!(run.time < Duration::from_secs(60), "{:?}", run.time);
}

#[test]
fn an_entry_point_that_does_not_end_is_too_slow_and_not_a_failure() {
    let Some(bench) = Bench::new(ENDLESS) else {
        return;
    };
    let run = bench.run(&["--check", "lifecycle", "--check", "leaks", "--timeout", "3"]);
    let (outcome, message) = run.case("leaks", "calls of endless");
    assert_eq!(outcome, "skip");
    assert!(message.starts_with("too slow for this check"), "{message}");
    assert_eq!(run.case("lifecycle", "many in a row").0, "pass");
    assert!(run.time < Duration::from_secs(30), "{:?}", run.time);
}
