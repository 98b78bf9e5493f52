//! Arguments, reports and exit codes of the command.

use super::{build_dir, command, needs, text};
use futhark_safe::compile::Compiler;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder of programs.
struct Corpus(TempDir);

impl Corpus {
    fn new(files: &[(&str, &str)]) -> Corpus {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("the folder can be written");
        }
        Corpus(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self) -> Command {
        command(self.0.path())
    }

    /// Runs over the whole folder on the sequential backend.
    fn run(&self, arguments: &[&str]) -> Run {
        let report = self.path("report.jsonl");
        let mut command = self.command();
        command
            .args(["run", ".", "--all", "--backend", "c", "--json"])
            .arg(&report);
        command.arg("--build-dir").arg(build_dir()).args(arguments);
        let output = command.output().expect("the program starts");
        let text = fs::read_to_string(report).unwrap_or_default();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("each line is JSON"))
            .filter(|line: &Value| line["kind"].is_null());
        Run {
            output,
            lines: lines.collect(),
        }
    }
}

struct Run {
    output: Output,
    lines: Vec<Value>,
}

impl Run {
    fn code(&self) -> i32 {
        self.output
            .status
            .code()
            .expect("no signal ended the program")
    }

    fn shown(&self) -> String {
        text(&self.output)
    }

    fn records(&self) -> &[Value] {
        let end = self.lines.iter().position(|line| line["records"].is_u64());
        let end = end.unwrap_or(self.lines.len());
        self.lines.get(1..end).unwrap_or_default()
    }

    /// The records of a program and a check.
    fn of(&self, program: &str, check: &str) -> Vec<&Value> {
        let fits = |record: &&Value| {
            record["program"]
                .as_str()
                .is_some_and(|path| path.ends_with(program))
                && record["check"] == check
        };
        self.records().iter().filter(fits).collect()
    }

    /// The one record of a program, a check and a case.
    fn one(&self, program: &str, check: &str, case: &str) -> &Value {
        let found: Vec<_> = self
            .of(program, check)
            .into_iter()
            .filter(|record| record["case"] == case)
            .collect();
        assert_eq!(
            found.len(),
            1,
            "{program} {check} {case}: {found:?}\n{}",
            self.shown()
        );
        found[0]
    }
}

const GOOD: &str = "\
-- ==
-- entry: double
-- input { [1, 2, 3] } output { [2, 4, 6] }
-- input { empty([0]i32) } output { empty([0]i32) }
entry double (xs: []i32): []i32 = map (* 2) xs

-- ==
-- entry: at
-- input { [1, 2, 3] 1i64 } output { 2 }
-- input { [1, 2, 3] 3i64 } error: out of bounds
entry at (xs: []i32) (i: i64): i32 = xs[i]
";

fn message(record: &Value) -> &str {
    record["message"].as_str().unwrap_or_default()
}

#[test]
fn a_good_program_passes_every_check() {
    let Some(compiler) = compiler() else { return };
    let run = Corpus::new(&[("good.fut", GOOD)]).run(&["--futhark", &compiler]);
    assert_eq!(run.code(), 0, "{}", run.shown());
    assert!(
        run.records()
            .iter()
            .all(|record| record["outcome"] != "fail")
    );
    for (check, case) in [
        ("compile", ""),
        ("manifest", ""),
        ("arrays", "[]i32"),
        ("index", "[]i32"),
        ("blocks", "double #0"),
        ("blocks", "at #1"),
        ("lifecycle", "two at once"),
    ] {
        let records = run.of("good.fut", check);
        let passed = records
            .iter()
            .filter(|record| record["case"] == case && record["outcome"] == "pass")
            .count();
        assert!(passed >= 1, "{check} {case}\n{}", run.shown());
    }
    let shown = run.shown();
    assert!(
        shown.contains("good.fut") && shown.contains("passed"),
        "{shown}"
    );
}

