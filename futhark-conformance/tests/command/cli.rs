//! Arguments, reports and exit codes of the command.

use super::run::kept;
use super::scene::{Run, Scene, assert_has};
use futhark_safe::compile::Compiler;
use serde_json::Value;

/// Runs over the whole folder on the sequential backend.
fn run(scene: &Scene, arguments: &str) -> Run {
    scene.run(&format!(". --all --backend c {arguments}"))
}

/// The records of a program and a check.
fn of<'r>(run: &'r Run, program: &str, check: &str) -> Vec<&'r Value> {
    let fits = |record: &&Value| record["program"] == program && record["check"] == check;
    run.records().filter(fits).collect()
}

/// Whether a record of a program and a check has the outcome.
fn has(run: &Run, program: &str, check: &str, outcome: &str) -> bool {
    of(run, program, check)
        .iter()
        .any(|record| record["outcome"] == outcome)
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
    let scene = needed!(Scene::new(&[("good.fut", GOOD)]));
    let run = scene.run(". --all --backend c");
    let shown = run.ends_with(0);
    assert!(run.records().all(|record| record["outcome"] != "fail"));
    for (check, case) in [
        ("compile", ""),
        ("manifest", ""),
        ("arrays", "[]i32"),
        ("index", "[]i32"),
        ("blocks", "double #0"),
        ("blocks", "at #1"),
        ("lifecycle", "two at once"),
    ] {
        assert_eq!(run.case(check, case).0, "pass", "{check} {case}\n{shown}");
    }
    assert_has(&shown, "good.fut");
    assert_has(&shown, "passed");
}

#[test]
fn the_report_begins_with_a_header() {
    let scene = needed!(Scene::new(&[("good.fut", GOOD)]));
    // Without --futhark, all compilers.
    let mut command =
        scene.command("run . --all --backend c --check manifest --seed 7 --json report.jsonl");
    let run = scene.ended(command.arg("--build-dir").arg(kept()));
    let header = &run.lines[0];
    assert_eq!(header["schema"], 5);
    assert_eq!(run.lines.last().unwrap()["records"], run.records().count());
    assert_eq!(header["seed"], 7);
    let compilers = header["compilers"].as_array().expect("a list");
    assert_eq!(compilers.len(), Compiler::all().len());
    assert!(compilers[0]["version"].is_string() && compilers[0]["path"].is_string());
    assert_eq!(header["devices"][0]["backend"], "c");
    assert_eq!(header["devices"][0]["usable"], true);
    assert!(run.records().all(|record| record["check"] == "manifest"));
}

/// Two runs check one part each; `report` merges their reports.
#[test]
fn the_parts_of_a_run_can_be_merged() {
    let files = [("a.fut", GOOD), ("b.fut", GOOD), ("lib.fut", "def f = 1\n")];
    let scene = needed!(Scene::new(&files));
    let checks =
        "run . --all --backend c --check arrays --check header --junit junit.xml --html page.html";
    for part in ["1", "2"] {
        let mut command =
            scene.compiling(&format!("{checks} --shard {part}/2 --json {part}.jsonl"));
        scene.ended(&mut command).ends_with(0);
    }
    let page = scene.read("page.html");
    assert!(
        page.contains("<bdi>b.fut</bdi>") && !page.contains("<bdi>a.fut</bdi>"),
        "{page}"
    );
    let junit = scene.read("junit.xml");
    assert!(
        junit.contains("<testcase name=\"b.fut: arrays\"") && !junit.contains("a.fut"),
        "{junit}"
    );
    let mut merge = scene.command("report 1.jsonl 2.jsonl --html all.html");
    scene.ended(&mut merge).ends_with(0);
    let page = scene.read("all.html");
    for program in ["<bdi>a.fut</bdi>", "<bdi>b.fut</bdi>"] {
        assert_has(&page, program);
    }
    // A part is missing.
    scene
        .ended(&mut scene.command("report 2.jsonl"))
        .ends_with(3);
}

