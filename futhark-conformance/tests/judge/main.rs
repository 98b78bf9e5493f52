//! Compares the verdicts of `futhark-conformance` and `futhark test` on every test case: of a
//! few programs, and, with `FUTHARK_TESTS_FULL`, of `programs/`, with every compiler.
//!
//! Both run one copy of the programs, in which every test case has a unique name. If everything
//! passes, agreement proves little, so the copy has a second version of each case, with a mistake in
//! it.

#![forbid(unsafe_code)]

#[macro_use]
#[path = "../support/needs.rs"]
mod needs;

mod alter;
mod futhark_test;
#[allow(dead_code, reason = "other test programs use the other functions")]
#[path = "../support/run.rs"]
mod run;
mod tally;

use futhark_conformance::Corpus;
use futhark_conformance::blocks::TestBlocks;
use run::Run;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use tally::{Finding, Tally};

/// A copied program.
struct Copied {
    /// The path in the folder of the copies.
    path: String,
    /// The test blocks; none if they cannot be parsed.
    blocks: Option<TestBlocks>,
}

/// Only with `FUTHARK_TESTS_FULL`, because `futhark test` compiles each program, too.
#[test]
fn verdicts_on_the_corpus_equal_those_of_futhark_test() {
    needed!(needs::full());
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    for compiler in needs::compilers() {
        let version = compiler.version();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("judge-{version}"));
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        let copies = copy(&programs, &folder);
        let futhark = compiler.program().canonicalize().unwrap();
        let tally = judge(&folder, &copies, &futhark);
        println!("Futhark {version}: {tally}");
        assert!(
            tally.differences.is_empty(),
            "{}",
            tally.differences.join("\n")
        );
        assert!(tally.passed > 0 && tally.failed > 0, "{tally}");
    }
}

const SEVERAL: &str = "\
-- ==
-- entry: f unknown
-- input { 1 } output { 1 }
-- \"wrong\" input { 1 } output { 2 }
-- input { 1 } error: .
-- no_c input { 1 } output { 2 }
entry f (x: i32) = x
";

/// Both verdicts are equal for correct and wrong cases, for an unknown entry point, for malformed
/// blocks, and for programs that must not compile or do not compile.
#[test]
fn verdicts_on_programs_that_fail_equal_those_of_futhark_test() {
    let futhark = needed!(needs::compiler_path());
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("programs")).unwrap();
    for (name, source) in [
        ("several.fut", SEVERAL),
        (
            "unreadable.fut",
            "-- ==\n-- input { 1 output { 1 }\ndef main (x: i32) = x\n",
        ),
        (
            "must_not.fut",
            "-- ==\n-- error: nowhere\ndef main (x: i32) = nowhere\n",
        ),
        (
            "does.fut",
            "-- ==\n-- error: nowhere\ndef main (x: i32) = x\n",
        ),
        (
            "does_not.fut",
            "-- ==\n-- input { 1 } output { 1 }\ndef main (x: i32) = nowhere\n",
        ),
    ] {
        fs::write(path("programs").join(name), source).unwrap();
    }
    let copies = copy(&path("programs"), &path("copies"));
    let tally = judge(&path("copies"), &copies, &futhark);
    assert_eq!(tally.differences, [""; 0], "{tally}");
    // In several.fut: two entry points with three cases each that run, and one altered copy of each
    // case. The other programs have one verdict each.
    assert_eq!(
        (tally.programs, tally.passed, tally.failed, tally.open),
        (5, 3, 13, 4),
        "{tally}"
    );
}

/// The verdicts of both on the copies in the folder.
fn judge(folder: &Path, copies: &[Copied], futhark: &Path) -> Tally {
    let theirs = futhark_test::verdicts(folder, copies, futhark);
    let ours = our_verdicts(folder, copies, futhark);
    let mut tally = Tally::default();
    for (copied, theirs) in copies.iter().zip(&theirs) {
        let ours = ours.get(&copied.path).map(Vec::as_slice);
        tally.add(copied, theirs, ours.unwrap_or_default());
    }
    tally
}