#[test]
fn the_report_begins_with_a_header() {
    if compiler().is_none() {
        return;
    }
    let run = Corpus::new(&[("good.fut", GOOD)]).run(&["--check", "manifest", "--seed", "7"]);
    let header = &run.lines[0];
    assert_eq!(header["schema"], 5);
    assert_eq!(run.lines.last().unwrap()["records"], run.records().len());
    assert_eq!(header["seed"], 7);
    let compilers = header["compilers"].as_array().expect("a list");
    assert_eq!(compilers.len(), Compiler::all().len());
    assert!(
        header["compilers"][0]["version"].is_string() && header["compilers"][0]["path"].is_string()
    );
    assert_eq!(header["devices"][0]["backend"], "c");
    assert_eq!(header["devices"][0]["usable"], true);
    let keys = [
        "program", "backend", "device", "compiler", "check", "case", "outcome", "cause", "message",
        "seconds",
    ];
    for record in run.records() {
        assert!(keys.iter().all(|key| record.get(key).is_some()), "{record}");
        assert_eq!(record["check"], "manifest");
    }
}

/// Two runs check one part each; `report` merges their reports.
#[test]
fn the_parts_of_a_run_can_be_merged() {
    let Some(compiler) = compiler() else { return };
    let corpus = Corpus::new(&[("a.fut", GOOD), ("b.fut", GOOD), ("lib.fut", "def f = 1\n")]);
    let run = |arguments: &[&str]| {
        let mut command = corpus.command();
        command.args(arguments);
        let output = command.output().expect("the program starts");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let build_dir = build_dir();
    for part in ["1/2", "2/2"] {
        let json = format!("{}.jsonl", &part[..1]);
        let (code, shown) = run(&[
            "run",
            ".",
            "--all",
            "--build-dir",
            build_dir.to_str().expect("a path in UTF-8"),
            "--backend",
            "c",
            "--futhark",
            &compiler,
            "--check",
            "arrays",
            "--check",
            "header",
            "--shard",
            part,
            "--json",
            &json,
            "--junit",
            "junit.xml",
            "--html",
            "page.html",
        ]);
        assert_eq!(code, Some(0), "{shown}");
    }
    let page = fs::read_to_string(corpus.path("page.html")).unwrap();
    assert!(
        page.contains("<bdi>b.fut</bdi>") && !page.contains("<bdi>a.fut</bdi>"),
        "{page}"
    );
    let junit = fs::read_to_string(corpus.path("junit.xml")).unwrap();
    assert!(
        junit.contains("<testcase name=\"b.fut: arrays\"") && !junit.contains("a.fut"),
        "{junit}"
    );
    let (code, shown) = run(&["report", "1.jsonl", "2.jsonl", "--html", "all.html"]);
    assert_eq!(code, Some(0), "{shown}");
    let page = fs::read_to_string(corpus.path("all.html")).unwrap();
    for program in ["<bdi>a.fut</bdi>", "<bdi>b.fut</bdi>"] {
        assert!(page.contains(program), "{page}");
    }
    let (code, _) = run(&["report", "2.jsonl"]);
    assert_eq!(code, Some(3), "a part is missing");
}

#[test]
fn a_type_error_is_a_finding_and_the_run_continues() {
    let Some(compiler) = compiler() else { return };
    let wrong = "entry f (x: i32): f32 = x\n";
    let run = Corpus::new(&[("a-wrong.fut", wrong), ("good.fut", GOOD)]).run(&[
        "--check",
        "compile",
        "--check",
        "arrays",
        "--futhark",
        &compiler,
    ]);
    assert_eq!(run.code(), 1, "{}", run.shown());
    let failures = run.of("a-wrong.fut", "compile");
    let failure = failures
        .iter()
        .find(|record| record["outcome"] == "fail")
        .expect("it does not compile");
    assert!(
        message(failure).contains("a-wrong.fut:1:"),
        "the compiler's own text: {failure}"
    );
    assert!(
        run.of("a-wrong.fut", "arrays")
            .iter()
            .all(|record| record["outcome"] == "skip")
    );
    assert!(
        run.of("good.fut", "arrays")
            .iter()
            .any(|record| record["outcome"] == "pass")
    );
    assert!(
        run.shown().contains("repeat: futhark-conformance run"),
        "{}",
        run.shown()
    );
}

#[test]
fn an_expected_compile_error_passes() {
    let Some(compiler) = compiler() else { return };
    let wrong = "-- ==\n-- error: does not have expected type\nentry f (x: i32): f32 = x\n";
    let fine = "-- ==\n-- error: nothing like that\nentry f (x: i32): i32 = x\n";
    let run =
        Corpus::new(&[("wrong.fut", wrong), ("fine.fut", fine)]).run(&["--futhark", &compiler]);
    assert_eq!(run.code(), 1, "{}", run.shown());
    let outcome = |program| {
        run.of(program, "compile")
            .iter()
            .any(|record| record["outcome"] == "fail")
    };
    assert!(
        !outcome("wrong.fut") && outcome("fine.fut"),
        "{}",
        run.shown()
    );
}

#[test]
fn a_wrong_result_is_shown_with_the_expected_one() {
    let Some(compiler) = compiler() else { return };
    let wrong = "-- ==\n-- entry: f\n-- input { [1, 2] } output { [2, 4] }\nentry f (xs: []i32): []i32 = map (+ 1) xs\n";
    let run = Corpus::new(&[("wrong.fut", wrong)]).run(&[
        "--check",
        "blocks:f *",
        "--futhark",
        &compiler,
    ]);
    let failure = run.one("wrong.fut", "blocks", "f #0");
    assert_eq!(
        (failure["outcome"].as_str(), failure["cause"].as_str()),
        (Some("fail"), Some("mismatch"))
    );
    assert!(
        message(failure).contains("at [1]: expected 4, got 3"),
        "{failure}"
    );
}

#[test]
fn a_hanging_program_is_killed_and_another_process_goes_on() {
    let Some(compiler) = compiler() else { return };
    let spin = "-- ==\n-- entry: spin\n-- input { 1 }\n-- input { -1 } output { -1 }\n\
                entry spin (x: i32): i32 = loop x while x > 0 do x ^ 2\n";
    let corpus = Corpus::new(&[("spin.fut", spin)]);
    // Compile it first, because compilation may exceed the time limit.
    let compiled = corpus.run(&["--check", "compile", "--futhark", &compiler]);
    assert_eq!(compiled.code(), 0, "{}", compiled.shown());
    let run = corpus.run(&[
        "--check",
        "blocks",
        "--timeout",
        "3",
        "--futhark",
        &compiler,
    ]);
    assert_eq!(run.code(), 1, "{}", run.shown());
    let hanging = run.one("spin.fut", "blocks", "spin #0");
    assert_eq!(hanging["cause"], "timeout", "{hanging}");
    // Another process continues after it.
    assert_eq!(run.one("spin.fut", "blocks", "spin #1")["outcome"], "pass");
}

#[test]
fn a_program_that_crashes_is_reported_with_its_signal() {
    let Some(compiler) = compiler() else { return };
    let wild = "-- ==\n-- entry: wild\n-- input { [1, 2] 1i64 } output { 2 }\n-- input { [1, 2] 4000000000000i64 }\n\
                -- input { [1, 2] 0i64 } output { 1 }\n\
                entry wild (xs: []i32) (i: i64): i32 = #[unsafe] xs[i]\n";
    let run =
        Corpus::new(&[("wild.fut", wild)]).run(&["--check", "blocks", "--futhark", &compiler]);
    assert_eq!(run.code(), 1, "{}", run.shown());
    let crash = run.one("wild.fut", "blocks", "wild #1");
    assert_eq!(crash["cause"], "crash");
    assert!(message(crash).contains("SIGSEGV"), "{crash}");
    for case in ["wild #0", "wild #2"] {
        assert_eq!(run.one("wild.fut", "blocks", case)["outcome"], "pass");
    }
}

#[test]
fn malformed_test_blocks_are_a_finding() {
    let Some(compiler) = compiler() else { return };
    let run = Corpus::new(&[(
        "bad.fut",
        "-- ==\n-- entry: f\n-- input { [1, }\nentry f (x: i32) = x\n",
    )])
    .run(&["--check", "blocks", "--futhark", &compiler]);
    let failure = run.one("bad.fut", "blocks", "syntax");
    assert!(message(failure).contains("line 3"), "{failure}");
    assert_eq!(run.code(), 1);
}

#[test]
fn expected_failures_do_not_fail_the_run_and_unexpected_passes_do() {
    let Some(compiler) = compiler() else { return };
    let wrong = "-- ==\n-- entry: f\n-- input { 1 } output { 2 }\n-- input { 1 } output { 1 }\nentry f (x: i32) = x\n";
    let corpus = Corpus::new(&[("wrong.fut", wrong)]);
    let run = |list: &str| {
        fs::write(corpus.path("expectations.toml"), list).expect("the folder can be written");
        corpus.run(&["--check", "blocks", "--futhark", &compiler])
    };
    let expected = run(
        "[[expect]]\nprogram = \"*wrong.fut\"\ncheck = \"blocks:f #0\"\nreason = \"a demonstration\"\n",
    );
    assert_eq!(expected.code(), 0, "{}", expected.shown());
    assert_eq!(
        expected.one("wrong.fut", "blocks", "f #0")["outcome"],
        "expected-fail"
    );
    assert!(
        expected.shown().contains("a demonstration"),
        "{}",
        expected.shown()
    );

    let unexpected = run(
        "[[expect]]\nprogram = \"*wrong.fut\"\ncheck = \"blocks:f *\"\nreason = \"too much\"\n",
    );
    assert_eq!(unexpected.code(), 1);
    assert_eq!(
        unexpected.one("wrong.fut", "blocks", "f #1")["cause"],
        "unexpected-pass"
    );

    let broken = run("[[expect]]\nprogram = 1\n");
    assert_eq!(broken.code(), 2);
    assert!(
        broken.shown().contains("expectations.toml"),
        "{}",
        broken.shown()
    );
}

#[test]
fn shards_split_the_programs() {
    let Some(compiler) = compiler() else { return };
    let corpus = Corpus::new(&[
        ("a.fut", "entry f (x: i32) = x\n"),
        ("b.fut", "entry f (x: i32) = x\n"),
    ]);
    let programs = |shard| {
        let run = corpus.run(&[
            "--check",
            "compile",
            "--shard",
            shard,
            "--futhark",
            &compiler,
        ]);
        let names: Vec<String> = run
            .records()
            .iter()
            .map(|record| record["program"].to_string())
            .collect();
        names
    };
    let (first, second) = (programs("1/2"), programs("2/2"));
    assert!(
        first.iter().all(|name| name.contains("a.fut")) && !first.is_empty(),
        "{first:?}"
    );
    assert!(
        second.iter().all(|name| name.contains("b.fut")) && !second.is_empty(),
        "{second:?}"
    );
}

#[test]
fn libraries_are_skipped_with_the_reason() {
    let Some(compiler) = compiler() else { return };
    let run = Corpus::new(&[
        ("lib.fut", "def f (x: i32) = x\n"),
        ("good.fut", "entry f (x: i32) = x\n"),
    ])
    .run(&["--check", "compile", "--futhark", &compiler]);
    assert_eq!(run.code(), 0, "{}", run.shown());
    let skipped = run.of("lib.fut", "compile");
    assert_eq!(skipped.len(), 1);
    assert!(
        message(skipped[0]).contains("no entry point"),
        "{:?}",
        skipped[0]
    );
}

#[test]
fn usage_errors_exit_with_code_2() {
    let corpus = Corpus::new(&[("readme.md", "")]);
    let cases: &[(&[&str], &str)] = &[
        (&["run", "nowhere"], "nowhere"),
        (&["run", "readme.md"], ".fut"),
        (&["run", "."], ".fut"),
        (&["run", "--backend", "vulkan"], "opencl"),
        (&["run", "--shard", "3/2"], "I/N"),
        (&["list", "nowhere"], "nowhere"),
        (&["wait"], "wait"),
    ];
    for (arguments, expected) in cases {
        let output = corpus
            .command()
            .args(*arguments)
            .output()
            .expect("the program starts");
        let shown = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {shown}");
        assert!(shown.contains(expected), "{arguments:?}: {shown}");
    }
    fs::write(corpus.path("good.fut"), GOOD).expect("the folder can be written");
    let output = corpus
        .command()
        .args(["run", ".", "--futhark", "/nowhere/futhark"])
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn without_a_compiler_the_error_says_how_to_get_one() {
    let corpus = Corpus::new(&[("good.fut", GOOD)]);
    let mut command = corpus.command();
    command
        .args(["run", "."])
        .env("PATH", "/nowhere")
        .env("FUTHARK_TOOLCHAIN", "/nowhere")
        .env_remove("FUTHARK");
    let output = command.output().expect("the program starts");
    let shown = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert!(shown.contains("install"), "{shown}");
}

#[test]
fn programs_and_checks_can_be_listed() {
    let corpus = Corpus::new(&[("good.fut", GOOD), ("lib.fut", "def f = 1\n")]);
    let list = |arguments: &[&str]| {
        let output = corpus
            .command()
            .arg("list")
            .args(arguments)
            .output()
            .expect("the program starts");
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let programs = list(&["."]);
    assert!(programs.contains("good.fut: 4 test cases"), "{programs}");
    assert!(programs.contains("lib.fut: skipped"), "{programs}");
    let checks = list(&["--checks"]);
    assert!(
        checks.lines().any(|line| line.starts_with("consume")),
        "{checks}"
    );
    assert!(checks.contains("proves: Manifest"), "{checks}");
    let cases = list(&[".", "--cases"]);
    assert!(cases.contains("\n  --check 'blocks:at #1'\n"), "{cases}");
}

#[test]
fn an_unknown_check_is_a_usage_error() {
    let corpus = Corpus::new(&[("good.fut", GOOD)]);
    let run = corpus.run(&["--check", "blocks", "--check", "nonsense:x"]);
    assert_eq!(run.code(), 2);
    let said = run.shown();
    assert!(
        said.contains("\"nonsense:x\"") && said.contains("arrays, index"),
        "{said}"
    );
}

#[test]
fn checks_are_explained() {
    let corpus = Corpus::new(&[]);
    let explain = |check: &str| {
        let mut command = corpus.command();
        command.args(["explain", check]);
        command.output().expect("the program starts")
    };
    let output = explain("index");
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(page.starts_with("# `index`\n"), "{page}");
    assert!(page.contains("cannot prove"), "{page}");
    let output = explain("indices");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("arrays, index, raw"), "{said}");
}

#[test]
fn without_a_cpp_compiler_the_emulated_device_is_unusable_with_a_reason() {
    let Some(compiler) = compiler() else { return };
    let corpus = Corpus::new(&[("good.fut", GOOD)]);
    let run = |emulate: &str| {
        let mut command = corpus.command();
        command.env("CXX", "/nowhere/c++");
        command.args(["run", ".", "--backend", "cuda", "--check", "compile"]);
        command.args(["--emulate", emulate, "--futhark", &compiler]);
        command.arg("--build-dir").arg(build_dir());
        command.output().expect("the program starts")
    };
    let output = run("always");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("needs a C++ compiler"), "{said}");
    assert!(said.contains("/nowhere/c++"), "{said}");
    // With `auto`, programs are compiled without the device.
    assert_eq!(run("auto").status.code(), Some(0));
}

/// The newest compiler, which is enough for most tests.
fn compiler() -> Option<String> {
    Some(needs::compiler_path()?.to_string_lossy().into_owned())
}
