//! Runs the generator on small results, of which one has the files that criterion 0.7 wrote.

use std::fs::{create_dir_all, write};
use std::path::Path;

use tempfile::TempDir;

use crate::facts::Facts;
use crate::model;
use crate::results::{self, Results};
use crate::{costs, page, plot};

const BENCHMARK: &str = include_str!("tests/benchmark.json");
const ESTIMATES: &str = include_str!("tests/estimates.json");

/// Writes a measurement as criterion does.
fn measure(folder: &Path, run: &str, case: (&str, &str, u64), nanoseconds: f64) {
    let (group, variant, size) = case;
    let to = folder.join(format!("{group}/{variant}/{size}/{run}"));
    create_dir_all(&to).expect("a folder");
    let value = if size == 0 {
        "null".to_owned()
    } else {
        format!("\"{size}\"")
    };
    let bytes = size * 4;
    let id = format!(
        r#"{{"group_id":"{group}","function_id":"{variant}","value_str":{value},"throughput":{{"Bytes":{bytes}}}}}"#
    );
    let (low, high) = (0.99 * nanoseconds, 1.01 * nanoseconds);
    let times = format!(
        r#"{{"median":{{"confidence_interval":{{"lower_bound":{low},"upper_bound":{high}}},"point_estimate":{nanoseconds}}}}}"#
    );
    write(to.join("benchmark.json"), id).expect("a file");
    write(to.join("estimates.json"), times).expect("a file");
}

/// The results of measurements.
fn results(measurements: &[(&str, (&str, &str, u64), f64)]) -> Results {
    let folder = TempDir::new().expect("a folder");
    for (run, case, nanoseconds) in measurements {
        measure(folder.path(), run, *case, *nanoseconds);
    }
    results::read(folder.path()).expect("results")
}

/// The cells of the line that starts with `start`.
fn cells(page: &str, start: &str) -> Vec<String> {
    let line = page.lines().find(|line| line.starts_with(start));
    let line = line.unwrap_or_else(|| panic!("no line starts with {start}:\n{page}"));
    line.trim_matches('|')
        .split('|')
        .map(|cell| cell.trim().to_owned())
        .collect()
}

#[test]
fn files_of_criterion_are_read() {
    let folder = TempDir::new().expect("a folder");
    for run in ["run1", "new", "base", "change"] {
        let to = folder.path().join("c_ upload/plain/1024").join(run);
        create_dir_all(&to).expect("a folder");
        write(to.join("benchmark.json"), BENCHMARK).expect("a file");
        write(to.join("estimates.json"), ESTIMATES).expect("a file");
    }
    let results = results::read(folder.path()).expect("results");
    let (case, variants) = results.iter().next().expect("a case");
    assert_eq!(
        (case.backend.as_str(), case.name.as_str(), case.size),
        ("c", "upload", 1024)
    );
    assert_eq!(variants.bytes, Some(4096));
    assert_eq!(variants.runs["plain"].len(), 1, "only saved runs count");
    let times = variants.runs["plain"]["run1"];
    let times = [times.median, times.low, times.high].map(f64::round);
    assert_eq!(times, [92.0, 78.0, 125.0]);
}

#[test]
fn a_folder_without_results_is_an_error() {
    let folder = TempDir::new().expect("a folder");
    let error = results::read(folder.path()).expect_err("no results");
    assert!(
        error
            .to_string()
            .contains("run the benches with --save-baseline"),
        "{error}"
    );
}

#[test]
fn variants_are_compared_with_plain_c_of_the_same_run() {
    let results = results(&[
        ("run1", ("c: call add", "plain", 0), 10.0),
        ("run1", ("c: call add", "typed", 0), 25.0),
        // A run on a machine that was twice as slow.
        ("run2", ("c: call add", "plain", 0), 20.0),
        ("run2", ("c: call add", "typed", 0), 50.0),
        ("run3", ("c: call add", "plain", 0), 10.0),
        ("run3", ("c: call add", "typed", 0), 24.0),
        ("run1", ("c: a group of tomorrow", "plain", 2048), 1000.0),
        ("run1", ("c: a group of tomorrow", "typed", 2048), 1500.0),
    ]);
    let page = page::write(&results, &Facts::parse(""), "plots");
    assert_eq!(
        cells(&page, "| call add |"),
        [
            "call add", "", "typed", "10.0 ns", "25.0 ns", "15.0 ns", "2.500", "1.0 %", "100.0 %",
            "+20.0 ns", "yes"
        ]
    );
    assert_eq!(
        cells(&page, "| a group of tomorrow |"),
        [
            "a group of tomorrow",
            "2 Ki",
            "typed",
            "1.00 µs",
            "1.50 µs",
            "500.0 ns",
            "1.500",
            "1.0 %",
            "",
            "",
            ""
        ]
    );
    assert!(page.contains("from 3 runs"), "{page}");
    assert!(page.contains("Budgets: 1 met, 0 missed."), "{page}");
}

