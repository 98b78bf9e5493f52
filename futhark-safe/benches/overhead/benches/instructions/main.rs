//! The overhead of the typed interface in instructions, which do not depend on the load of the machine.
//!
//! `cargo bench -p futhark-safe-benches --bench instructions` runs each operation under callgrind, compares the
//! counts with `instructions.txt`, and fails if one has grown. `FUTHARK_BLESS=1` writes the file. Without
//! valgrind it measures nothing, and says so.

mod callgrind;
mod operations;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use callgrind::Counts;
use operations::{OPERATIONS, VARIANTS};

/// Calls of the shorter run. The longer one makes twice as many: the difference is free of the start.
const CALLS: u64 = 500;
/// How much a count may exceed the recorded one: this part of it, and two instructions. Another compiler
/// or processor gets more, since it arranges the same code differently.
const SLACK: (f64, f64) = (0.02, 0.25);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == "--run") {
        let times = args[at + 2].parse().expect("a number of calls");
        operations::run(&args[at + 1], times);
        return ExitCode::SUCCESS;
    }
    if version("valgrind").is_none() {
        println!(
            "instructions: skipped: valgrind was not found (Debian: apt-get install valgrind)"
        );
        return ExitCode::SUCCESS;
    }
    let tools = format!("{}; {}", tool("rustc"), tool("cc"));
    let found: BTreeMap<String, Counts> =
        names().map(|name| (name.clone(), count(&name))).collect();
    let text = write(&tools, &found);
    print!("{text}");
    if std::env::var_os("FUTHARK_BLESS").is_some() {
        std::fs::write(file(), text).expect("the file of counts can be written");
        return ExitCode::SUCCESS;
    }
    let recorded = std::fs::read_to_string(file()).expect("instructions.txt is in the package");
    let grown = compare(&recorded, &tools, &found);
    for line in &grown {
        println!("instructions: {line}");
    }
    match grown.is_empty() {
        true => ExitCode::SUCCESS,
        false => {
            println!("If this is intended, write the counts: FUTHARK_BLESS=1");
            ExitCode::FAILURE
        }
    }
}

/// All measurements: "c/add/typed".
fn names() -> impl Iterator<Item = String> {
    OPERATIONS.iter().flat_map(|operation| {
        let variants = VARIANTS.iter();
        variants.map(move |variant| format!("{operation}/{variant}"))
    })
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("instructions.txt")
}

/// The instructions of one call, in all and by function.
fn count(name: &str) -> Counts {
    let run = |times: u64| {
        let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("callgrind.{times}"));
        let output = Command::new("valgrind")
            .arg("--tool=callgrind")
            .arg(format!("--callgrind-out-file={}", out.display()))
            .arg("--compress-strings=no")
            .arg(std::env::current_exe().expect("this program has a path"))
            .args(["--run", name, &times.to_string()])
            .output()
            .expect("valgrind runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {said}");
        callgrind::read(&std::fs::read_to_string(out).expect("a profile"))
    };
    run(2 * CALLS).minus(&run(CALLS), CALLS)
}

/// A line per measurement, and where the instructions of the calls are.
fn write(tools: &str, found: &BTreeMap<String, Counts>) -> String {
    let mut text = format!(
        "# Instructions per call, by `cargo bench -p futhark-safe-benches --bench instructions`.\n\
         # `typed` and `scope` (inside of `Context::exclusive`) as more than plain C.\n\
         # tools: {tools}\n"
    );
    for operation in OPERATIONS {
        let all = |variant| found[&format!("{operation}/{variant}")].all;
        let plain = all("plain");
        let (typed, scope) = (all("typed") - plain, all("scope") - plain);
        let _ = writeln!(
            text,
            "{operation} plain={plain:.0} typed={typed:.0} scope={scope:.0}"
        );
    }
    for (name, counts) in found {
        let _ = writeln!(text, "#\n# {name}:");
        let mut parts: Vec<(&String, &f64)> = counts.parts.iter().collect();
        parts.sort_by(|a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
        for (part, count) in parts.into_iter().filter(|(_, count)| **count >= 1.5) {
            let _ = writeln!(text, "# {count:6.0} {part}");
        }
    }
    text
}

/// A message per count that is larger than the recorded one.
fn compare(recorded: &str, tools: &str, found: &BTreeMap<String, Counts>) -> Vec<String> {
    let same = recorded.contains(&format!("# tools: {tools}\n"));
    let slack = if same { SLACK.0 } else { SLACK.1 };
    let mut grown = Vec::new();
    let mut missing: Vec<&str> = OPERATIONS.to_vec();
    for line in recorded.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let operation = words.next().unwrap_or_default();
        missing.retain(|name| *name != operation);
        for (variant, allowed) in words.filter_map(|word| word.split_once('=')).skip(1) {
            let allowed: f64 = allowed.parse().expect("a number in instructions.txt");
            let all = |variant| {
                found
                    .get(&format!("{operation}/{variant}"))
                    .map(|counts| counts.all)
            };
            let (Some(plain), Some(more)) = (all("plain"), all(variant)) else {
                continue;
            };
            let more = more - plain;
            if more > allowed * (1.0 + slack) + 2.0 {
                grown.push(format!(
                    "{operation}/{variant}: {more:.0} more than plain C, expected {allowed:.0}"
                ));
            }
        }
    }
    grown.extend(
        missing
            .iter()
            .map(|name| format!("{name}: not in instructions.txt")),
    );
    grown
}

fn tool(name: &str) -> String {
    version(name).unwrap_or_else(|| format!("no {name}"))
}

/// The first line of what `name --version` prints.
fn version(name: &str) -> Option<String> {
    let output = Command::new(name).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(str::to_owned)
}
