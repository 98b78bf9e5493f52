use super::*;
use crate::record::Outcome;
use crate::report::column::Column;
use crate::report::tests::{matrix, record};
use console::measure_text_width;

fn rendered(records: &[Record]) -> String {
    console::set_colors_enabled(false);
    render(&matrix(records), None, &|_| "again".into(), WIDTH)
}

/// The records of `programs` programs in twelve columns.
fn corpus(programs: usize) -> Vec<Record> {
    let devices = [
        ("c", "cpu"),
        ("multicore", "cpu"),
        ("opencl", "Oclgrind: Oclgrind Simulator"),
        (
            "opencl",
            "Portable Computing Language: pthread-skylake-avx512-AMD EPYC",
        ),
        ("cuda", "emulated"),
        ("hip", "emulated: delayed,order=reversed"),
    ];
    let mut records = Vec::new();
    for number in 0..programs {
        for (place, (backend, device)) in devices.iter().enumerate() {
            for compiler in ["0.25.27", "0.25.32"] {
                for case in 0..14 {
                    let outcome = match (number % 9, place, case) {
                        (2, 3, 0) => Outcome::Fail,
                        (4, _, 1) => Outcome::ExpectedFail,
                        (_, _, 2) => Outcome::Skip,
                        _ => Outcome::Pass,
                    };
                    let name = format!(
                        "programs/folder{}/a-long-name-of-a-program-{number}.fut",
                        number % 7
                    );
                    let mut one = record(&name, backend, outcome);
                    one.place.device = (*device).into();
                    one.place.compiler = compiler.into();
                    one.finding.case = format!("entry_point #{case}");
                    one.finding.message = match outcome {
                        Outcome::Fail => format!("expected {number}, got 0 in a message that is longer than a line of the terminal is wide, \u{65e5}\u{672c}\nmore"),
                        Outcome::ExpectedFail => "the compiler rejects a vector and a matrix of one record type (duplicate definition of an entry point type)\nmore".into(),
                        _ => format!("no arguments for entry point f{number} with a shape that fits the others in it"),
                    };
                    records.push(one);
                }
            }
        }
    }
    records
}

#[test]
fn the_legend_of_marks_has_no_counts() {
    let text = rendered(&[record("a.fut", "c", Outcome::Fail)]);
    let legend = text.lines().find(|line| line.contains("nothing checked"));
    let legend = legend.unwrap();
    assert!(
        legend.contains("N! failed  N~ failed as expected"),
        "{text}"
    );
    assert!(!legend.contains(|c: char| c.is_ascii_digit()), "{text}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for programs in [1, 5, 40, 100] {
        let records = corpus(programs);
        let matrix = matrix(&records);
        assert_eq!(matrix.columns().len(), 12);
        let command = "futhark-conformance run programs/a.fut --backend opencl --device 'Portable Computing Language*' --futhark /opt/futhark/bin/futhark-0.25.32 --check 'blocks:entry_point #0'";
        for width in [60, WIDTH, 120] {
            let text = render(&matrix, None, &|_| command.into(), width);
            for line in text.lines() {
                let line = console::strip_ansi_codes(line);
                assert!(
                    measure_text_width(&line) <= width,
                    "{width}: {line}\n{text}"
                );
            }
        }
    }
}

#[test]
fn many_columns_have_letters_and_a_legend() {
    let text = rendered(&corpus(10));
    assert!(text.contains("A   c          0.25.27\n"), "{text}");
    assert!(
        text.contains("F   opencl     0.25.32  Oclgrind: Oclgrind Simulator\n"),
        "{text}"
    );
    let heads: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("program "))
        .collect();
    assert_eq!(heads.len(), 1, "{text}");
    let letters: Vec<_> = heads[0].split_whitespace().skip(1).collect();
    assert_eq!(letters.concat(), "ABCDEFGHIJKL");
}

#[test]
fn many_programs_are_summed_up_by_folder() {
    let text = rendered(&corpus(100));
    assert!(text.contains("programs/folder0/ (15)"), "{text}");
    assert!(!text.contains("\nprograms/folder0/a-long"), "{text}");
}

#[test]
fn failures_with_one_cause_are_shown_once() {
    let text = rendered(&corpus(10));
    assert!(
        text.contains(
            "1) FAIL (mismatch) blocks: 2 failures in 1 program on opencl with 0.25.27,\n0.25.32\n"
        ),
        "{text}"
    );
    assert_eq!(text.matches("repeat: again").count(), 1, "{text}");
    let line = "   120  the compiler rejects";
    assert_eq!(text.matches("the compiler rejects").count(), 1, "{text}");
    assert!(
        !text.contains(line) && text.contains("    12  the compiler rejects"),
        "{text}"
    );
    // Skips that differ in numbers have one reason.
    assert!(
        text.contains("   120  no arguments for entry point f0"),
        "{text}"
    );
    assert!(text.contains("(10 programs)"), "{text}");
}

