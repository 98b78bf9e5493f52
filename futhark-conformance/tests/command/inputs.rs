//! Generated inputs: a failure is found, shrunk, repeated and kept.

use super::repeat_command;
use super::run::kept;
use super::scene::{Run, Scene, assert_has};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A known compiler bug: full reductions of f16 on multicore return 0.
const HALF: &str = "entry sum (xs: []f16) : f16 = f16.sum xs\n";

/// The start of the shrunk input of the bug, which is a single number.
const SIMPLEST: &str = "\n  xs = [";

/// A program for which no failing inputs are kept.
struct Bench {
    scene: Scene,
    /// The name of the program, without `.fut`, which no other test has.
    name: String,
}

impl Bench {
    fn new(program: &str) -> Option<Bench> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("bench{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let scene = Scene::new(&[(&format!("{name}.fut"), program)])?;
        let bench = Bench { scene, name };
        let _ = fs::remove_dir_all(bench.regressions());
        Some(bench)
    }

    /// The folder of failing inputs.
    fn regressions(&self) -> PathBuf {
        kept().join("regressions").join(&self.name)
    }

    fn run(&self, arguments: &str) -> Run {
        self.scene.run(&format!("{}.fut {arguments}", self.name))
    }

    fn differential(&self, arguments: &str) -> Run {
        self.run(&format!(
            "--backend multicore --check differential {arguments}"
        ))
    }

    /// The files of kept inputs.
    fn kept(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.regressions()).into_iter().flatten();
        let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
        files.sort();
        files
    }
}

#[test]
fn a_bug_without_a_test_case_is_found_shrunk_and_repeated() {
    let bench = needed!(Bench::new(HALF));
    let run = bench.differential("--seed 7");
    let shown = run.ends_with(1);
    let (outcome, message) = run.case("differential", "sum");
    assert_eq!(outcome, "fail");
    assert_has(message, "got 0.0");
    // One element, for every seed.
    let input = message.split(SIMPLEST).nth(1).expect("the input is shown");
    let elements = input.split(']').next().unwrap_or_default();
    assert!(!elements.contains(','), "{message}");

    let line = repeat_command(&shown);
    assert_has(&line, "--seed 7");
    assert_has(&line, "differential:sum");
    let scene = &bench.scene;
    let again = scene.ended(&mut scene.shell(&line)).ends_with(1);
    assert_has(&again, message.lines().next().unwrap_or_default());

    // The same seed finds the same input.
    let other = needed!(Bench::new(HALF));
    let run = other.differential("--seed 7");
    let (_, same) = run.case("differential", "sum");
    let [first, second] = [message, same].map(|message| message.split("\nkept in ").next());
    assert_eq!(first, second);
    let [first, second] = [&bench, &other].map(|bench| bench.kept()[0].clone());
    assert_eq!(first.file_name(), second.file_name());
}

#[test]
fn failing_inputs_are_kept_and_tried_first() {
    let bench = needed!(Bench::new(HALF));
    bench.differential("--seed 1");
    let kept = bench.kept();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let text = fs::read_to_string(&kept[0]).expect("it can be read");
    let file: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(file["entry"], "sum");
    assert!(
        file["found"]
            .as_str()
            .is_some_and(|found| found.contains("multicore"))
    );

    // An input added by hand is tried before generated ones, and is not
    // shrunk.
    let ours = kept[0].with_file_name("a.json");
    let long = r#"{"entry": "sum", "found": "by hand", "arguments": [{"value": "f16",
        "shape": [3], "bits": ["0x3c00", "0x4000", "0x4200"], "shown": ""}]}"#;
    fs::write(&ours, long).expect("the folder can be written");
    let run = bench.differential("--seed 99");
    let (_, message) = run.case("differential", "sum");
    assert_has(message, "xs = [1.0f16, 2.0, 3.0]");

    // Only this input, and on a backend without the bug.
    let file = ours.to_str().expect("a path in UTF-8");
    let alone = bench.differential(&format!("--input {file}"));
    assert_eq!(alone.case("differential", "sum").0, "fail");
    let missing = bench.differential("--input nowhere.json");
    assert!(
        missing.shown().contains("nowhere.json"),
        "{}",
        missing.shown()
    );
    assert_ne!(missing.code(), Some(0));
}

