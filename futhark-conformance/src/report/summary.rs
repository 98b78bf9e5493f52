//! The summary of a run as Markdown, for the page of a CI job.
//!
//! GitHub shows at most 1 MiB. Texts from outside are in HTML elements, with every character that
//! Markdown or HTML could interpret as an entity.

use super::baseline::Changes;
use super::groups::{Group, Reasons};
use super::matrix::{Matrix, title};
use super::{counted, shown, shown_lines};
use crate::record::{Header, Record};
use std::fmt::Write as _;

/// The size at which failures and reasons are left out.
const LARGEST: usize = 900 << 10;
/// The number of characters of a message.
const MESSAGE: usize = 4000;
/// The number of causes that are unfolded.
const OPEN: usize = 3;
/// The number of reasons in a list.
const REASONS: usize = 50;

/// The summary: a table of backends, the failures by cause with new ones first, and reasons for
/// expected failures and skips.
#[must_use]
pub fn markdown(
    header: &Header,
    matrix: &Matrix,
    changes: Option<&Changes>,
    repeat: &dyn Fn(&Record) -> String,
) -> String {
    let mut text = String::new();
    let total = matrix.total();
    let sign = match (total.failed, total.passed) {
        (0, 1..) => "\u{2705}",
        (0, 0) => "\u{2754}",
        _ => "\u{274c}",
    };
    let _ = writeln!(
        text,
        "### {sign} Futhark conformance: {} failed, {} passed\n\n{} of {}; {} failed as expected, {} skipped.\n",
        total.failed,
        total.passed,
        counted(total.total(), "check"),
        counted(matrix.programs(), "program"),
        total.expected,
        total.skipped
    );
    if let Some(changes) = changes {
        let _ = writeln!(text, "**{}**\n", inline(&changes.to_string()));
    }
    columns(&mut text, matrix);
    for device in header.devices.iter().filter(|device| device.is_unfit()) {
        let _ = writeln!(text, "Not usable: {}\n", inline(&device.described()));
    }
    failures(&mut text, matrix, repeat);
    if let Some(changes) = changes {
        for (heading, list) in [
            ("Fixed", &changes.fixed),
            ("Not checked any more", &changes.lost),
        ] {
            let rows = list.iter().map(|one| (one.count, one.what.as_str()));
            folded(&mut text, heading, rows);
        }
    }
    reasons(
        &mut text,
        "Failed as expected, by reason",
        matrix.expected(),
    );
    reasons(&mut text, "Skipped, by reason", matrix.skips());
    text
}

fn columns(text: &mut String, matrix: &Matrix) {
    if matrix.columns().is_empty() {
        return;
    }
    text.push_str(
        "| backend | device | compiler | passed | failed | expected | skipped | time |\n",
    );
    text.push_str("|---|---|---|--:|--:|--:|--:|--:|\n");
    for (column, (counts, seconds)) in matrix.columns().iter().zip(matrix.by_column()) {
        let failed = match counts.failed {
            0 => "0".to_owned(),
            failed => format!("**{failed}** \u{274c}"),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {failed} | {} | {} | {} |",
            inline(&column.backend),
            inline(&column.device),
            inline(&column.compiler),
            counts.passed,
            counts.expected,
            counts.skipped,
            super::duration(seconds)
        );
    }
    text.push('\n');
}

fn failures(text: &mut String, matrix: &Matrix, repeat: &dyn Fn(&Record) -> String) {
    let groups = matrix.failures();
    if groups.is_empty() {
        return;
    }
    let _ = writeln!(text, "#### Failures, by cause ({})\n", groups.len());
    for (number, group) in groups.iter().enumerate() {
        let one = failure(matrix, group, number < OPEN, repeat);
        if text.len() + one.len() > LARGEST {
            let more = counted(groups.len() - number, "more cause");
            let _ = writeln!(text, "{more}: see the HTML report.\n");
            break;
        }
        text.push_str(&one);
    }
}