/// The results of this program, by the path of the copy.
fn our_verdicts(folder: &Path, copies: &[Copied], futhark: &Path) -> HashMap<String, Vec<Finding>> {
    let report = folder.join("report.jsonl");
    // Nothing is expected to fail.
    let expectations = folder.join("nothing.toml");
    fs::write(&expectations, "").unwrap();
    let mut command = run::command();
    command.current_dir(folder).arg("run");
    command.args(copies.iter().map(|copied| &copied.path));
    command.args(["--backend", "c", "--check", "compile", "--check", "blocks"]);
    // As for `futhark test`.
    command.arg("--allow-outside-data");
    command.arg("--expectations").arg(&expectations);
    command.arg("--futhark").arg(futhark);
    command.arg("--json").arg(&report);
    command.arg("--build-dir").arg(run::kept());
    let run = Run::new(&mut command, &report);
    assert!(matches!(run.code(), Some(0 | 1)), "{}", run.shown());
    let mut found: HashMap<String, Vec<Finding>> = HashMap::new();
    for record in run.texts(["program", "check", "case", "outcome", "message"]) {
        let [program, check, case, outcome, message] = record.map(str::to_owned);
        found.entry(program).or_default().push(Finding {
            check,
            case,
            outcome,
            message,
        });
    }
    found
}

/// Copies the folder of the programs, with their data, and changes those with verdicts to compare.
fn copy(programs: &Path, to: &Path) -> Vec<Copied> {
    for entry in walkdir::WalkDir::new(programs) {
        let entry = entry.expect("the folder can be read");
        let copy = to.join(entry.path().strip_prefix(programs).unwrap());
        match entry.file_type().is_dir() {
            true => fs::create_dir_all(copy).unwrap(),
            false => drop(fs::copy(entry.path(), copy).unwrap()),
        }
    }
    let corpus = Corpus::find(&[programs.to_owned()]).expect("there are programs");
    let mut copies = Vec::new();
    for program in corpus.programs() {
        let inside = program.path.strip_prefix(programs).unwrap();
        let mut source = fs::read_to_string(&program.path).unwrap();
        if let Ok(blocks) = TestBlocks::parse(&source) {
            // `futhark test` cannot judge a process that dies.
            let is_excluded = |tag: &String| ["no_c", "kills"].contains(&tag.as_str());
            let has_verdict = !blocks.cases.is_empty()
                || blocks.compile_error.is_some()
                || !blocks.warnings.is_empty();
            if !has_verdict || blocks.tags.iter().any(is_excluded) {
                continue;
            }
            source = named_and_altered(&source, &blocks);
            fs::write(to.join(inside), &source).unwrap();
        }
        copies.push(Copied {
            path: inside.to_str().unwrap().to_owned(),
            blocks: TestBlocks::parse(&source).ok(),
        });
    }
    copies
}

/// The source with a name for each unnamed case, and with an altered copy of each case at its end.
fn named_and_altered(source: &str, blocks: &TestBlocks) -> String {
    let mut out = String::with_capacity(2 * source.len());
    // A case for several entry points occurs once in the source.
    let places = blocks
        .cases
        .iter()
        .map(|case| (case.span.start, case.named));
    let places: BTreeMap<usize, bool> = places.collect();
    let mut at = 0;
    for (number, (start, named)) in places.into_iter().enumerate() {
        out.push_str(&source[at..start]);
        if !named {
            out.push_str(&format!("\"case {number}\" "));
        }
        at = start;
    }
    out.push_str(&source[at..]);
    for (number, case) in blocks.cases.iter().enumerate() {
        if let Some(text) = alter::alter(number, source, case) {
            let entry = &case.entry;
            out.push_str(&format!(
                "\n-- ==\n-- entry: {entry}\n-- \"altered {number}\" {text}\n"
            ));
        }
    }
    out
}

#[test]
fn every_case_gets_a_name_and_an_altered_copy() {
    let source = "-- ==\n-- entry: f g\n-- input { 1 } output { 1 } \"b\" input { 2 }\nx\n";
    let altered = named_and_altered(source, &TestBlocks::parse(source).unwrap());
    let blocks = TestBlocks::parse(&altered).unwrap();
    let names: Vec<_> = blocks.cases.iter().map(|case| case.data_name()).collect();
    assert_eq!(names[..4], ["case 0", "b", "case 0", "b"], "{altered}");
    let copies = ["altered 0", "altered 1", "altered 2", "altered 3"];
    assert_eq!(names[4..], copies, "{altered}");
}
