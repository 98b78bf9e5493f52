//! Which jobs run: the quick run, budgets, excluded programs, parts, and interrupted runs.

use super::list_constructs;
use super::scene::{Run, Scene, assert_has};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GOOD: &str = "-- ==\n-- input { 1 } output { 2 }\nentry main (x: i32) = x + 1\n";
const WRONG: &str = "-- ==\n-- input { 1 } output { 3 }\nentry main (x: i32) = x + 1\n";

/// Runs on backend c with the check `blocks`.
fn command(scene: &Scene, arguments: &str) -> Command {
    scene.compiling(&format!(
        "run --backend c --check blocks --json report.jsonl {arguments}"
    ))
}

fn run(scene: &Scene, arguments: &str) -> Run {
    scene.ended(&mut command(scene, arguments))
}

/// The programs of the report, in the order of their records.
fn ran(run: &Run) -> Vec<String> {
    let mut programs: Vec<String> = run
        .texts(["program"])
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect();
    programs.dedup();
    programs
}

/// Writes the results of an earlier run of these seconds to `last.jsonl`.
fn write_last(scene: &Scene, seconds: &[(&str, f64)]) {
    let header = &run(scene, "a.fut").lines[0];
    let line = |(program, seconds): &(&str, f64)| {
        let line = json!({
            "program": program, "backend": "c", "device": "cpu",
            "compiler": header["compilers"][0]["version"], "check": "blocks", "case": "main #0",
            "outcome": "pass", "cause": null, "message": "", "seconds": seconds,
        });
        format!("{line}\n")
    };
    let lines: String = seconds.iter().map(line).collect();
    let end = format!("{{\"records\":{}}}\n", seconds.len());
    scene.write("last.jsonl", format!("{header}\n{lines}{end}"));
}

/// The records of a report without their times, in an order that does not depend on the run's.
fn results(run: &Run) -> BTreeSet<String> {
    let of = |record: &Value| {
        let mut record = record.clone();
        record["seconds"].take();
        record.to_string()
    };
    run.records().map(of).collect()
}

#[test]
fn a_run_over_a_folder_checks_a_part_that_has_every_construct() {
    let other = format!("{GOOD}entry rows (xs: [][]f32) = map (map (+ 1)) xs\n");
    let files = [
        ("a.fut", GOOD),
        ("b.fut", GOOD),
        ("sub/c.fut", other.as_str()),
    ];
    let scene = needed!(Scene::new(&files));
    let ran = |arguments: &str| {
        let run = run(&scene, arguments);
        let said = run.ends_with(0);
        (ran(&run).into_iter().collect::<BTreeSet<_>>(), said)
    };
    let programs = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<BTreeSet<_>>()
    };
    let all = programs(&["a.fut", "b.fut", "sub/c.fut"]);
    assert_eq!(ran(".").0, all, "without a list of constructs");

    let case: &[&str] = &["a case"];
    let listed = [
        ("a.fut", case),
        ("b.fut", case),
        ("sub/c.fut", &["a case", "an operator"]),
    ];
    list_constructs(&scene.path(""), &listed);
    let (chosen, said) = ran(".");
    assert_eq!(chosen, programs(&["sub/c.fut"]), "{said}");
    assert_has(&said, "quick run: 1 of 3 jobs cover");
    assert_has(&said, "--all runs all): 2 jobs, about");

    let named = programs(&["b.fut", "sub/c.fut"]);
    assert_eq!(ran(". b.fut").0, named, "a named program is checked");
    assert_eq!(ran(". --all").0, all);
    // The list counts below its folder.
    let (chosen, said) = ran("sub");
    assert_eq!(chosen, programs(&["sub/c.fut"]));
    assert_has(&said, "quick run: 1 of 1 job");
    scene.write("b.fut", format!("{GOOD}entry f (x: f64) = x\n"));
    assert_eq!(
        ran(".").0,
        named,
        "a program that is not in the list is checked"
    );
}