#[test]
fn an_input_that_kills_the_process_is_kept_without_shrinking() {
    needed!(crate::needs::full());
    let wild = "entry wild (xs: [4]i64) : i64 = i64.sum xs\n";
    let mut bench = needed!(Bench::new(wild));
    // A compiler whose entry points on multicore write to address 0.
    let text = r#"'REAL' "$@" || exit
case "$1 $2" in
'multicore --library') sed -i '/^int futhark_entry_wild(.*)$/{n;s/{/{ *(volatile int *)0 = 1;/}' "$5.c" ;;
esac
"#;
    let real = bench.scene.futhark.display().to_string();
    bench.scene.futhark = bench.scene.script("futhark", &text.replace("REAL", &real));
    let run = bench.differential("--seed 1");
    let (outcome, message) = run.case("differential", "wild");
    assert_eq!(outcome, "fail", "{}", run.shown());
    assert_has(message, "SIGSEGV");
    let kept = bench.kept();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let text = fs::read_to_string(&kept[0]).expect("it can be read");
    assert_has(&text, "the process died");
    let file = kept[0].to_str().expect("a path in UTF-8");
    let again = bench.differential(&format!("--input {file}"));
    assert!(again.case("differential", "wild").1.contains("SIGSEGV"));
}

#[test]
fn an_endless_call_is_not_a_failure() {
    needed!(crate::needs::full());
    let spin = "entry spin (x: i32) : i32 = loop x while x > 0 do x ^ 2\n\
                entry fine (x: i32) : i32 = x + 1\n";
    let bench = needed!(Bench::new(spin));
    let run = bench.differential("--timeout 16");
    run.ends_with(0);
    let (outcome, message) = run.case("differential", "spin");
    assert_eq!(outcome, "skip");
    assert_has(message, "too slow for this check");
    assert_eq!(run.case("differential", "fine").0, "pass");
}

#[test]
fn equal_sizes_are_learnt() {
    needed!(crate::needs::full());
    let program = "\
entry product [n] [m] [k] (a: [n][m]i32) (b: [m][k]i32) : [n][k]i32 =
  map (\\r -> map (\\c -> i32.sum (map2 (*) r c)) (transpose b)) a
entry explicit (n: i64) (four: [4]i32) (xs: [n]i32) : [n]i32 = map (+ four[3]) xs
entry squares [n] (xs: [n][n]i64) (ys: [n]i64) : i64 = i64.sum ys + i64.sum (flatten xs)
entry longer [n] (xs: [n + 1]i32) (ys: [n]i32) : i32 = xs[n] + i32.sum ys
";
    let bench = needed!(Bench::new(program));
    let run = bench.differential("--seed 1");
    for entry in ["product", "explicit", "squares", "longer"] {
        // An entry point that accepts nothing would be skipped.
        let (outcome, message) = run.case("differential", entry);
        assert_eq!(outcome, "pass", "{entry}: {message}");
    }
}

#[test]
fn values_of_every_structure_are_compared_on_every_side() {
    needed!(crate::needs::full());
    let program = "\
module counter : { type t val make : i32 -> t val add : t -> i32 -> t val get : t -> i32 } = {
  type t = {sum: i32, calls: i64}
  def make (x: i32) : t = {sum = x, calls = 0}
  def add (c: t) (x: i32) : t = {sum = c.sum + x, calls = c.calls + 1}
  def get (c: t) : i32 = c.sum
}
type point = {x: f32, y: f32}
type shape [n] = #circle f32 | #polygon [n]f32 | #nothing

entry make (x: i32) : counter.t = counter.make x
entry add (c: counter.t) (x: i32) : counter.t = counter.add c x
entry get (c: counter.t) : i32 = counter.get c
entry many (xs: []i32) : []counter.t = map counter.make xs
entry total (cs: []counter.t) : i32 = i32.sum (map counter.get cs)
entry moved (ps: []point) (by: point) : []point = map (\\p -> {x = p.x + by.x, y = p.y + by.y}) ps
entry area [n] (s: shape [n]) : f32 =
  match s case #circle r -> r * r case #polygon xs -> f32.sum xs case #nothing -> 0
";
    let bench = needed!(Bench::new(program));
    for (backend, check) in [("multicore", "differential"), ("c", "server")] {
        let run = bench.run(&format!("--backend {backend} --check {check}"));
        run.ends_with(0);
        for entry in ["make", "add", "get", "many", "total", "moved", "area"] {
            let (outcome, message) = run.case(check, entry);
            assert_eq!(outcome, "pass", "{check} {entry}: {message}");
        }
    }
    let run = bench.run("--backend c --check opaque");
    run.ends_with(0);
    let passed = run.records().filter(|record| record["outcome"] == "pass");
    assert!(passed.count() >= 4, "{}", run.shown());
}

