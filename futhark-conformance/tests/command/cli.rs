//! Arguments, reports and exit codes of the command.

use super::run::kept;
use super::scene::{Run, Scene, assert_has};
use futhark_safe::compile::Compiler;

/// Runs over the whole folder on the sequential backend.
fn run(scene: &Scene, arguments: &str) -> Run {
    scene.run(&format!(". --all --backend c {arguments}"))
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
    scene.ends("report 2.jsonl", 3);
}

/// Programs that fail, each in its way.
#[rustfmt::skip]
const FAILING: [(&str, &str); 6] = [
    ("type.fut", "entry f (x: i32): f32 = x\n"),
    ("refused.fut", "-- ==\n-- error: does not have expected type\nentry f (x: i32): f32 = x\n"),
    ("accepted.fut", "-- ==\n-- error: nothing like that\nentry f (x: i32): i32 = x\n"),
    ("malformed.fut", "-- ==\n-- entry: f\n-- input { [1, }\nentry f (x: i32) = x\n"),
    (
        "spin.fut",
        "-- ==\n-- entry: spin\n-- input { 1 }\n-- input { -1 } output { -1 }\n\
         entry spin (x: i32): i32 = loop x while x > 0 do x ^ 2\n",
    ),
    (
        "wild.fut",
        "-- ==\n-- entry: wild\n-- input { [1, 2] 1i64 } output { 3 }\n-- input { [1, 2] 4000000000000i64 }\n\
         -- input { [1, 2] 0i64 } output { 1 }\n\
         entry wild (xs: []i32) (i: i64): i32 = #[unsafe] xs[i]\n",
    ),
];

/// Program, check, case, outcome with cause, and a part of the message.
const FOUND: &str = "\
type.fut | compile | - | fail error | type.fut:1:
type.fut | arrays | - | skip | -
refused.fut | compile | - | pass | -
accepted.fut | compile | - | fail mismatch | -
good.fut | arrays | []i32 | pass | -
malformed.fut | blocks | syntax | fail error | line 3
spin.fut | blocks | spin #0 | fail timeout | -
spin.fut | blocks | spin #1 | pass | -
wild.fut | blocks | wild #0 | fail mismatch | expected 3, got 2
wild.fut | blocks | wild #1 | fail crash | SIGSEGV
wild.fut | blocks | wild #2 | pass | -";

/// The run goes on, in another process if one has died.
#[test]
fn each_failure_is_a_finding_with_its_cause() {
    let scene = needed!(Scene::new(&FAILING));
    scene.write("good.fut", GOOD);
    // Compiles, because compilation may exceed the time limit of the second run.
    let compiled = run(&scene, "--check compile --check arrays");
    assert_has(&compiled.ends_with(1), "repeat: futhark-conformance run");
    let called = run(&scene, "--check blocks --timeout 3");
    called.ends_with(1);
    for line in FOUND.lines() {
        let cells = line.split(" | ").map(|cell| cell.trim_matches('-'));
        let cells: Vec<&str> = cells.collect();
        let [program, check, case, expected, words] = cells[..] else {
            panic!("{line}");
        };
        let run = if check == "blocks" {
            &called
        } else {
            &compiled
        };
        let texts = run.texts(["program", "check", "case", "outcome", "cause", "message"]);
        let of_case = |text: &&[&str; 6]| text[..3] == [program, check, case];
        let found: Vec<_> = texts.iter().filter(of_case).collect();
        let &[[.., outcome, cause, message]] = &found[..] else {
            panic!("{line}: {found:?}");
        };
        let found = format!("{outcome} {cause}");
        assert_eq!(found.trim_end(), expected, "{line}: {message}");
        assert_has(message, words);
    }
    // An expected hang has a limit of its own.
    let list = "[[expect]]\nprogram = \"*\"\ncheck = \"blocks:spin #0\"\nreason = \"a demonstration\"\nhangs = true\n";
    scene.write("expectations.toml", list);
    let expected = scene.run("spin.fut --backend c --check blocks");
    let (outcome, message) = expected.case("blocks", "spin #0");
    assert_eq!(outcome, "expected-fail");
    assert_has(message, "no answer within 5 s");
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
        let shown = scene.ends(arguments, 2);
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
        let shown = scene.ends(arguments, 0);
        assert!(shown.contains(expected), "{arguments}: {shown}");
    }
}

#[test]
fn without_a_cpp_compiler_the_emulated_device_is_unusable_with_a_reason() {
    needed!(crate::needs::full());
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