#[test]
fn excluded_programs_are_left_out_and_named_in_the_header() {
    let files = [("a.fut", GOOD), ("slow/b.fut", WRONG), ("c.fut", WRONG)];
    let scene = needed!(Scene::new(&files));
    let run_all = run(&scene, ". --exclude slow/* --exclude c.fut");
    run_all.ends_with(0);
    assert_eq!(ran(&run_all), ["a.fut"]);
    let report = scene.read("report.jsonl");
    assert_has(&report, r#""--exclude","slow/*","--exclude","c.fut""#);
    let said = run(&scene, "a.fut --exclude *").ends_with(2);
    assert!(said.contains("--exclude leaves no program"));
}

#[test]
fn a_budget_leaves_out_jobs_that_would_end_too_late() {
    needed!(crate::needs::full());
    let scene = needed!(Scene::new(&[("a.fut", GOOD), ("b.fut", WRONG)]));
    write_last(&scene, &[("a.fut", 0.1), ("b.fut", 1000.0)]);
    let short = run(&scene, ". --budget 1m --jobs 1 --baseline last.jsonl");
    let said = short.ends_with(0);
    assert_eq!(ran(&short), ["a.fut"]);
    assert_has(&said, "--budget 1m left out 1 of 2 jobs (about 17 min)");
    // Everything fits, the constructs notwithstanding.
    let long = run(&scene, ". --budget 1h");
    long.ends_with(1);
    assert_eq!(ran(&long).len(), 2);
    run(&scene, ". --budget soon").ends_with(2);
}

#[test]
fn jobs_that_took_long_in_the_last_run_begin_first() {
    needed!(crate::needs::full());
    let files = ["a.fut", "b.fut", "c.fut"].map(|name| (name, GOOD));
    let scene = needed!(Scene::new(&files));
    write_last(&scene, &[("a.fut", 1.0), ("b.fut", 3.0), ("c.fut", 2.0)]);
    let order = |options: &str| {
        let run = run(&scene, &format!(". --all --jobs 1{options}"));
        run.ends_with(0);
        ran(&run)
    };
    let last = ["b.fut", "c.fut", "a.fut"];
    assert_eq!(order(" --baseline last.jsonl"), last);
    // The results that are replaced serve, too.
    fs::rename(scene.path("last.jsonl"), scene.path("report.jsonl")).unwrap();
    assert_eq!(order(""), last);
    scene.write("report.jsonl", "not a report");
    assert_eq!(order(""), ["a.fut", "b.fut", "c.fut"]);
}

#[test]
fn parts_are_balanced_by_the_last_run() {
    let files = ["a.fut", "b.fut", "c.fut", "d.fut"].map(|name| (name, GOOD));
    let scene = needed!(Scene::new(&files));
    let part = |shard: &str, options: &str| {
        let run = run(
            &scene,
            &format!(". --all --jobs 1 --shard {shard}{options}"),
        );
        run.ends_with(0);
        ran(&run)
    };
    let seconds = [
        ("a.fut", 9.0),
        ("b.fut", 3.0),
        ("c.fut", 3.0),
        ("d.fut", 3.0),
    ];
    write_last(&scene, &seconds);
    let last = " --baseline last.jsonl";
    assert_eq!(part("1/2", last), ["a.fut"]);
    assert_eq!(part("2/2", last), ["b.fut", "c.fut", "d.fut"]);
    // Runners have different files that they replace.
    fs::copy(scene.path("last.jsonl"), scene.path("report.jsonl")).unwrap();
    assert_eq!(part("1/2", ""), ["a.fut", "c.fut"]);
}

/// Waits for a line of the report of a run that goes on.
fn wait_for(scene: &Scene, words: &str) -> PathBuf {
    let file = scene.path("report.jsonl");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(600) {
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
    needed!(crate::needs::full());
    let wrong = [("b.fut", WRONG), ("d.fut", WRONG)];
    let files = [wrong.as_slice(), &[("a.fut", GOOD), ("c.fut", GOOD)]].concat();
    let scene = needed!(Scene::new(&files));
    scene.write(
        "expectations.toml",
        "[[expect]]\nprogram = \"b.fut\"\ncheck = \"blocks\"\nreason = \"known\"\n",
    );
    let options = ". --all --jobs 1";
    let whole = run(&scene, options);
    whole.ends_with(1);
    let expected = results(&whole);
    let times = [
        ("b.fut", 9.0),
        ("a.fut", 1.0),
        ("c.fut", 1.0),
        ("d.fut", 1.0),
    ];
    write_last(&scene, &times);
    fs::remove_file(scene.path("report.jsonl")).unwrap();

    let mut killed = command(&scene, &format!("{options} --baseline last.jsonl"));
    let mut killed = killed
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let end = "{\"kind\":\"finished\",\"program\":\"b.fut\"";
    let partial = wait_for(&scene, end);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let report = fs::read_to_string(&partial).unwrap();
    let kept = report.matches("{\"kind\":\"finished\"").count();

    let said = run(&scene, &format!("{options} --seed 7 --resume")).ends_with(2);
    assert_has(&said, "expected seed 1, got 7");

    // An unfinished line, and a record of a job that did not end.
    let record = report.lines().find(|line| line.starts_with("{\"program\""));
    let record = record.unwrap().replace("b.fut", "d.fut");
    fs::write(&partial, format!("{report}{record}\n{{\"program\":\"d.f")).unwrap();
    let resumed = run(&scene, &format!("{options} --resume"));
    let said = resumed.ends_with(1);
    let words = format!("keeps the results of {kept} job");
    assert_has(&said, &words);
    assert_eq!(results(&resumed), expected);

    // Nothing is left to do, except for a program that has changed.
    scene.write("d.fut", GOOD);
    let said = run(&scene, &format!("{options} --resume")).ends_with(0);
    assert_has(&said, "4 programs, 1 job:\n  Futhark ");
    assert_has(&said, "keeps the results of 3 jobs");
}

#[test]
fn a_resumed_run_repeats_programs_whose_imports_or_data_have_changed() {
    needed!(crate::needs::full());
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
    let scene = needed!(Scene::new(&files));
    let run = |options: &str, code: i32| run(&scene, &format!(". --all{options}")).ends_with(code);
    let said = run(" --resume", 0);
    assert!(
        said.contains("--resume: there are no results yet"),
        "{said}"
    );
    scene.write("lib/inc.fut", "def inc (x: i32) = x + 2\n");
    let said = run(" --resume", 1);
    assert_has(&said, "keeps the results of 2 jobs");
    scene.write("c.out", "8\n");
    let said = run(" --resume", 1);
    assert_has(&said, "keeps the results of 2 jobs");
    assert_has(&said, "c.fut");
    assert_has(&said, "2 failed");
    let said = run(" --resume", 1);
    assert_has(&said, "keeps the results of 3 jobs");
    scene.write("b.fut.tuning", "main.suff_outer_par_0=1\n");
    let said = run(" --resume", 1);
    assert_has(&said, "keeps the results of 2 jobs");
    assert_has(&said, "has no tuning parameter");
}
