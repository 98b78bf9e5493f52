//! The report for the terminal. No line is wider than the terminal, except for a word of a command.

mod findings;
pub mod fit;
mod table;
#[cfg(test)]
mod tests;

use super::baseline::Changes;
use super::matrix::Matrix;
use super::{Counts, counted, shown};
use crate::record::Record;
use std::fmt::Write as _;

/// The width without a terminal.
pub const WIDTH: usize = 80;

/// The width of the terminal on the standard output, within limits.
#[must_use]
pub fn width() -> usize {
    let size = console::Term::stdout().size_checked();
    size.map_or(WIDTH, |(_, columns)| usize::from(columns).clamp(60, 140))
}

/// The report as text: the table with its legend, reasons for skips and expected failures, each
/// cause of failures in full with the command that `repeat` returns for its first failure, a line
/// per cause, the changes since the baseline, and the sum.
#[must_use]
pub fn render(
    matrix: &Matrix,
    changes: Option<&Changes>,
    repeat: &dyn Fn(&Record) -> String,
    width: usize,
) -> String {
    let mut text = String::new();
    table::append(&mut text, matrix, width);
    findings::reasons(&mut text, "skipped, by reason:", matrix.skips(), width);
    let expected = "failed as expected, by reason:";
    findings::reasons(&mut text, expected, matrix.expected(), width);
    findings::details(&mut text, matrix, repeat, width);
    findings::overview(&mut text, matrix, width);
    if let Some(changes) = changes {
        append_changes(&mut text, changes, width);
    }
    fit::wrap(&mut text, &sum(matrix.total()), "", width);
    text
}

/// The changes since the baseline: what was fixed and lost, and all counts.
fn append_changes(text: &mut String, changes: &Changes, width: usize) {
    const LINES: usize = 20;
    for (heading, list) in [
        ("fixed since the baseline:", &changes.fixed),
        ("not checked any more:", &changes.lost),
    ] {
        if list.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{heading}");
        for one in list.iter().take(LINES) {
            let line = format!("{:6}  {}", one.count, shown(&one.what));
            let _ = writeln!(text, "{}", fit::keep_start(&line, width));
        }
        if list.len() > LINES {
            let _ = writeln!(text, "        and {} more", list.len() - LINES);
        }
        text.push('\n');
    }
    fit::wrap(text, &changes.to_string(), "", width);
}

fn sum(total: Counts) -> String {
    let Counts {
        passed,
        failed,
        expected,
        skipped,
    } = total;
    let checks = counted(total.total(), "check");
    let mut text = format!("{checks}: {passed} passed, {failed} failed");
    for (count, what) in [(expected, "failed as expected"), (skipped, "skipped")] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    text
}