#[test]
fn one_failure_is_shown_in_full_with_a_command() {
    let text = rendered(&[record("a.fut", "c", Outcome::Fail)]);
    assert!(
        text.contains("1) FAIL (mismatch) a.fut [c, cpu, 1] blocks main #0\n    | first line\n    | second line\n    repeat: again\n"),
        "{text}"
    );
    assert!(!text.contains("failures, by cause"), "{text}");
    assert!(text.ends_with("1 check: 0 passed, 1 failed\n"), "{text}");
}

#[test]
fn several_causes_end_with_a_line_each() {
    let mut other = record("b.fut", "c", Outcome::Fail);
    other.finding.message = "another cause".into();
    let text = rendered(&[record("a.fut", "c", Outcome::Fail), other]);
    let overview = "failures, by cause (2):\n  1)     1 x blocks mismatch, c, a.fut: first line\n";
    assert!(text.contains(overview), "{text}");
}

#[test]
fn the_table_has_a_row_for_each_program() {
    let text = rendered(&[
        record("b.fut", "c", Outcome::Pass),
        record("a.fut", "opencl", Outcome::Fail),
        record("a.fut", "c", Outcome::Skip),
        record("lib.fut", "-", Outcome::Skip),
    ]);
    let rows: Vec<_> = text
        .lines()
        .filter(|line| line.contains(".fut  "))
        .collect();
    assert!(rows[0].starts_with("a.fut    1-  1!"), "{text}");
    assert!(rows[1].starts_with("b.fut    1   ."), "{text}");
    assert!(!rows.iter().any(|row| row.starts_with("lib.fut")));
    assert!(text.contains("     2  first line"), "{text}");
    assert!(
        text.ends_with("4 checks: 1 passed, 1 failed, 2 skipped\n"),
        "{text}"
    );
}

#[test]
fn emulated_devices_are_marked() {
    let mut found = record("a.fut", "cuda", Outcome::Pass);
    found.place.device = "emulated: delayed".into();
    let text = rendered(&[found]);
    assert!(text.contains("cuda\n         emulated\nprogram"), "{text}");
}

#[test]
fn devices_of_one_backend_have_columns_of_their_own() {
    let on = |device: &str, outcome| {
        let mut found = record("a.fut", "opencl", outcome);
        found.place.device = device.into();
        found
    };
    let head = |records: &[Record]| {
        let text = rendered(records);
        let lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
        (lines[1].trim().to_owned(), lines[4].to_owned())
    };
    let (notes, cells) = head(&[
        on("Oclgrind: Oclgrind Simulator", Outcome::Pass),
        on("Portable Computing Language: pthread-x", Outcome::Fail),
    ]);
    assert_eq!(notes, "Oclgrind  Portable Computi...");
    assert_eq!(cells, "a.fut    1         1!");
    // Devices of one platform are distinguished by their own names.
    let two = [on("P: one", Outcome::Pass), on("P: two", Outcome::Pass)];
    assert_eq!(head(&two).0, "one     two");
}

#[test]
fn text_from_outside_cannot_control_the_terminal() {
    let mut evil = record("a\n::error::b.fut", "c", Outcome::Fail);
    evil.finding.message = "x\n::error::y \x1b[2J".into();
    let text = rendered(&[evil]);
    assert!(!text.contains('\x1b') && !text.contains("\n::"), "{text}");
}

#[test]
fn changes_are_summed_up() {
    let changes = Changes {
        name: "old.jsonl".into(),
        new: 1,
        unchanged: 7,
        fixed: vec![crate::report::baseline::Changed {
            what: "blocks of a.fut on c, 1".into(),
            count: 3,
        }],
        ..Changes::default()
    };
    let matrix = Matrix::new(vec![Column {
        backend: "c".into(),
        device: "cpu".into(),
        compiler: "1".into(),
    }]);
    let text = render(&matrix, Some(&changes), &|_| String::new(), WIDTH);
    assert!(
        text.contains("fixed since the baseline:\n     3  blocks of a.fut on c, 1\n"),
        "{text}"
    );
    assert!(
        text.contains("since old.jsonl: 1 new failure, 3 fixed, 7 unchanged\n"),
        "{text}"
    );
}
