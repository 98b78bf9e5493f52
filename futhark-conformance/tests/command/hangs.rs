//! Programs that hang, with a time limit in the list of expected failures.

use super::scene::{PROGRAM, Scene};
use super::{build_dir, text};
use std::time::{Duration, Instant};

/// Hangs with a positive argument.
const SPIN: &str = "-- ==\n-- entry: spin\n-- input { -1 } output { -1 }\n-- input { 1 }\n\
                    -- input { -2 } output { -2 }\n-- input { 2 }\n\
                    entry spin (x: i32): i32 = loop x while x > 0 do x ^ 4\n";

/// Does not hang any more.
const FIXED: &str = "-- ==\n-- entry: f\n-- input { 1 } output { 1 }\nentry f (x: i32): i32 = x\n";

const LIST: &str = "\
[[expect]]
program = \"whole.fut\"
check = \"blocks\"
reason = \"a loop does not end\"
timeout = 1

[[expect]]
program = \"cases.fut\"
check = [\"blocks:spin #1\", \"blocks:spin #3\"]
reason = \"two loops do not end\"
timeout = 1

[[expect]]
program = \"fixed.fut\"
check = \"blocks\"
reason = \"a loop did not end\"
timeout = 1
";

#[test]
fn a_hang_fails_as_expected_at_the_time_limit_of_its_expectation() {
    let Some(scene) = Scene::new() else { return };
    for (name, source) in [("whole", SPIN), ("cases", SPIN), ("fixed", FIXED)] {
        scene.write(format!("{name}.fut"), source);
    }
    scene.write("expectations.toml", LIST);
    let begun = Instant::now();
    let mut command = scene.command("run");
    command.args([".", "--all", "--backend", "c", "--check", "blocks"]);
    command.args(["--json", "report.jsonl", "--futhark"]);
    command
        .arg(scene.real())
        .arg("--build-dir")
        .arg(build_dir());
    let output = command.output().expect("the program starts");
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(begun.elapsed() < Duration::from_secs(100), "{shown}");

    let records = scene.records(["program", "case", "outcome", "message"]);
    let of = |program: &str| {
        let of = records.iter().filter(|record| record[0] == program);
        let of = of.map(|[_, case, outcome, _]| format!("{case} {outcome}"));
        let mut of: Vec<String> = of.collect();
        of.sort();
        of
    };
    // One failure suffices for a whole check.
    let whole = ["#0 pass", "#1 expected-fail", "#2 skip", "#3 skip"];
    assert_eq!(
        of("whole.fut"),
        whole.map(|case| format!("spin {case}")),
        "{shown}"
    );
    let cases = ["#0 pass", "#1 expected-fail", "#2 pass", "#3 expected-fail"];
    assert_eq!(
        of("cases.fut"),
        cases.map(|case| format!("spin {case}")),
        "{shown}"
    );
    // The entry is still noticed when its reason is gone.
    assert_eq!(of("fixed.fut"), [" fail", "f #0 pass"], "{shown}");
    let hung = |record: &&[String; 4]| record[2] == "expected-fail";
    for [_, _, _, message] in records.iter().filter(hung) {
        let limit = "no answer within 1 s, the time limit of this expected failure; killed";
        assert!(message.contains(limit), "{message}");
    }
}

#[test]
fn a_time_limit_of_an_expectation_must_be_a_number_of_seconds() {
    let Some(scene) = Scene::new() else { return };
    scene.write("f.fut", PROGRAM);
    for limit in ["0", "86401", "\"10 s\""] {
        let entry = format!("[[expect]]\nprogram = \"f.fut\"\nreason = \"r\"\ntimeout = {limit}\n");
        scene.write("expectations.toml", &entry);
        let output = scene.run(["f.fut"]);
        let shown = text(&output);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(
            shown.contains(
                "expected a whole number of seconds from 1 to 86400, such as `timeout = 10`"
            ),
            "{shown}"
        );
    }
}
