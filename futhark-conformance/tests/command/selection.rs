//! Which jobs run: the quick run, budgets, excluded programs, parts, and interrupted runs.

use super::{build_dir, command, list_constructs, needs, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const GOOD: &str = "-- ==\n-- input { 1 } output { 2 }\nentry main (x: i32) = x + 1\n";
const WRONG: &str = "-- ==\n-- input { 1 } output { 3 }\nentry main (x: i32) = x + 1\n";

/// A folder of programs, and a compiler.
struct Corpus {
    folder: tempfile::TempDir,
    compiler: PathBuf,
}

impl Corpus {
    fn new(files: &[(&str, &str)]) -> Option<Corpus> {
        let compiler = needs::compiler_path()?;
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Some(Corpus { folder, compiler })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs on backend c with the check `blocks`, and writes a report. Times are kept in a file of the
    /// corpus.
    fn command(&self, subcommand: &str, arguments: &[&str]) -> Command {
        let mut command = command(self.folder.path());
        command.args([subcommand, "--backend", "c", "--json", "report.jsonl"]);
        command.args(["--check", "blocks", "--futhark"]);
        command.arg(&self.compiler).arg("--build-dir");
        command.arg(build_dir()).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command("run", arguments).output().unwrap()
    }

    /// The programs of the report, in the order of their records.
    fn ran(&self) -> Vec<String> {
        let mut programs: Vec<String> = Vec::new();
        for record in records(&self.path("report.jsonl")) {
            let program = record["program"].as_str().unwrap().to_owned();
            if programs.last() != Some(&program) {
                programs.push(program);
            }
        }
        programs
    }

    /// Writes the results of an earlier run of these seconds to `last.jsonl`.
    fn write_last(&self, seconds: &[(&str, f64)]) {
        assert_eq!(self.run(&["a.fut"]).status.code(), Some(0));
        let report = self.read("report.jsonl");
        let header = report.lines().next().unwrap();
        let compilers: Value = serde_json::from_str(header).unwrap();
        let line = |(program, seconds): &(&str, f64)| {
            let line = json!({
                "program": program, "backend": "c", "device": "cpu",
                "compiler": compilers["compilers"][0]["version"], "check": "blocks", "case": "main #0",
                "outcome": "pass", "cause": null, "message": "", "seconds": seconds,
            });
            format!("{line}\n")
        };
        let lines: String = seconds.iter().map(line).collect();
        let end = format!("{{\"records\":{}}}\n", seconds.len());
        self.write("last.jsonl", &format!("{header}\n{lines}{end}"));
    }
}

/// The records of a report.
fn records(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("{\"program\""));
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The records of a report without their times, in an order that does not depend on the run's.
fn results(file: &Path) -> BTreeSet<String> {
    let of = |mut record: Value| {
        record["seconds"].take();
        record.to_string()
    };
    records(file).into_iter().map(of).collect()
}

#[test]
fn a_run_over_a_folder_checks_a_part_that_has_every_construct() {
    let other = format!("{GOOD}entry rows (xs: [][]f32) = map (map (+ 1)) xs\n");
    let files = [
        ("a.fut", GOOD),
        ("b.fut", GOOD),
        ("sub/c.fut", other.as_str()),
    ];
    let Some(corpus) = Corpus::new(&files) else {
        return;
    };
    let ran = |arguments: &[&str]| {
        let output = corpus.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        (
            corpus.ran().into_iter().collect::<BTreeSet<_>>(),
            text(&output),
        )
    };
    let programs = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<BTreeSet<_>>()
    };
    let all = programs(&["a.fut", "b.fut", "sub/c.fut"]);
    assert_eq!(ran(&["."]).0, all, "without a list of constructs");

    let case: &[&str] = &["a case"];
    let listed = [
        ("a.fut", case),
        ("b.fut", case),
        ("sub/c.fut", &["a case", "an operator"]),
    ];
    list_constructs(corpus.folder.path(), &listed);
    let (chosen, said) = ran(&["."]);
    assert_eq!(chosen, programs(&["sub/c.fut"]), "{said}");
    assert!(said.contains("quick run: 1 of 3 jobs cover"), "{said}");
    assert!(said.contains("--all runs all): 2 jobs, about"), "{said}");

    let named = programs(&["b.fut", "sub/c.fut"]);
    assert_eq!(ran(&[".", "b.fut"]).0, named, "a named program is checked");
    assert_eq!(ran(&[".", "--all"]).0, all);
    // The list counts below its folder.
    let (chosen, said) = ran(&["sub"]);
    assert_eq!(chosen, programs(&["sub/c.fut"]));
    assert!(said.contains("quick run: 1 of 1 job"), "{said}");
    corpus.write("b.fut", &format!("{GOOD}entry f (x: f64) = x\n"));
    assert_eq!(
        ran(&["."]).0,
        named,
        "a program that is not in the list is checked"
    );
}

#[test]
fn excluded_programs_are_left_out_and_named_in_the_header() {
    let files = [("a.fut", GOOD), ("slow/b.fut", WRONG), ("c.fut", WRONG)];
    let Some(corpus) = Corpus::new(&files) else {
        return;
    };
    let exclude = ["--exclude", "slow/*", "--exclude", "c.fut"];
    let output = corpus.run(&[&["."], exclude.as_slice()].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(corpus.ran(), ["a.fut"]);
    let report = corpus.read("report.jsonl");
    assert!(
        report.contains(r#""--exclude","slow/*","--exclude","c.fut""#),
        "{report}"
    );
    let output = corpus.run(&["a.fut", "--exclude", "*"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("--exclude leaves no program"));
}

#[test]
fn a_budget_leaves_out_jobs_that_would_end_too_late() {
    let Some(corpus) = Corpus::new(&[("a.fut", GOOD), ("b.fut", WRONG)]) else {
        return;
    };
    corpus.write_last(&[("a.fut", 0.1), ("b.fut", 1000.0)]);
    let last = ["--baseline", "last.jsonl"];
    let output = corpus.run(&[&[".", "--budget", "1m", "--jobs", "1"], &last[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(corpus.ran(), ["a.fut"]);
    let said = text(&output);
    assert!(
        said.contains("--budget 1m left out 1 of 2 jobs (about 17 min)"),
        "{said}"
    );
    // Everything fits, the constructs notwithstanding.
    let output = corpus.run(&[".", "--budget", "1h"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert_eq!(corpus.ran().len(), 2);
    let output = corpus.run(&[".", "--budget", "soon"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
}

#[test]
fn jobs_that_took_long_in_the_last_run_begin_first() {
    let files = ["a.fut", "b.fut", "c.fut"].map(|name| (name, GOOD));
    let Some(corpus) = Corpus::new(&files) else {
        return;
    };
    corpus.write_last(&[("a.fut", 1.0), ("b.fut", 3.0), ("c.fut", 2.0)]);
    let run = |options: &[&str]| {
        let output = corpus.run(&[&[".", "--all", "--jobs", "1"], options].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        corpus.ran()
    };
    let last = ["b.fut", "c.fut", "a.fut"];
    assert_eq!(run(&["--baseline", "last.jsonl"]), last);
    // The results that are replaced serve, too.
    fs::rename(corpus.path("last.jsonl"), corpus.path("report.jsonl")).unwrap();
    assert_eq!(run(&[]), last);
    corpus.write("report.jsonl", "not a report");
    assert_eq!(run(&[]), ["a.fut", "b.fut", "c.fut"]);
}

#[test]
fn parts_are_balanced_by_the_last_run() {
    let files = ["a.fut", "b.fut", "c.fut", "d.fut"].map(|name| (name, GOOD));
    let Some(corpus) = Corpus::new(&files) else {
        return;
    };
    let part = |shard: &str, options: &[&str]| {
        let output =
            corpus.run(&[&[".", "--all", "--jobs", "1", "--shard", shard], options].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        corpus.ran()
    };
    corpus.write_last(&[
        ("a.fut", 9.0),
        ("b.fut", 3.0),
        ("c.fut", 3.0),
        ("d.fut", 3.0),
    ]);
    let last = ["--baseline", "last.jsonl"];
    assert_eq!(part("1/2", &last), ["a.fut"]);
    assert_eq!(part("2/2", &last), ["b.fut", "c.fut", "d.fut"]);
    // Runners have different files that they replace.
    fs::copy(corpus.path("last.jsonl"), corpus.path("report.jsonl")).unwrap();
    assert_eq!(part("1/2", &[]), ["a.fut", "c.fut"]);
}

/// Waits for a line of the report of a run that goes on.
fn wait_for(corpus: &Corpus, words: &str) -> PathBuf {
    let file = corpus.path("report.jsonl");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        if text.contains(words) {
            return file;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("no {words}");
}

#[test]
fn a_killed_run_is_resumed_with_the_results_of_a_whole_one() {
    let wrong = [("b.fut", WRONG), ("d.fut", WRONG)];
    let files = [wrong.as_slice(), &[("a.fut", GOOD), ("c.fut", GOOD)]].concat();
    let Some(corpus) = Corpus::new(&files) else {
        return;
    };
    corpus.write(
        "expectations.toml",
        "[[expect]]\nprogram = \"b.fut\"\ncheck = \"blocks\"\nreason = \"known\"\n",
    );
    let options = [".", "--all", "--jobs", "1"];
    let whole = corpus.run(&options);
    assert_eq!(whole.status.code(), Some(1), "{}", text(&whole));
    let expected = results(&corpus.path("report.jsonl"));
    let times = [
        ("b.fut", 9.0),
        ("a.fut", 1.0),
        ("c.fut", 1.0),
        ("d.fut", 1.0),
    ];
    corpus.write_last(&times);
    fs::remove_file(corpus.path("report.jsonl")).unwrap();

    let mut killed = corpus.command("run", &options);
    killed.args(["--baseline", "last.jsonl"]);
    let mut killed = killed
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let end = "{\"kind\":\"finished\",\"program\":\"b.fut\"";
    let partial = wait_for(&corpus, end);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let report = fs::read_to_string(&partial).unwrap();
    let kept = report.matches("{\"kind\":\"finished\"").count();

    let other = corpus.run(&[&options, ["--seed", "7", "--resume"].as_slice()].concat());
    assert_eq!(other.status.code(), Some(2), "{}", text(&other));
    assert!(
        text(&other).contains("expected seed 1, got 7"),
        "{}",
        text(&other)
    );

    // An unfinished line, and a record of a job that did not end.
    let record = report.lines().find(|line| line.starts_with("{\"program\""));
    let record = record.unwrap().replace("b.fut", "d.fut");
    fs::write(&partial, format!("{report}{record}\n{{\"program\":\"d.f")).unwrap();
    let resumed = corpus.run(&[&options, ["--resume"].as_slice()].concat());
    assert_eq!(resumed.status.code(), Some(1), "{}", text(&resumed));
    let said = text(&resumed);
    assert!(
        said.contains(&format!("keeps the results of {kept} job")),
        "{said}"
    );
    assert_eq!(results(&corpus.path("report.jsonl")), expected);

    // Nothing is left to do, except for a program that has changed.
    corpus.write("d.fut", GOOD);
    let resumed = corpus.run(&[&options, ["--resume"].as_slice()].concat());
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed));
    let said = text(&resumed);
    assert!(said.contains("4 programs, 1 job:\n  Futhark "), "{said}");
    assert!(said.contains("keeps the results of 3 jobs"), "{said}");
}

#[test]
fn a_resumed_run_repeats_programs_whose_imports_or_data_have_changed() {
    let importing = "-- ==\n-- input { 1 } output { 2 }\nimport \"lib/inc\"\nentry main = inc\n";
    let files = [
        ("a.fut", importing),
        ("b.fut", GOOD),
        (
            "c.fut",
            "-- ==\n-- input @ c.in\n-- output @ c.out\nentry main (x: i32) = x\n",
        ),
        ("c.in", "7\n"),
        ("c.out", "7\n"),
        ("lib/inc.fut", "def inc (x: i32) = x + 1\n"),
    ];
    let Some(corpus) = Corpus::new(&files) else {
        return;
    };
    let run = |options: &[&str]| {
        let output = corpus.run(&[&[".", "--all"], options].concat());
        (output.status.code(), text(&output))
    };
    let (code, said) = run(&["--resume"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("--resume: there are no results yet"),
        "{said}"
    );
    corpus.write("lib/inc.fut", "def inc (x: i32) = x + 2\n");
    let (code, said) = run(&["--resume"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("keeps the results of 2 jobs"), "{said}");
    corpus.write("c.out", "8\n");
    let (_, said) = run(&["--resume"]);
    assert!(said.contains("keeps the results of 2 jobs"), "{said}");
    assert!(
        said.contains("c.fut") && said.contains("2 failed"),
        "{said}"
    );
    let (_, said) = run(&["--resume"]);
    assert!(said.contains("keeps the results of 3 jobs"), "{said}");
    corpus.write("b.fut.tuning", "main.suff_outer_par_0=1\n");
    let (_, said) = run(&["--resume"]);
    assert!(said.contains("keeps the results of 2 jobs"), "{said}");
    assert!(said.contains("has no tuning parameter"), "{said}");
}