#[test]
fn a_type_error_is_a_finding_and_the_run_continues() {
    let wrong = "entry f (x: i32): f32 = x\n";
    let scene = needed!(Scene::new(&[("a-wrong.fut", wrong), ("good.fut", GOOD)]));
    let run = run(&scene, "--check compile --check arrays");
    let shown = run.ends_with(1);
    let failures = of(&run, "a-wrong.fut", "compile");
    let failure = failures.iter().find(|record| record["outcome"] == "fail");
    let failure = failure.expect("it does not compile");
    assert!(
        message(failure).contains("a-wrong.fut:1:"),
        "the compiler's own text: {failure}"
    );
    let skipped = of(&run, "a-wrong.fut", "arrays");
    assert!(skipped.iter().all(|record| record["outcome"] == "skip"));
    assert!(has(&run, "good.fut", "arrays", "pass"));
    assert_has(&shown, "repeat: futhark-conformance run");
}

#[test]
fn an_expected_compile_error_passes() {
    let wrong = "-- ==\n-- error: does not have expected type\nentry f (x: i32): f32 = x\n";
    let fine = "-- ==\n-- error: nothing like that\nentry f (x: i32): i32 = x\n";
    let scene = needed!(Scene::new(&[("wrong.fut", wrong), ("fine.fut", fine)]));
    let run = run(&scene, "--check compile");
    let shown = run.ends_with(1);
    let fails = |program| has(&run, program, "compile", "fail");
    assert!(!fails("wrong.fut") && fails("fine.fut"), "{shown}");
}

#[test]
fn a_wrong_result_is_shown_with_the_expected_one() {
    let wrong = "-- ==\n-- entry: f\n-- input { [1, 2] } output { [2, 4] }\nentry f (xs: []i32): []i32 = map (+ 1) xs\n";
    let scene = needed!(Scene::new(&[("wrong.fut", wrong)]));
    let run = scene.run_with(&["--check", "blocks:f *"], ". --all --backend c");
    let (outcome, message) = run.case("blocks", "f #0");
    assert_eq!(outcome, "fail");
    assert_has(message, "at [1]: expected 4, got 3");
    assert!(run.texts(["case", "cause"]).contains(&["f #0", "mismatch"]));
}

#[test]
fn a_hanging_program_is_killed_and_another_process_goes_on() {
    let spin = "-- ==\n-- entry: spin\n-- input { 1 }\n-- input { -1 } output { -1 }\n\
                entry spin (x: i32): i32 = loop x while x > 0 do x ^ 2\n";
    let scene = needed!(Scene::new(&[("spin.fut", spin)]));
    // Compile it first, because compilation may exceed the time limit.
    run(&scene, "--check compile").ends_with(0);
    let run = run(&scene, "--check blocks --timeout 3");
    run.ends_with(1);
    assert!(
        run.texts(["case", "cause"])
            .contains(&["spin #0", "timeout"])
    );
    // Another process continues after it.
    assert_eq!(run.case("blocks", "spin #1").0, "pass");
}

#[test]
fn a_program_that_crashes_is_reported_with_its_signal() {
    let wild = "-- ==\n-- entry: wild\n-- input { [1, 2] 1i64 } output { 2 }\n-- input { [1, 2] 4000000000000i64 }\n\
                -- input { [1, 2] 0i64 } output { 1 }\n\
                entry wild (xs: []i32) (i: i64): i32 = #[unsafe] xs[i]\n";
    let scene = needed!(Scene::new(&[("wild.fut", wild)]));
    let run = run(&scene, "--check blocks");
    run.ends_with(1);
    assert!(run.texts(["case", "cause"]).contains(&["wild #1", "crash"]));
    for case in ["wild #0", "wild #2"] {
        assert_eq!(run.case("blocks", case).0, "pass");
    }
    assert!(run.case("blocks", "wild #1").1.contains("SIGSEGV"));
}

#[test]
fn malformed_test_blocks_are_a_finding() {
    let bad = "-- ==\n-- entry: f\n-- input { [1, }\nentry f (x: i32) = x\n";
    let scene = needed!(Scene::new(&[("bad.fut", bad)]));
    let run = run(&scene, "--check blocks");
    run.ends_with(1);
    let (_, message) = run.case("blocks", "syntax");
    assert_has(message, "line 3");
}

