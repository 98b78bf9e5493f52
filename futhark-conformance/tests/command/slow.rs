//! Programs whose calls are slow: checks make fewer calls, and nothing fails.

use super::scene::{Run, Scene, assert_has};

/// The work grows with the square and the cube of the size of an array.
const SORTS: &str = "
entry bubble [n] (xs: [n]i32) : [n]i32 =
  (loop (xs, swapped) = (copy xs, true) while swapped do
     loop (xs, swapped) = (xs, false) for j < n - 1 do
       if xs[j] > xs[j + 1]
       then (let (a, b) = (xs[j], xs[j + 1]) in (xs with [j] = b with [j + 1] = a, true))
       else (xs, swapped)).0

entry quartic [n] (xs: [n]f64) : [n]f64 =
  loop xs = copy xs for _m < n do loop xs for _k < n do
    loop xs for _i < n do
      loop xs for j < n - 1 do
        if xs[j] > xs[j + 1]
        then (let (a, b) = (xs[j], xs[j + 1]) in xs with [j] = b with [j + 1] = a)
        else xs
";

/// The work grows exponentially with an argument, with the size of an array, and linearly with an
/// argument, which is large in the test block.
const LOOPS: &str = "
-- ==
-- entry: count
-- input { 100000000i64 }

entry count (n: i64) : i64 =
  loop acc = 0 for i < n do acc ^ (acc * 31 + i)

entry exponential (n: i64) : i64 = count (if n < 0 then 0 else 1 << i64.min n 62)

entry exponential_size [n] (xs: [n]bool) : i64 =
  exponential (n + i64.bool (or xs))
";

/// The loop ends for no argument that a check would choose.
const ENDLESS: &str = "
entry endless (n: i64) : i64 =
  (loop (k, acc) = (n, 0) while k != 12345 do (k, acc ^ (acc * 31 + k))).1
";

/// Runs the program, after another run has compiled it.
fn run(program: &str, arguments: &str) -> Option<Run> {
    let scene = Scene::new(&[("slow.fut", program)])?;
    scene
        .run("slow.fut --backend c --check compile")
        .ends_with(0);
    let run = scene.run(&format!("slow.fut --backend c {arguments}"));
    run.ends_with(0);
    Some(run)
}

#[test]
fn inputs_stay_small_if_the_work_grows_fast_with_them() {
    let Some(run) = run(SORTS, "--seed 1") else {
        return;
    };
    assert_eq!(run.case("server", "bubble").0, "pass");
    let (outcome, message) = run.case("server", "quartic");
    assert_eq!(outcome, "pass");
    assert_has(message, "of 16 inputs: calls take up to");
}

#[test]
fn slow_arguments_of_test_blocks_are_not_repeated_by_other_checks() {
    needed!(crate::needs::full());
    let Some(run) = run(LOOPS, "--seed 1") else {
        return;
    };
    assert_eq!(run.case("blocks", "count #0").0, "pass");
    for case in ["calls of count", "calls of exponential"] {
        assert_eq!(run.case("leaks", case).0, "pass", "{}", run.shown());
    }
    assert_eq!(run.case("server", "exponential").0, "pass");
    let (outcome, message) = run.case("server", "exponential_size");
    assert_eq!(outcome, "pass", "{message}");
    assert_has(message, "of 16 inputs");
}

#[test]
fn an_entry_point_that_does_not_end_is_too_slow_and_not_a_failure() {
    let Some(run) = run(ENDLESS, "--check lifecycle --check leaks --timeout 3") else {
        return;
    };
    let (outcome, message) = run.case("leaks", "calls of endless");
    assert_eq!(outcome, "skip");
    assert!(message.starts_with("too slow for this check"), "{message}");
    assert_eq!(run.case("lifecycle", "many in a row").0, "pass");
}
