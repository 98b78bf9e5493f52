//! `futhark_conformance::test`, as the `main` of a test of a user's crate.
//!
//! This program is both: with the variable `TRIALS_OF` it tests the programs of that folder, and
//! without it starts itself so, and verifies what it prints.

use futhark_conformance::{Config, child_process, manifest::Backend};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

#[allow(dead_code, reason = "other tests use the other functions")]
#[path = "support/needs.rs"]
mod needs;

fn main() -> ExitCode {
    child_process();
    let Some(folder) = std::env::var_os("TRIALS_OF") else {
        programs_are_tests();
        return ExitCode::SUCCESS;
    };
    let mut config = Config::new([folder]);
    config.machine.backends = vec![Backend::C];
    config.machine.futhark.extend(needs::compiler_path());
    config.work.build_dir = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds"));
    config.test()
}

fn programs_are_tests() {
    if needs::compiler_path().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let case = |result| {
        format!("-- ==\n-- input {{ 1 }} output {{ {result} }}\nentry main (x: i32) = x\n")
    };
    for (name, text) in [
        ("good.fut", case(1)),
        ("bad.fut", case(2)),
        ("known.fut", case(2)),
        ("library.fut", "def f (x: i32) = x\n".to_owned()),
        (
            "expectations.toml",
            "[[expect]]\nprogram = \"known.fut\"\ncheck = \"blocks\"\nreason = \"wrong\"\n"
                .to_owned(),
        ),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .current_dir(folder.path())
            .env("TRIALS_OF", ".")
            .args(arguments);
        command.output().unwrap()
    };
    let text = |output: &Output| {
        format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
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
