//! The library as a user's crate uses it: `futhark_conformance::test` as the `main` of a test, and `run`
//! in a harness of its own.
//!
//! This program is all of these: with the variable `TRIALS_OF` it tests the programs of that folder;
//! without it, it starts itself so, verifies what it prints, and then runs a harness.

use futhark_conformance::{Config, Corpus, Report, child_process, manifest::Backend, run};
use run_of_command::{kept, text};
use std::error::Error;
use std::fs;
use std::process::{Command, ExitCode};

#[allow(dead_code, reason = "other tests use the other functions")]
#[path = "support/needs.rs"]
mod needs;
#[allow(dead_code, reason = "other test programs use the other functions")]
#[path = "support/run.rs"]
mod run_of_command;

fn main() -> ExitCode {
    child_process();
    let Some(folder) = std::env::var_os("TRIALS_OF") else {
        programs_are_tests();
        a_harness_finds_runs_and_reports().unwrap();
        return ExitCode::SUCCESS;
    };
    config().test(&Corpus::find([folder]).unwrap())
}

/// Only backend c, in the build folder of the other tests.
fn config() -> Config {
    let mut config = Config::default();
    config.machine.backends = vec![Backend::C];
    config.machine.futhark.extend(needs::compiler_path());
    config.work.build_dir = Some(kept());
    config
}

fn a_harness_finds_runs_and_reports() -> Result<(), Box<dyn Error>> {
    if needs::compiler_path().is_none() {
        return Ok(());
    }
    let folder = programs("slow.fut")?;
    let at = |name: &str| folder.path().join(name);

    let mut corpus = Corpus::find([folder.path()])?;
    assert_eq!(corpus.exclude("slow*"), 1);
    let skipped: Vec<&str> = corpus.skipped().map(|(_, reason)| reason).collect();
    assert_eq!(skipped, ["no entry point: a library for other programs"]);

    let mut config = config();
    config.checks = vec!["blocks".to_owned().into()];
    let report = run(&corpus, &config)?;
    let failures = report.failures();
    let [group] = &failures[..] else {
        panic!("{}", report.as_text())
    };
    assert_eq!(
        (&*group.heading(), group.members.len()),
        ("blocks: mismatch", 1)
    );
    assert!(group.example.job.program.ends_with("bad.fut"));
    assert!(
        group.headline().contains("expected 2, got 1"),
        "{}",
        report.as_text()
    );
    assert!(group.repeat().contains("--check 'blocks:main #0'"));
    assert_eq!(group.repeat(), report.repeat(group.example));

    let records = report.records();
    assert_eq!(records.len(), report.counts().total());
    assert!(records.contains(group.example));
    for name in ["page.html", "junit.xml", "summary.md", "all.jsonl"] {
        match name {
            "page.html" => report.write_html(at(name))?,
            "junit.xml" => report.write_junit(at(name))?,
            "summary.md" => report.write_summary(at(name))?,
            _ => report.write_json(at(name))?,
        }
        let text = fs::read_to_string(at(name))?;
        assert!(text.contains("bad.fut"), "{name}: {text}");
    }

    let counts = report.counts();
    let read = Report::read([at("all.jsonl")])?;
    assert_eq!((read.counts(), read.missing.len()), (counts, 0));
    assert_eq!(read.records(), records);

    // With a file of its own, a run can be continued.
    config.json = Some(at("run.jsonl"));
    config.resume = true;
    for _ in 0..2 {
        let report = run(&corpus, &config)?;
        assert_eq!(report.counts(), counts);
        assert_eq!(report.records().len(), records.len());
    }
    println!("a_harness_finds_runs_and_reports ... ok");
    Ok(())
}

/// A folder with a program that passes, two that fail, and a library.
fn programs(other: &str) -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let case = |result| {
        format!("-- ==\n-- input {{ 1 }} output {{ {result} }}\nentry main (x: i32) = x\n")
    };
    for (name, text) in [
        ("good.fut", case(1)),
        ("bad.fut", case(2)),
        (other, case(2)),
        ("library.fut", "def f (x: i32) = x\n".to_owned()),
    ] {
        fs::write(folder.path().join(name), text)?;
    }
    Ok(folder)
}

fn programs_are_tests() {
    if needs::compiler_path().is_none() {
        return;
    }
    let folder = programs("known.fut").unwrap();
    let known = "[[expect]]\nprogram = \"known.fut\"\ncheck = \"blocks\"\nreason = \"wrong\"\n";
    fs::write(folder.path().join("expectations.toml"), known).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .current_dir(folder.path())
            .env("TRIALS_OF", ".")
            .args(arguments);
        command.output().unwrap()
    };
    let all = text(&run(&[]));
    for words in [
        "2 passed; 1 failed; 1 ignored",
        "good.fut [c, cpu, ",
        "blocks main #0: mismatch",
        "expected 2, got 1",
    ] {
        assert!(all.contains(words), "no {words:?} in\n{all}");
    }
    let good = run(&["good"]);
    assert!(good.status.success(), "{}", text(&good));
    assert!(
        text(&good).contains("1 passed; 0 failed"),
        "{}",
        text(&good)
    );
    // The filter is no subcommand.
    let none = text(&run(&["child"]));
    assert!(none.contains("0 passed; 0 failed"), "{none}");
    println!("programs_are_tests ... ok");
}