#[test]
fn c_is_compared_with_another_compiler() {
    let bench = needed!(Bench::new(
        "entry twice (xs: []i32) : []i32 = map (* 2) xs\n"
    ));
    let arguments = "--backend c --check differential";
    let alone = bench.run(arguments);
    let (outcome, message) = alone.case("differential", "");
    assert_eq!(outcome, "skip");
    assert_has(message, "--against");
    let all = futhark_safe::compile::Compiler::all();
    let other = needed!(all.iter().rev().nth(1));
    let other = other
        .program()
        .canonicalize()
        .expect("the compiler is there");
    let other = other.to_str().expect("a path in UTF-8");
    let run = bench.run(&format!("{arguments} --against {other}"));
    assert_eq!(
        run.case("differential", "twice").0,
        "pass",
        "{}",
        run.shown()
    );
}

/// The elements of the array that the test block shows can be mixed so that the index is far out of
/// bounds.
const UNSAFE: &str = "\
-- ==
-- entry: at
-- input { [1i64, -1i64] } output { 1i64 }
entry at (is: [2]i64) : i64 = #[unsafe] is[(is[0] + is[1]) * 100000000000]
entry hidden (is: []i64) (i: i64) : i64 = #[unsafe] is[i * 100000000000]
";

#[test]
fn a_crash_of_an_unsafe_program_is_possible_by_its_own_word() {
    let bench = needed!(Bench::new(UNSAFE));
    let run = bench.run("--backend c --check blocks --check server");
    run.ends_with(0);
    assert_eq!(run.case("blocks", "at #0").0, "pass");
    let (outcome, message) = run.case("server", "at");
    assert_eq!(outcome, "skip");
    let place = format!("{}.fut:4", bench.name);
    for words in ["possible by the program's own word", &*place, "crash"] {
        assert_has(message, words);
    }
    let (outcome, message) = run.case("server", "hidden");
    assert_eq!(outcome, "skip");
    assert_has(message, "no test block shows");
    assert!(bench.kept().is_empty());
}

/// Arrays of units in every kind of value. The last type has a structure that the manifest does not show.
const UNITS: &str = "\
module type m = { type t val make : i64 -> t }
module x : m = { type t = {k: i64, u: [7]()} def make (k: i64) = {k, u = replicate 7 ()} }
type s = #a ([2]()) | #b i64
entry rows (n: i64) (m: i64) : [n][m]() = replicate n (replicate m ())
entry record (n: i64) : {xs: [n](), n: i64} = {xs = replicate n (), n}
entry records (n: i64) : [n]((), i32) = replicate n ((), 1)
entry sum (n: i64) : s = if n > 3 then #a [(), ()] else #b n
entry sums (n: i64) : [n]s = replicate n (#a [(), ()])
entry hidden (n: i64) : x.t = x.make n
";

/// In the memory of the server program they are what was there before.
#[test]
fn bytes_of_units_are_not_compared() {
    needed!(crate::needs::full());
    let bench = needed!(Bench::new(UNITS));
    for seed in ["1", "2", "3"] {
        let run = bench.run(&format!("--backend c --check server --seed {seed}"));
        run.ends_with(0);
        for case in ["rows", "record", "records", "sum", "sums", "hidden"] {
            assert_eq!(
                run.case("server", case).0,
                "pass",
                "{case}: {}",
                run.shown()
            );
        }
    }
}

/// The compiler of this test writes a file without contents, of the size of a larger value.
#[test]
fn a_random_input_above_the_memory_limit_is_an_error_that_names_the_option() {
    let program = "-- ==\n-- random input { [400000000]f32 }\nentry main (xs: []f32) = length xs\n";
    let scene = needed!(Scene::new(&[("random.fut", program)]));
    let script = "if [ \"$1\" = dataset ]; then exec truncate -s 1500M /dev/stdout; fi";
    let futhark = scene.compiler("futhark", script);
    let mut command = scene.command("run random.fut --backend c --check blocks --memory 1500");
    command.arg("--build-dir").arg(kept());
    let run = scene.ended(command.arg("--futhark").arg(futhark));
    let shown = run.ends_with(1);
    assert_has(&shown, "printed 1500 MiB");
    assert_has(&shown, "--memory");
}
