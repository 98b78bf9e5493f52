//! The report as text: for terminals and logs, `templates/report.txt`, and as Markdown for the page of a CI job,
//! `templates/report.md`. The templates call functions of this file, and use its constants, as `self::NAME`.

use super::groups::{Group, start};
use super::summary::{Counts, Summary};
use super::{counted, shown};
use askama::Template;
use console::{Alignment, Style, measure_text_width, pad_str};

/// The number of rows of a list, of causes in full and in the overview, of lines of a message, and of
/// programs of a cause. GitHub shows at most 1 MiB.
const ROWS: usize = 40;
const CAUSES: usize = 30;
const OVERVIEW: usize = 60;
const MESSAGE: usize = 40;
const PROGRAMS: usize = 6;
/// The number of characters of a reason in a list, and of a message in Markdown.
const REASON: usize = 160;
const CHARACTERS: usize = 4000;

#[derive(Template)]
#[template(path = "report.txt")]
struct Text<'s, 'r> {
    summary: &'s Summary<'r>,
}

/// See [`Report::as_text`](super::Report::as_text).
pub(super) fn render(summary: &Summary<'_>) -> String {
    let text = Text { summary }.to_string();
    let lines = text.lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}

/// A table of backends, the failures by cause with new ones first, and reasons for expected failures
/// and skips.
#[derive(Template)]
#[template(path = "report.md")]
struct Page<'s, 'r> {
    summary: &'s Summary<'r>,
}

pub(super) fn markdown(summary: &Summary<'_>) -> String {
    Page { summary }.to_string()
}

/// A row with its counts for each backend, device and compiler.
fn table(summary: &Summary<'_>) -> String {
    let head = ["backend", "device", "compiler", "checks"].map(str::to_owned);
    let totals = summary.totals_per_column().into_iter();
    let rows = totals.map(|(column, counts, _)| {
        let [backend, device, compiler] =
            [column.backend, column.device, column.compiler].map(|part| shown(part).into_owned());
        [backend, device, compiler, marked(&counts)]
    });
    let mut rows: Vec<[String; 4]> = [head].into_iter().chain(rows).collect();
    for number in 0..3 {
        let widths = rows.iter().map(|row| measure_text_width(&row[number]));
        let width = widths.max().unwrap_or(0);
        for row in &mut rows {
            row[number] = pad_str(&row[number], width, Alignment::Left, None).into_owned();
        }
    }
    let lines: Vec<String> = rows.iter().map(|row| row.join("  ")).collect();
    lines.join("\n")
}

/// The counts that are not zero, in the colour of the worst outcome.
fn marked(counts: &Counts) -> String {
    let style = match counts {
        Counts { failed: 1.., .. } => Style::new().red().bold(),
        Counts { expected: 1.., .. } => Style::new().yellow(),
        Counts { passed: 0, .. } => Style::new().dim(),
        _ => Style::new().green(),
    };
    style.apply_to(counts.words()).to_string()
}

/// A cause in one line.
fn line(cause: &Group<'_>) -> String {
    let new = if cause.new > 0 { "new " } else { "" };
    let count = cause.members.len();
    let (heading, headline) = (cause.heading(), cause.headline());
    let details = format!("{}, {}", cause.backends().join(", "), cause.names());
    format!(
        "{count:5} x {new}{heading}, {details}: {}",
        start(&headline, REASON)
    )
}

fn fail(cause: &Group<'_>) -> String {
    let kind = cause.example.result.cause;
    let kind = kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    let new = if cause.new > 0 { " new" } else { "" };
    let fail = Style::new().red().bold();
    fail.apply_to(format!("FAIL{kind}{new}")).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Outcome, Record};
    use crate::report::tests::{assert_has, record, report};
    use std::sync::Arc;

    fn rendered(records: &[Record]) -> String {
        console::set_colors_enabled(false);
        render(&Summary::from_report(&report(records)))
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
            for (index, (backend, device)) in devices.iter().enumerate() {
                for compiler in ["0.25.27", "0.25.32"] {
                    for case in 0..14 {
                        let outcome = match (number % 9, index, case) {
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
                        Arc::make_mut(&mut one.job).device = (*device).into();
                        Arc::make_mut(&mut one.job).compiler = compiler.into();
                        one.result.case = format!("entry_point #{case}");
                        one.result.message = match outcome {
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
    fn each_backend_device_and_compiler_has_a_row() {
        let text = rendered(&corpus(10));
        let mut lines = text.lines().skip(1);
        let head = lines.next().unwrap_or_default();
        assert!(head.starts_with("backend    device  "), "{text}");
        let rows: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        assert_eq!(rows.len(), 12, "{text}");
        let row = rows.iter().find(|row| row.contains("emulated: delayed"));
        let counts = "  0.25.27   129 passed, 1 failed as expected, 10 skipped";
        assert!(row.is_some_and(|row| row.ends_with(counts)), "{text}");
    }

    #[test]
    fn failures_with_one_cause_are_shown_once() {
        let text = rendered(&corpus(10));
        assert_has(
            &text,
            "1) FAIL (mismatch) blocks: 2 failures in 1 program on opencl with 0.25.27, 0.25.32\n",
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
        assert_has(&text, "   120  no arguments for entry point f0");
        assert_has(&text, "(10 programs)");
    }

    #[test]
    fn one_failure_is_shown_in_full_with_a_command() {
        let text = rendered(&[record("a.fut", "c", Outcome::Fail)]);
        assert_has(
            &text,
            "1) FAIL (mismatch) a.fut [c, cpu, 1] blocks main #0\n    | first line\n    | second line\n    repeat: futhark-conformance run a.fut ",
        );
        assert!(!text.contains("failures, by cause"), "{text}");
        assert!(text.ends_with("1 check: 0 passed, 1 failed\n"), "{text}");
    }

    #[test]
    fn several_causes_end_with_a_line_each() {
        let mut other = record("b.fut", "c", Outcome::Fail);
        other.result.message = "another cause".into();
        let text = rendered(&[record("a.fut", "c", Outcome::Fail), other]);
        let overview =
            "failures, by cause (2):\n  1)     1 x blocks: mismatch, c, a.fut: first line\n";
        assert_has(&text, overview);
    }

    fn summary(records: &[Record]) -> String {
        markdown(&Summary::from_report(&report(records)))
    }

    #[test]
    fn texts_are_not_interpreted_as_markdown() {
        let mut evil = record("a|b.fut", "c", Outcome::Fail);
        evil.result.message = "</pre><img src=x> `a` *b*\n\n\n# c\n::error::x".into();
        Arc::make_mut(&mut evil.job).compiler = "1|2 *x*".into();
        let text = summary(&[evil]);
        assert!(
            !text.contains("</pre><img") && !text.contains("<img"),
            "{text}"
        );
        assert_has(&text, "| 1&#124;2 &#42;x&#42; |");
        assert_has(&text, "&#96;a&#96; &#42;b&#42;</summary>");
    }

    #[test]
    fn the_summary_stays_below_the_limit_of_github() {
        // Without a limit on their number they would make it too long.
        let records: Vec<_> = (0..300)
            .map(|number| {
                let mut one = record(&format!("{number}.fut"), "c", Outcome::Fail);
                one.result.message = format!("1 {}", "<é>".repeat(1400));
                one
            })
            .collect();
        let text = summary(&records);
        assert!(text.len() < 1 << 20, "{}", text.len());
        assert!(text.contains("more causes: see the HTML report."));
    }
}
