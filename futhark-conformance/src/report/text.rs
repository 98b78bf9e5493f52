//! The report as text, for terminals and logs: `templates/report.txt`, in lines that fit.

use super::difference::Row;
use super::groups::Group;
use super::summary::Summary;
use super::table::{keep_end, table};
use super::{counted, shown};
use askama::Template;
use console::Style;
use textwrap::{Options, WordSplitter};

/// The width without a terminal.
pub(super) const WIDTH: usize = 80;
/// The number of rows of a list, of causes in full and in the overview, of lines of a message, and of
/// programs of a cause.
const ROWS: usize = 40;
const CAUSES: usize = 30;
const OVERVIEW: usize = 60;
const MESSAGE: usize = 40;
const PROGRAMS: usize = 6;

#[derive(Template)]
#[template(path = "report.txt")]
struct Text<'s, 'r> {
    summary: &'s Summary<'r>,
    width: usize,
}

/// The width of the terminal on the standard output, within limits.
pub(super) fn width() -> usize {
    let size = console::Term::stdout().size_checked();
    size.map_or(WIDTH, |(_, columns)| usize::from(columns).clamp(60, 140))
}

/// The table with its legend, reasons for skips and expected failures, each cause of failures in full
/// with a command that repeats its first failure, a line per cause, the changes since the baseline, and
/// the sum. No line is wider than `width`, except for commands, which can be copied.
pub(super) fn render(summary: &Summary<'_>, width: usize) -> String {
    folded(&Text { summary, width }.to_string(), width)
}

impl Text<'_, '_> {
    /// A row of a list, of which the note is never cut.
    fn row(&self, row: &Row) -> String {
        let text = shown(&row.text);
        let room = self.width.saturating_sub(8 + row.note.len());
        let text = console::truncate_str(&text, room, "...");
        let line = format!("{:6}  {text}{}", row.count, row.note);
        Style::new().dim().apply_to(line).to_string()
    }

    /// A cause in one line.
    fn line(&self, cause: &Group<'_>) -> String {
        let programs = match cause.programs().keys().collect::<Vec<_>>().as_slice() {
            [program] => keep_end(&shown(program), 24),
            programs => format!("{} programs", programs.len()),
        };
        let backends = match cause.backends() {
            backends if backends.len() > 2 => format!("{} backends", backends.len()),
            backends => backends.join(", "),
        };
        let new = if cause.new > 0 { "new " } else { "" };
        let line = format!(
            "{:5} x {new}{}, {backends}, {programs}: {}",
            cause.members.len(),
            cause.heading(),
            cause.headline()
        );
        console::truncate_str(&shown(&line), self.width - 5, "...").into_owned()
    }
}

fn fail(cause: &Group<'_>) -> String {
    let kind = cause.example.finding.cause;
    let kind = kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    let new = if cause.new > 0 { " new" } else { "" };
    let fail = Style::new().red().bold();
    fail.apply_to(format!("FAIL{kind}{new}")).to_string()
}

/// The text in lines that fit, without blanks at their ends. Lines are broken at blanks, or within a
/// word that is wider than a line; lines of messages begin with `|`. A break does not make a command
/// for a CI system of text after `::`.
pub(super) fn folded(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let is_command = line.starts_with("    repeat: ");
        if is_command || console::measure_text_width(line) <= width {
            out.push_str(line.trim_end());
            out.push('\n');
            continue;
        }
        let blanks = &line[..line.len() - line.trim_start().len()];
        let indent = if line.starts_with("    | ") {
            "    | "
        } else {
            blanks
        };
        // One less for an escape.
        let options = Options::new(width - 1)
            .subsequent_indent(indent)
            .word_splitter(WordSplitter::NoHyphenation);
        for (number, part) in textwrap::wrap(line, options).iter().enumerate() {
            match part.strip_prefix(indent) {
                Some(rest) if number > 0 && rest.starts_with("::") => {
                    out.push_str(&format!("{indent}\\{rest}"));
                }
                _ => out.push_str(part.trim_end()),
            }
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Outcome, Record};
    use crate::report::tests::{record, report};
    use console::measure_text_width;
    use std::sync::Arc;

    fn rendered(records: &[Record]) -> String {
        console::set_colors_enabled(false);
        render(&Summary::of(&report(records)), WIDTH)
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
                        Arc::make_mut(&mut one.place).device = (*device).into();
                        Arc::make_mut(&mut one.place).compiler = compiler.into();
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
            let report = report(&records);
            let summary = Summary::of(&report);
            assert_eq!(summary.columns.len(), 12);
            for width in [60, WIDTH, 120] {
                let text = render(&summary, width);
                for line in text.lines().filter(|line| !line.contains("repeat: ")) {
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
    fn many_columns_or_programs_have_a_row_for_each_column() {
        for programs in [10, 100] {
            let text = rendered(&corpus(programs));
            let start = "backend    device               compiler  checks\n";
            assert!(text.contains(start), "{text}");
            let rows = text.lines().filter(|line| line.contains("  0.25.32   "));
            assert_eq!(rows.count(), 6, "{text}");
            assert!(!text.contains("\nprograms/folder0/a-long"), "{text}");
        }
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
        assert_eq!(
            text.matches("repeat: futhark-conformance run").count(),
            1,
            "{text}"
        );
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
            text.contains("1) FAIL (mismatch) a.fut [c, cpu, 1] blocks main #0\n    | first line\n    | second line\n    repeat: futhark-conformance run a.fut "),
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
        let overview =
            "failures, by cause (2):\n  1)     1 x blocks: mismatch, c, a.fut: first line\n";
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
        Arc::make_mut(&mut found.place).device = "emulated: delayed".into();
        let text = rendered(&[found]);
        assert!(text.contains("cuda\n         emulated\nprogram"), "{text}");
    }

    #[test]
    fn devices_of_one_backend_have_columns_of_their_own() {
        let on = |device: &str, outcome| {
            let mut found = record("a.fut", "opencl", outcome);
            Arc::make_mut(&mut found.place).device = device.into();
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
        let one = |outcome| {
            let mut record = record("a.fut", "c", outcome);
            record.finding.case = format!("{outcome:?}");
            record
        };
        let now = |mut record: Record| {
            record.finding.outcome = Outcome::Pass;
            record.finding.cause = None;
            record
        };
        let (pass, fail) = (one(Outcome::Pass), one(Outcome::Fail));
        let old = report(&[pass.clone(), fail.clone()]);
        let mut new = report(&[pass, now(fail), one(Outcome::ExpectedFail)]);
        new.baseline = Some(Box::new(old));
        let text = render(&Summary::of(&new), WIDTH);
        assert!(
            text.contains(
                "fixed since the baseline:\n     1  a.fut on c blocks:Fail: first line\n"
            ),
            "{text}"
        );
        let text = text.replace("\n", " ");
        assert!(
            text.contains("results.jsonl: 0 broken, 1 fixed, 1 unchanged"),
            "{text}"
        );
    }
}
