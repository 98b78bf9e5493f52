//! Valid and invalid test blocks and their outcomes on the sequential backend.

use super::scene::{Run, Scene};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// Outcome and message of each test case of the folder.
fn cases(scene: &Scene, backend: &str) -> Cases {
    cases_of(&scene.run(&format!(". --all --check blocks --backend {backend}")))
}

fn cases_of(run: &Run) -> Cases {
    let records = run.texts(["case", "outcome", "message"]).into_iter();
    let owned = records.map(|record| record.map(str::to_owned));
    let cases: Cases = owned
        .map(|[case, outcome, message]| (case, (outcome, message)))
        .collect();
    assert!(!cases.is_empty(), "{}", run.shown());
    cases
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
    let scene = needed!(Scene::new(&[
        ("bad.fut", BAD_DATA),
        ("more.in", "3i64 and more"),
        ("junk.out", "this is not a value"),
    ]));
    scene.write("good.in", three);
    scene.write("short.in", &three[..10]);
    scene.write("i32.in", b"b\x02\x00 i32\x03\0\0\0");
    scene.write("damaged.in.gz", b"\x1f\x8b\x08 this is not compressed");
    let cases = cases(&scene, "c");
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
    let scene = needed!(Scene::new(&[("scripts.fut", SCRIPTS)]));
    let cases = cases(&scene, "multicore");
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
    let scene = needed!(Scene::new(&[("f.fut", source)]));
    let run = scene.run("f.fut --backend c --check plain");
    run.ends_with(0);
    let cases = cases_of(&run);
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
    let scene = needed!(Scene::new(&[("p.fut", PROPERTIES)]));
    let cases = cases(&scene, "c");
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
    needed!(crate::needs::full());
    let program = "-- ==\n-- input { 1 } output { 1 }\nentry main (x: i32) = x\n";
    let scene = needed!(Scene::new(&[("a.fut", program)]));
    let with = |tuning: &str| {
        scene.write("a.fut.tuning", tuning);
        cases(&scene, "c")
    };
    assert_eq!(with("")["main #0"].0, "pass");
    let unknown = with("main.suff_outer_par_0=3\n");
    failed(
        &unknown,
        "main #0",
        "a.fut.tuning: c has no tuning parameter",
    );
    failed(&with("garbage\n"), "main #0", "a.fut.tuning:1");
    fs::remove_file(scene.path("a.fut.tuning")).unwrap();
    std::os::unix::fs::symlink("/proc/self/environ", scene.path("a.fut.tuning")).unwrap();
    failed(&cases(&scene, "c"), "main #0", "use --allow-outside-data");
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
fn curious() -> Option<Scene> {
    let program = CURIOUS.replace("../secret.in", "../../secret.in");
    let scene = Scene::new(&[
        ("secret.in", SECRET),
        ("corpus/programs/f.fut", &program),
        ("corpus/data/one.in", "[1u8]"),
    ])?;
    let at = |name: &str| scene.path("corpus/programs").join(name);
    std::os::unix::fs::symlink("../../secret.in", at("link.in")).unwrap();
    std::os::unix::fs::symlink("../..", at("folder")).unwrap();
    let pipe = Command::new("mkfifo").arg(at("pipe.in")).status();
    assert!(pipe.unwrap().success());
    Some(scene)
}

/// The cases, and everything that the run printed and wrote.
fn run_curious(scene: &Scene, paths: &str) -> (Cases, String) {
    let options =
        "--all --check blocks --backend c --timeout 20 --junit r.xml --html r.html --summary r.md";
    let mut command = scene.compiling(&format!("run {paths} {options} --json report.jsonl"));
    let run = scene.ended(command.env("SECRET_OF_THE_JOB", SECRET));
    let reports = ["report.jsonl", "r.xml", "r.html", "r.md"].map(|report| scene.read(report));
    (cases_of(&run), run.shown() + &reports.concat())
}

#[test]
fn files_outside_of_the_corpus_are_not_read() {
    let scene = needed!(curious());
    let (cases, all) = run_curious(&scene, "corpus");
    for case in "environment,above,link,linked folder,output,script,script file".split(',') {
        failed(&cases, &format!("f {case}"), "use --allow-outside-data");
    }
    assert_eq!(cases["f inside"].0, "pass", "{cases:?}");
    failed(&cases, "f pipe", "not a regular file");
    assert!(!all.contains("correct-horse"), "{all}");
    // Of a program that is named itself, only its own folder.
    let (cases, _) = run_curious(&scene, "corpus/programs/f.fut");
    failed(&cases, "f inside", "use --allow-outside-data");
}

#[test]
fn files_outside_of_the_corpus_are_quoted_by_their_beginning_if_they_are_allowed() {
    let scene = needed!(curious());
    let (cases, all) = run_curious(&scene, "corpus/programs/f.fut --allow-outside-data");
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
    let scene = needed!(Scene::new(&[("e.fut", program)]));
    let run = |further: &str| {
        let arguments =
            "run e.fut --check blocks --backend c --json report.jsonl --allow-outside-data";
        let mut command = scene.compiling(arguments);
        command.env("FUTHARK_PASS_ENV", further);
        command
            .env("SECRET_OF_THE_JOB", SECRET)
            .env("FUTHARK_TESTS_SEEN", "1");
        cases_of(&scene.ended(&mut command))
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
    needed!(crate::needs::full());
    let names: String = (0..5_000).map(|i| format!(" f{i}")).collect();
    let hostile = format!(
        "-- ==\n-- entry:{names}\n{}entry f (x: i32) = x\n",
        "-- input{1}\n".repeat(200)
    );
    assert!(hostile.len() < 45_000);
    let innocent = "-- ==\n-- entry: f\n-- input { 1 } output { 1 }\nentry f (x: i32) = x\n";
    let scene = needed!(Scene::new(&[
        ("hostile.fut", &hostile),
        ("innocent.fut", innocent)
    ]));
    let run = scene.run(". --all --check blocks --backend c --memory 512");
    run.ends_with(1);
    let cases = cases_of(&run);
    failed(&cases, "syntax", "more than 10000 test cases");
    assert_eq!(cases["f #0"].0, "pass", "{cases:?}");
}
