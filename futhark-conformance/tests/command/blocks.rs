//! Valid and invalid test blocks and their outcomes on the sequential backend.

use super::{build_dir, command, needs, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with files, and the newest compiler.
struct Corpus {
    folder: TempDir,
    compiler: PathBuf,
}

impl Corpus {
    fn new(files: &[(&str, &[u8])]) -> Option<Corpus> {
        let compiler = needs::compiler_path()?;
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        for (name, contents) in files {
            fs::write(folder.path().join(name), contents).expect("the folder can be written");
        }
        Some(Corpus { folder, compiler })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(self.path());
        command.args(arguments).arg("--build-dir").arg(build_dir());
        command.arg("--futhark").arg(&self.compiler);
        command
    }

    fn conformance(&self, arguments: &[&str]) -> Output {
        self.command(arguments)
            .output()
            .expect("the program starts")
    }

    /// Outcome and message of each test case.
    fn cases(&self, backend: &str) -> Cases {
        let arguments = [
            "run",
            ".",
            "--all",
            "--check",
            "blocks",
            "--json",
            "report.jsonl",
            "--backend",
            backend,
        ];
        let output = self.conformance(&arguments);
        assert!(
            self.path().join("report.jsonl").exists(),
            "{}",
            text(&output)
        );
        self.records("report.jsonl")
    }

    /// The cases in a report.
    fn records(&self, report: &str) -> Cases {
        let report = fs::read_to_string(self.path().join(report)).expect("there is a report");
        // All lines except the header and the end.
        let records = report
            .lines()
            .skip(1)
            .filter(|line| line.starts_with("{\"program\""));
        let records = records.map(|line| {
            let record: Value = serde_json::from_str(line).expect("each line is JSON");
            let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
            (text("case"), (text("outcome"), text("message")))
        });
        records.collect()
    }
}

type Cases = BTreeMap<String, (String, String)>;

#[track_caller]
fn failed(cases: &Cases, case: &str, saying: &str) {
    let (outcome, message) = cases
        .get(case)
        .unwrap_or_else(|| panic!("{case}: {cases:?}"));
    assert_eq!(outcome, "fail", "{case}: {message}");
    assert!(message.contains(saying), "{case}: {message}");
}

const BAD_DATA: &str = "\
-- ==
-- entry: f
-- \"good\" input @ good.in output { 3i64 }
-- \"missing\" input @ nowhere.in output { 3i64 }
-- \"cut short\" input @ short.in output { 3i64 }
-- \"another type\" input @ i32.in output { 3i64 }
-- \"more\" input @ more.in output { 3i64 }
-- \"damaged\" input @ damaged.in.gz output { 3i64 }
-- \"no values\" input { 3i64 } output @ junk.out
-- \"no suffix\" input { 3 } output { 3i64 }
-- \"another number of arguments\" input { 3i64 4i64 } output { 3i64 }
-- \"good again\" input { 3i64 } output { 3i64 }
entry f (x: i64) = x
";

#[test]
fn a_bad_data_file_fails_its_case() {
    let three = b"b\x02\x00 i64\x03\0\0\0\0\0\0\0";
    let Some(corpus) = Corpus::new(&[
        ("bad.fut", BAD_DATA.as_bytes()),
        ("good.in", three),
        ("short.in", &three[..10]),
        ("i32.in", b"b\x02\x00 i32\x03\0\0\0"),
        ("more.in", b"3i64 and more"),
        ("damaged.in.gz", b"\x1f\x8b\x08 this is no compressed data"),
        ("junk.out", b"this is no value"),
    ]) else {
        return;
    };
    let cases = corpus.cases("c");
    for case in ["f good", "f good again"] {
        assert_eq!(cases[case].0, "pass", "{cases:?}");
    }
    // Data are often not part of a corpus. The first line is the same for every program.
    let (outcome, message) = &cases["f missing"];
    let expected = "a data file of the test block does not exist: fetch or generate the data of the corpus\n./nowhere.in\nat ./bad.fut:4";
    assert_eq!((outcome.as_str(), message.as_str()), ("skip", expected));
    failed(&cases, "f cut short", "short.in at byte 7: truncated");
    for case in ["f another type", "f no suffix"] {
        failed(&cases, case, "expected arguments of types (i64), got (i32)");
    }
    failed(&cases, "f more", "more.in at byte 5: expected a value");
    failed(&cases, "f damaged", "damaged.in.gz");
    failed(&cases, "f no values", "junk.out at byte 0");
    failed(&cases, "f another number of arguments", "got (i64 i64)");
}

const SCRIPTS: &str = "\
type~ data = (i64, []f32)
entry data (n: i64) : data = (n, map f32.i64 (iota n))
entry pair (n: i64) : (i64, i64) = (n, n)
entry zeros (n: i64) : []i64 = replicate n 0
entry clear (xs: *[]i64) : *[]i64 = xs with [0] = 1
entry g (x: i64) = assert (x >= 0) x
entry h (r: {a: i32}) = i64.i32 r.a

-- ==
-- entry: f
-- \"a call\" script input { g 3 } output { 3i64 }
-- \"let\" script input { let x = g 3 in x } output { 3i64 }
-- \"a record\" script input { h {a = 1} } output { 1i64 }
-- \"another type\" script input { 3 } output { 3i64 }
-- \"nobody\" script input { nobody 3 } output { 3i64 }
-- \"too few\" script input { g } output { 3i64 }
-- \"fails inside\" script input { g -1 } error: .
-- \"auto\" random input { i64 } auto output
-- \"a call of a value\" script input { let x = 3i64 in x 1 }
-- \"a truth value\" script input { true }
-- \"twice a field\" script input { h {a = 1, a = 2} }
-- \"unknown\" script input { $nothing }
entry f (x: i64) = x

-- ==
-- entry: work
-- \"a tuple\" script input { (3i64, [1f32]) }
-- \"a pattern\" script input { let (n, xs) = data 3i64 in (n, xs) }
-- \"a name for two\" script input { let x = pair 3i64 in data 3i64 }
entry work ((n, xs): data) : f32 = f32.i64 n + f32.sum xs

-- ==
-- entry: two
-- \"shared\" script input { let x = zeros 2 in (x, x) }
-- \"consumed\" script input { let x = zeros 2 in let y = clear x in (x, y) }
entry two (xs: []i64) (ys: []i64) : i64 = xs[0] + ys[0]
";

/// The failing cases fail with `futhark test`, too, except `consumed`: `futhark test` lets a script
/// use an array after it was consumed.
#[test]
fn scripts_run_or_fail_with_a_reason() {
    let Some(corpus) = Corpus::new(&[("scripts.fut", SCRIPTS.as_bytes())]) else {
        return;
    };
    let cases = corpus.cases("multicore");
    for case in ["f a call", "f let", "f a record", "f auto"] {
        assert_eq!(cases[case].0, "pass", "{cases:?}");
    }
    for (case, saying) in [
        ("f another type", "got (i32)"),
        ("f nobody", "\"nobody\", which is not an entry point"),
        ("f too few", "g with too few arguments"),
        ("f fails inside", "Assertion is false"),
        ("f a call of a value", "\"x\", which is a local name"),
        ("f a truth value", "\"true\", which is not an entry point"),
        ("f twice a field", "two fields \"a\""),
        ("f unknown", "\"$nothing\", which is not a builtin function"),
        ("work a tuple", "got (i64, []f32)"),
        ("work a pattern", "binds \"n, xs\" to a value of type data"),
        (
            "work a name for two",
            "binds \"x\" to a value of type (i64, i64)",
        ),
        ("two shared", "again after it was consumed or given"),
        ("two consumed", "again after it was consumed or given"),
    ] {
        failed(&cases, case, saying);
    }
}

/// A C program cannot contain arguments from a script, and the record says so.
#[test]
fn failing_cases_are_called_by_a_c_program_or_skipped_with_a_reason() {
    let source = "-- ==\n-- entry: f\n-- input { 0i64 } error: division\n\
                  -- script input { 0i64 } error: division\nentry f (x: i64) = 1 / x\n";
    let Some(corpus) = Corpus::new(&[("f.fut", source.as_bytes())]) else {
        return;
    };
    let arguments = "run f.fut --backend c --check plain --json report.jsonl";
    let output = corpus.conformance(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let cases = corpus.records("report.jsonl");
    let outcomes = cases
        .iter()
        .map(|(case, (outcome, _))| (&**case, &**outcome));
    let expected = [("", "pass"), ("f #0", "pass"), ("f #1", "skip")];
    assert_eq!(outcomes.collect::<Vec<_>>(), expected);
    assert!(cases["f #1"].1.contains("a script"), "{cases:?}");
}

const PROPERTIES: &str = "\
-- ==
-- property: involution even

-- ==
-- property: sized made broken nothing

#[prop]
entry involution (xs: []i32) : bool = and (map2 (==) (reverse (reverse xs)) xs)

#[prop]
entry even (x: i16) : bool = x % 2 == 0

entry numbers (size: i64) (seed: i32) : []i32 =
  map (\\i -> if seed == 0 then 1 else i32.i64 i) (iota size)

#[prop(gen(numbers), size(7))]
entry sized (xs: []i32) : bool = length xs == 7

#[prop(gen(numbers))]
entry made (xs: []i32) : bool = length xs == 50 && xs[49] == 49

#[prop(gen(numbers))]
entry broken (xs: []i32) : bool = xs[50] == 0
";

#[test]
fn properties_are_called_with_generated_values() {
    let Some(corpus) = Corpus::new(&[("p.fut", PROPERTIES.as_bytes())]) else {
        return;
    };
    let cases = corpus.cases("c");
    for case in ["involution", "sized", "made"] {
        assert_eq!(cases[case].0, "pass", "{case}: {}", cases[case].1);
    }
    failed(&cases, "even", "expected true, got false");
    failed(&cases, "even", "a property that holds for even\n  x = ");
    failed(&cases, "broken", "out of bounds");
    failed(&cases, "broken", "xs = numbers");
    failed(&cases, "nothing", "no entry point");
}

#[test]
fn a_tuning_file_with_another_name_fails_the_test_cases() {
    let program = "-- ==\n-- input { 1 } output { 1 }\nentry main (x: i32) = x\n";
    let Some(corpus) = Corpus::new(&[("a.fut", program.as_bytes())]) else {
        return;
    };
    let with = |tuning: &str| {
        fs::write(corpus.path().join("a.fut.tuning"), tuning).unwrap();
        corpus.cases("c")
    };
    assert_eq!(with("")["main #0"].0, "pass");
    let unknown = with("main.suff_outer_par_0=3\n");
    failed(
        &unknown,
        "main #0",
        "a.fut.tuning: c has no tuning parameter",
    );
    failed(&with("garbage\n"), "main #0", "a.fut.tuning:1");
    fs::remove_file(corpus.path().join("a.fut.tuning")).unwrap();
    std::os::unix::fs::symlink("/proc/self/environ", corpus.path().join("a.fut.tuning")).unwrap();
    failed(&corpus.cases("c"), "main #0", "use --allow-outside-data");
}

/// A line of a file that nobody but its owner should see.
const SECRET: &str =
    "PASSWORD=correct-horse-battery-staple-and-more-words-than-a-message-should-have";

const CURIOUS: &str = "\
-- ==
-- entry: f
-- \"environment\" input @ /proc/self/environ output { 1u8 }
-- \"above\" input @ ../secret.in output { 1u8 }
-- \"link\" input @ link.in output { 1u8 }
-- \"linked folder\" input @ folder/secret.in output { 1u8 }
-- \"output\" input { [1u8] } output @ ../secret.in
-- \"script\" script input { $loadbytes \"../secret.in\" } output { 1u8 }
-- \"script file\" script input @ ../secret.in output { 1u8 }
-- \"inside\" input @ ../data/one.in output { 1u8 }
-- \"pipe\" input @ pipe.in output { 1u8 }
entry f (xs: []u8) = xs[0]
";

/// The folder `corpus`, with the program, and the secret beside it.
fn curious() -> Option<Corpus> {
    let corpus = Corpus::new(&[("secret.in", SECRET.as_bytes())])?;
    for folder in ["corpus/programs", "corpus/data"] {
        fs::create_dir_all(corpus.path().join(folder)).unwrap();
    }
    let at = |name: &str| corpus.path().join("corpus").join(name);
    fs::write(
        at("programs/f.fut"),
        CURIOUS.replace("../secret.in", "../../secret.in"),
    )
    .unwrap();
    fs::write(at("data/one.in"), "[1u8]").unwrap();
    std::os::unix::fs::symlink("../../secret.in", at("programs/link.in")).unwrap();
    std::os::unix::fs::symlink("../..", at("programs/folder")).unwrap();
    let pipe = Command::new("mkfifo").arg(at("programs/pipe.in")).status();
    assert!(pipe.unwrap().success());
    Some(corpus)
}

fn run_curious(corpus: &Corpus, options: &[&str]) -> (Cases, String) {
    let checks = [
        "run",
        "--all",
        "--check",
        "blocks",
        "--backend",
        "c",
        "--timeout",
        "20",
    ];
    let mut command = corpus.command(&checks);
    command.args([
        "--json",
        "r.jsonl",
        "--junit",
        "r.xml",
        "--html",
        "r.html",
        "--summary",
        "r.md",
    ]);
    let output = command
        .args(options)
        .env("SECRET_OF_THE_JOB", SECRET)
        .output()
        .unwrap();
    let mut all = text(&output);
    for report in ["r.jsonl", "r.xml", "r.html", "r.md"] {
        all.push_str(&fs::read_to_string(corpus.path().join(report)).expect(&all));
    }
    (corpus.records("r.jsonl"), all)
}

#[test]
fn files_outside_of_the_corpus_are_not_read() {
    let Some(corpus) = curious() else { return };
    let (cases, all) = run_curious(&corpus, &["corpus"]);
    for case in [
        "environment",
        "above",
        "link",
        "linked folder",
        "output",
        "script",
        "script file",
    ] {
        failed(&cases, &format!("f {case}"), "use --allow-outside-data");
    }
    assert_eq!(cases["f inside"].0, "pass", "{cases:?}");
    failed(&cases, "f pipe", "not a regular file");
    assert!(!all.contains("correct-horse"), "{all}");
    // Of a program that is named itself, only its own folder.
    let (cases, _) = run_curious(&corpus, &["corpus/programs/f.fut"]);
    failed(&cases, "f inside", "use --allow-outside-data");
}

#[test]
fn files_outside_of_the_corpus_are_quoted_by_their_beginning_if_they_are_allowed() {
    let Some(corpus) = curious() else { return };
    let (cases, all) = run_curious(&corpus, &["corpus/programs/f.fut", "--allow-outside-data"]);
    assert_eq!(cases["f inside"].0, "pass", "{cases:?}");
    for case in ["above", "link", "output"] {
        failed(
            &cases,
            &format!("f {case}"),
            "found \"PASSWORD=correct-horse",
        );
    }
    failed(&cases, "f pipe", "not a regular file");
    assert!(
        all.contains("correct-horse") && !all.contains("words-than-a-message"),
        "{all}"
    );
}

/// With every variable, or half a page of them, in one token.
#[test]
fn programs_do_not_get_the_environment_of_the_job() {
    let program = "\
-- ==
-- script input { $loadbytes \"/proc/self/environ\" } output { false }
def main [n] (xs: [n]u8) : bool =
  let secret = \"SECRET_OF_THE_JOB=\"
  in any (\\at -> n - at >= 18 && all (\\i -> xs[at + i] == secret[i]) (iota 18)) (iota n)

-- ==
-- entry: path
-- script input { $loadbytes \"/proc/self/environ\" } output { true }
entry path [n] (xs: [n]u8) : bool =
  let name = \"FUTHARK_TESTS_SEEN\"
  in any (\\at -> n - at >= 18 && all (\\i -> xs[at + i] == name[i]) (iota 18)) (iota n)
";
    let Some(corpus) = Corpus::new(&[("e.fut", program.as_bytes())]) else {
        return;
    };
    let run = |further: &str| {
        let mut command = corpus.command(&["run", "e.fut", "--check", "blocks", "--backend", "c"]);
        command.args(["--json", "r.jsonl", "--allow-outside-data"]);
        command
            .env("FUTHARK_PASS_ENV", further)
            .env("SECRET_OF_THE_JOB", SECRET)
            .env("FUTHARK_TESTS_SEEN", "1");
        let output = command.output().unwrap();
        assert!(
            output.status.code().is_some_and(|code| code < 2),
            "{}",
            text(&output)
        );
        corpus.records("r.jsonl")
    };
    let cases = run("");
    assert!(
        cases.values().all(|(outcome, _)| outcome == "pass"),
        "{cases:?}"
    );
    let cases = run("SECRET_OF_THE_JOB");
    failed(&cases, "main #0", "expected false, got true");
}

/// A block of 45 KB with 20,000 entry points and 200 test cases would have four million.
#[test]
fn a_program_with_too_many_test_cases_fails_alone() {
    let names: String = (0..20_000).map(|_| " f").collect();
    let hostile = format!(
        "-- ==\n-- entry:{names}\n{}entry f (x: i32) = x\n",
        "-- input{1}\n".repeat(200)
    );
    assert!(hostile.len() < 45_000);
    let innocent = "-- ==\n-- entry: f\n-- input { 1 } output { 1 }\nentry f (x: i32) = x\n";
    let files = [
        ("hostile.fut", hostile.as_bytes()),
        ("innocent.fut", innocent.as_bytes()),
    ];
    let Some(corpus) = Corpus::new(&files) else {
        return;
    };
    let mut command = corpus.command(&["run", ".", "--all", "--check", "blocks", "--backend", "c"]);
    let output = command
        .args(["--json", "r.jsonl", "--memory", "512"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let cases = corpus.records("r.jsonl");
    failed(&cases, "syntax", "more than 10000 test cases");
    assert_eq!(cases["f #0"].0, "pass", "{cases:?}");
}