fn failure(
    matrix: &Matrix,
    group: &Group,
    is_open: bool,
    repeat: &dyn Fn(&Record) -> String,
) -> String {
    let record = group.record(group.example(), matrix.columns());
    let cause = group
        .cause
        .map_or_else(String::new, |cause| cause.to_string());
    let new = match group.new_failures() {
        0 => String::new(),
        new => format!("<b>{new} new</b>, "),
    };
    let message: String = record.finding.message.chars().take(MESSAGE).collect();
    let open = if is_open { " open" } else { "" };
    format!(
        "<details{open}><summary>{new}{} {cause}: {}, {}, {}: {}</summary>\n<pre>{}\n\n{}\n\n{}</pre>\n</details>\n\n",
        inline(&group.check),
        counted(group.members.len(), "failure"),
        counted(group.programs().len(), "program"),
        counted(group.columns().len(), "column"),
        inline(&group.headline()),
        escaped(&shown(&title(&record))),
        escaped(&shown_lines(message.trim_end(), "")),
        escaped(&repeat(&record)),
    )
}

fn reasons(text: &mut String, heading: &str, reasons: &Reasons) {
    let sorted = reasons.sorted();
    let rows = sorted
        .iter()
        .map(|reason| (reason.count, reason.text.as_str()));
    folded(text, heading, rows);
}

fn folded<'t>(
    text: &mut String,
    heading: &str,
    rows: impl ExactSizeIterator<Item = (usize, &'t str)>,
) {
    let all = rows.len();
    if all == 0 || text.len() > LARGEST {
        return;
    }
    let _ = writeln!(text, "<details><summary>{heading} ({all})</summary>\n<pre>");
    for (count, reason) in rows.take(REASONS) {
        let reason: String = reason.chars().take(200).collect();
        let _ = writeln!(text, "{count:6}  {}", escaped(&shown(&reason)));
    }
    if all > REASONS {
        let _ = writeln!(text, "        and {} more", all - REASONS);
    }
    text.push_str("</pre>\n</details>\n\n");
}

/// Text in HTML within `<pre>`, which Markdown does not interpret. An empty line would end some
/// elements, but not `<pre>`.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// Text within a line of Markdown or a cell of a table, shortened.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for c in shown(text).chars().take(160) {
        match c {
            c if c.is_alphanumeric() || " .,:;/-+='\"".contains(c) => out.push(c),
            c => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;
    use crate::report::tests::{compared, header, record};

    fn summary(records: &[(Record, bool)]) -> String {
        let matrix = compared(records);
        markdown(&header(), &matrix, None, &|_| "again".into())
    }

    #[test]
    fn new_failures_come_first() {
        let mut old = record("a.fut", "c", Outcome::Fail);
        old.finding.message = "old cause".into();
        let mut new = record("b.fut", "opencl", Outcome::Fail);
        new.finding.message = "new cause".into();
        let text = summary(&[(old.clone(), false), (old, false), (new, true)]);
        assert!(
            text.contains("| c | cpu | 1 | 0 | **2** ❌ | 0 | 0 | 0.0 s |"),
            "{text}"
        );
        let places = ["<b>1 new</b>", "old cause"].map(|words| text.find(words).unwrap());
        assert!(places[0] < places[1], "{text}");
        assert!(text.contains("again</pre>"), "{text}");
    }

    #[test]
    fn texts_are_not_interpreted() {
        let mut evil = record("a|b.fut", "c", Outcome::Fail);
        evil.finding.message = "</pre><img src=x> `a` *b*\n\n\n# c\n::error::x".into();
        evil.place.compiler = "1|2 *x*".into();
        let text = summary(&[(evil, false)]);
        assert!(
            !text.contains("</pre><img") && !text.contains("<img"),
            "{text}"
        );
        assert!(text.contains("| 1&#124;2 &#42;x&#42; |"), "{text}");
        assert!(!text.contains("\n::error"), "{text}");
        assert!(text.contains("&#96;a&#96; &#42;b&#42;</summary>"), "{text}");
    }

    #[test]
    fn the_summary_stays_below_the_limit_of_github() {
        let records: Vec<_> = (0..1000)
            .map(|number| {
                let mut one = record(&format!("{number}.fut"), "c", Outcome::Fail);
                one.finding.message = format!("1 {}", "<é>".repeat(3000));
                (one, false)
            })
            .collect();
        let text = summary(&records);
        assert!(text.len() < 1 << 20, "{}", text.len());
        assert!(text.contains("more causes: see the HTML report."));
    }
}
