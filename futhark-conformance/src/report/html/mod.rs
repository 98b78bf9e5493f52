//! The report for people: one HTML page that needs no other file and no server.
//!
//! The page is `templates/report.html`; this module prepares its data. The sums, the failures and
//! the plots are in the page itself, so that it can be read without scripts. The table of programs
//! is drawn by `templates/report.js` from compact JSON (see `data`), because as HTML it would be ten
//! times as large.

mod data;
mod failures;
mod plots;
#[cfg(test)]
mod tests;

use super::baseline::{Changed, Changes};
use super::escape::is_hidden;
use super::groups::Reasons;
use super::matrix::Matrix;
use super::{Counts, duration, repeat_with};
use crate::checks;
use crate::record::{Header, Record};
use askama::Template;
use failures::Failure;
use plots::Plot;
use std::io::{self, Write};

/// The number of causes that are not in a folded list.
const FIRST: usize = 10;
/// The number of rows of a list.
const ROWS: usize = 500;

/// The data of the page. The template escapes every text except `data`.
#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    total: Counts,
    programs: usize,
    changes: Option<ChangesShown>,
    groups: Vec<Failure>,
    /// Causes in a list that is folded.
    more: Vec<Failure>,
    more_groups: usize,
    columns: Vec<ColumnSum>,
    plots: Vec<Plot>,
    sections: Vec<Section>,
    facts: Vec<(&'static str, String)>,
    data: String,
}

struct ChangesShown {
    sum: String,
    sections: Vec<Section>,
}

struct ColumnSum {
    backend: String,
    device: String,
    compiler: String,
    counts: Counts,
    time: String,
}

/// A table that is collapsed at first.
struct Section {
    summary: &'static str,
    rows: Vec<(String, String)>,
}

/// Writes the page.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(
    out: &mut dyn Write,
    header: &Header,
    matrix: &Matrix,
    changes: Option<&Changes>,
) -> io::Result<()> {
    let repeat = |record: &Record| printable(&repeat_with(header, record));
    let groups = matrix.failures();
    let mut first = failures::shown(&groups, matrix, &repeat);
    let more = first.split_off(first.len().min(FIRST));
    let page = Page {
        total: matrix.total(),
        programs: matrix.programs(),
        changes: changes.map(changes_shown),
        groups: first,
        more,
        more_groups: groups.len().saturating_sub(failures::LINES),
        columns: columns(matrix),
        plots: plots::all(matrix),
        sections: sections(matrix),
        facts: facts(header),
        data: data::json(matrix, &groups, changes.is_some()),
    };
    page.write_into(out)?;
    writeln!(out)
}

fn changes_shown(changes: &Changes) -> ChangesShown {
    let section = |summary, list: &[Changed]| Section {
        summary,
        rows: list
            .iter()
            .take(ROWS)
            .map(|one| (one.count.to_string(), printable(&one.what)))
            .collect(),
    };
    let mut sections = vec![
        section("Fixed", &changes.fixed),
        section("Not checked any more", &changes.lost),
    ];
    sections.retain(|section| !section.rows.is_empty());
    ChangesShown {
        sum: printable(&changes.to_string()),
        sections,
    }
}

fn columns(matrix: &Matrix) -> Vec<ColumnSum> {
    let sums = matrix.columns().iter().zip(matrix.by_column());
    let columns = sums.map(|(column, (counts, seconds))| ColumnSum {
        backend: printable(&column.backend),
        device: printable(&column.device),
        compiler: printable(&column.compiler),
        counts,
        time: duration(seconds),
    });
    columns.collect()
}

fn sections(matrix: &Matrix) -> Vec<Section> {
    let reasons = |reasons: &Reasons| -> Vec<(String, String)> {
        let sorted = reasons.sorted();
        let rows = sorted.iter().take(ROWS).map(|reason| {
            let programs = super::counted(reason.programs.len(), "program");
            let text = format!("{} ({programs})", reason.text);
            (reason.count.to_string(), printable(&text))
        });
        rows.collect()
    };
    let checks = checks::ALL.iter();
    let checks = checks.map(|check| (check.name.to_owned(), check.about.to_owned()));
    let mut sections = vec![
        Section {
            summary: "Failed as expected, by reason",
            rows: reasons(matrix.expected()),
        },
        Section {
            summary: "Skipped, by reason",
            rows: reasons(matrix.skips()),
        },
        Section {
            summary: "The checks",
            rows: checks.collect(),
        },
    ];
    sections.retain(|section| !section.rows.is_empty());
    sections
}

fn facts(header: &Header) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("made by", printable(&header.generator)),
        ("seed", header.seed.to_string()),
    ];
    for compiler in &header.compilers {
        let text = format!("{} ({})", compiler.label, compiler.path);
        facts.push(("compiler", printable(&text)));
    }
    for device in &header.devices {
        let what = if device.usable {
            "backend"
        } else {
            "not usable"
        };
        facts.push((what, printable(&device.described())));
    }
    facts
}

/// The text with U+FFFD for characters that HTML does not allow or a page does not show.
pub(super) fn printable(text: &str) -> String {
    let replaced = text.chars().map(|c| match c {
        '\n' | '\t' => c,
        c if is_hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        c => c,
    });
    replaced.collect()
}