#[test]
fn expected_failures_do_not_fail_the_run_and_unexpected_passes_do() {
    let wrong = "-- ==\n-- entry: f\n-- input { 1 } output { 2 }\n-- input { 1 } output { 1 }\nentry f (x: i32) = x\n";
    let scene = needed!(Scene::new(&[("wrong.fut", wrong)]));
    let run = |list: &str| {
        scene.write("expectations.toml", list);
        run(&scene, "--check blocks")
    };
    let expected = run(
        "[[expect]]\nprogram = \"*wrong.fut\"\ncheck = \"blocks:f #0\"\nreason = \"a demonstration\"\n",
    );
    let shown = expected.ends_with(0);
    assert_eq!(expected.case("blocks", "f #0").0, "expected-fail");
    assert_has(&shown, "a demonstration");

    let unexpected = run(
        "[[expect]]\nprogram = \"*wrong.fut\"\ncheck = \"blocks:f *\"\nreason = \"too much\"\n",
    );
    unexpected.ends_with(1);
    let causes = unexpected.texts(["case", "cause"]);
    assert!(causes.contains(&["f #1", "unexpected-pass"]), "{causes:?}");

    let shown = run("[[expect]]\nprogram = 1\n").ends_with(2);
    assert_has(&shown, "expectations.toml");
}

#[test]
fn usage_errors_exit_with_code_2() {
    let scene = Scene::without_compiler(&[("empty/readme.md", ""), ("sub/good.fut", GOOD)]);
    for (arguments, expected) in [
        ("run nowhere", "nowhere"),
        ("run empty/readme.md", ".fut"),
        ("run empty", ".fut"),
        ("run --backend vulkan", "opencl"),
        ("run --shard 3/2", "I/N"),
        ("run sub --check blocks --check nonsense:x", "arrays, index"),
        ("run sub --futhark /nowhere/futhark", "/nowhere/futhark"),
        ("list nowhere", "nowhere"),
        ("explain indices", "arrays, index, raw"),
        ("wait", "wait"),
    ] {
        let shown = scene.ended(&mut scene.command(arguments)).ends_with(2);
        assert!(shown.contains(expected), "{arguments}: {shown}");
    }
}

#[test]
fn without_a_compiler_the_error_says_how_to_get_one() {
    let scene = Scene::without_compiler(&[("good.fut", GOOD)]);
    let mut command = scene.command("run .");
    command
        .env("PATH", "/nowhere")
        .env("FUTHARK_TOOLCHAIN", "/nowhere");
    let shown = scene.ended(command.env_remove("FUTHARK")).ends_with(3);
    assert_has(&shown, "install");
}

#[test]
fn programs_and_checks_can_be_listed_and_explained() {
    let scene = Scene::without_compiler(&[("good.fut", GOOD), ("lib.fut", "def f = 1\n")]);
    for (arguments, expected) in [
        ("list .", "good.fut: 4 test cases\n"),
        ("list .", "lib.fut: skipped"),
        ("list --checks", "\nconsume"),
        ("list --checks", "proves: Manifest"),
        ("list . --cases", "\n  --check 'blocks:at #1'\n"),
        ("explain index", "# `index`\n"),
        ("explain index", "cannot prove"),
    ] {
        let shown = scene.ended(&mut scene.command(arguments)).ends_with(0);
        assert!(shown.contains(expected), "{arguments}: {shown}");
    }
}

#[test]
fn without_a_cpp_compiler_the_emulated_device_is_unusable_with_a_reason() {
    let scene = needed!(Scene::new(&[("good.fut", GOOD)]));
    let run = |emulate: &str| {
        let arguments = format!("run . --backend cuda --check compile --emulate {emulate}");
        scene.ended(scene.compiling(&arguments).env("CXX", "/nowhere/c++"))
    };
    let shown = run("always").ends_with(3);
    assert_has(&shown, "needs a C++ compiler");
    assert_has(&shown, "/nowhere/c++");
    // With `auto`, programs are compiled without the device.
    run("auto").ends_with(0);
}