#[test]
fn missed_budgets_are_listed() {
    let results = results(&[
        ("run1", ("multicore: upload", "plain", 1024), 100.0),
        ("run1", ("multicore: upload", "typed", 1024), 131.0),
    ]);
    let page = page::write(&results, &Facts::parse(""), "plots");
    assert_eq!(cells(&page, "| upload |")[9..], ["1.3 ×", "**no**"]);
    assert!(
        page.contains("0 met, 1 missed:\n\n- multicore: upload 1 Ki (typed)\n"),
        "{page}"
    );
}

#[test]
fn other_ways_that_are_missing_are_named_with_the_reason() {
    let results = results(&[
        ("run1", ("ways: scalar call", "typed", 0), 10.0),
        ("run1", ("ways: scalar call", "server", 0), 5000.0),
    ]);
    let facts = Facts::parse("missing\tpython\tpip failed\n");
    let page = page::write(&results, &facts, "plots");
    assert_eq!(
        cells(&page, "| scalar call |"),
        [
            "scalar call",
            "",
            "10.0 ns",
            "5.00 µs (500 ×)",
            "not measured",
            "not measured"
        ]
    );
    assert!(
        page.contains("Not measured: python, because pip failed."),
        "{page}"
    );
}

#[test]
fn recorded_instructions_are_listed() {
    let facts = Facts::parse("instructions\tc/call\tplain=23 typed=60 scope=-1\n");
    let page = page::write(&Results::new(), &facts, "plots");
    assert_eq!(
        cells(&page, "| operation |"),
        ["operation", "plain", "typed", "scope"]
    );
    assert_eq!(cells(&page, "| c/call |"), ["c/call", "23", "60", "-1"]);
}

#[test]
fn transfers_are_predicted_from_the_sizes_beside_them() {
    let points = [(4.0, 10.0), (8.0, 14.0), (16.0, 50.0)];
    for (bytes, expected) in [
        (0.0, 10.0),
        (4.0, 10.0),
        (5.0, 11.0),
        (8.0, 14.0),
        (12.0, 32.0),
        (16.0, 50.0),
        (32.0, 100.0),
    ] {
        assert_eq!(model::at(&points, bytes), Some(expected), "{bytes}");
    }
    assert_eq!(model::at(&points[..1], 8.0), Some(20.0));
    assert_eq!(model::at(&[], 8.0), None);
}

#[test]
fn predictions_are_compared_with_a_measured_round_trip() {
    let mut measured = vec![
        ("run1", ("opencl: call with an array", "typed", 0), 1000.0),
        ("run1", ("opencl: round trip", "typed", 2048), 22_000.0),
    ];
    for n in [1024, 4096] {
        measured.push(("run1", ("opencl: upload", "typed", n), n as f64));
        measured.push(("run1", ("opencl: download", "typed", n), 8.0 * n as f64));
    }
    let text = costs::model(&results(&measured), &Facts::parse(""), "plots");
    let line = text
        .lines()
        .rfind(|line| line.starts_with("| opencl |"))
        .expect("a check");
    assert_eq!(
        line,
        "| opencl | 2 Ki | 2.05 µs + 1.00 µs + 16.38 µs | 19.43 µs | 22.00 µs | -11.7 % |"
    );
    let row = |title: &str| cells(&text, title);
    assert_eq!(row("| transfer |"), ["transfer", "4 KiB", "16 KiB"]);
    assert_eq!(row("| opencl: upload |")[1..], ["1.02 µs", "4.10 µs"]);
}

#[test]
fn the_build_of_a_user_is_compared_with_its_floor() {
    let facts = "build\tcrates\t16\nbuild\tcold\t9.0\nbuild\tfuthark\t1.0\nbuild\tcc\t2.0\nbuild\tempty crate\t0.5\n";
    let text = costs::build(&Facts::parse(facts));
    assert_eq!(cells(&text, "| crates")[1..], ["16", "15", "**no**"]);
    assert_eq!(
        cells(&text, "| build, empty")[1..],
        ["9.0 s", "floor + 5 s = 8.5 s", "**no**"]
    );
    assert!(costs::build(&Facts::parse("build\tcrates\t16\n")).contains("Not measured"));
}

#[test]
fn plots_are_drawn_for_what_was_measured() {
    let mut measured = Vec::new();
    for n in [1024, 4096] {
        measured.push(("run1", ("c: upload", "plain", n), n as f64));
        measured.push(("run1", ("c: upload", "typed", n), 1.5 * n as f64));
    }
    measured.push(("run1", ("opencl: download", "typed", 1024), 1.0));
    let folder = TempDir::new().expect("a folder");
    plot::write(&results(&measured), folder.path()).expect("plots");
    let svg = std::fs::read_to_string(folder.path().join("ratio-c.svg")).expect("a plot");
    assert!(
        svg.contains("upload, typed") && svg.contains("4 Ki"),
        "{svg}"
    );
    assert!(folder.path().join("transfers.svg").exists());
    for empty in ["ways.svg", "ratio-opencl.svg"] {
        assert!(!folder.path().join(empty).exists(), "nothing to draw");
    }
}
