//! The report for people: one HTML page that needs no other file, no server and no script.
//!
//! The page is `templates/report.html`; this module prepares its data.

use super::escape::is_hidden;
use super::matrix::{Matrix, cell, title};
use super::{Counts, repeat_with};
use crate::checks;
use crate::record::{Header, Record};
use askama::Template;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// The data of the page. The template escapes every text.
#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    total: Counts,
    facts: Vec<(&'static str, String)>,
    failures: Vec<Failure>,
    columns: Vec<String>,
    rows: Vec<Row>,
    sections: Vec<Section>,
}

struct Failure {
    /// Set for the first failure of its program, to which the table links.
    anchor: Option<String>,
    title: String,
    message: String,
    repeat: String,
}

struct Row {
    program: String,
    anchor: String,
    cells: Vec<Cell>,
}

struct Cell {
    failed: bool,
    class: &'static str,
    text: String,
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
pub fn write(out: &mut dyn Write, header: &Header, matrix: &Matrix) -> io::Result<()> {
    let page = Page {
        total: matrix.total(),
        facts: facts(header),
        failures: failures(header, matrix),
        columns: columns(matrix),
        rows: rows(matrix),
        sections: sections(matrix),
    };
    page.write_into(out)?;
    writeln!(out)
}

fn facts(header: &Header) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("made by", printable(&header.generator)),
        ("seed", header.seed.to_string()),
    ];
    for compiler in &header.compilers {
        let text = match compiler.label == compiler.version {
            true => compiler.version.clone(),
            false => format!("{} ({})", compiler.label, compiler.path),
        };
        facts.push(("compiler", printable(&text)));
    }
    for device in &header.devices {
        let text = if device.usable {
            format!("{} on {}", device.backend, device.name)
        } else {
            format!(
                "{}: not usable: {}",
                device.backend,
                first_line(&device.reason)
            )
        };
        facts.push(("backend", printable(&text)));
    }
    facts
}

fn failures(header: &Header, matrix: &Matrix) -> Vec<Failure> {
    let mut seen = BTreeSet::new();
    let failures = matrix.failures().iter().map(|record| {
        let finding = &record.finding;
        let program = record.place.program.as_str();
        let cause = finding
            .cause
            .map_or_else(String::new, |cause| format!("{cause}: "));
        Failure {
            anchor: seen.insert(program).then(|| anchor(program)),
            title: printable(&format!("{cause}{}", title(record))),
            message: printable(&finding.message),
            repeat: printable(&repeat_with(header, record)),
        }
    });
    failures.collect()
}

fn columns(matrix: &Matrix) -> Vec<String> {
    let columns = matrix.columns().iter().map(|column| {
        let note = column.device_note(matrix.columns());
        let words = [&column.backend, note, &column.compiler];
        let words = words.into_iter().filter(|word| !word.is_empty());
        printable(&words.collect::<Vec<_>>().join(" "))
    });
    columns.collect()
}

fn rows(matrix: &Matrix) -> Vec<Row> {
    let rows = matrix.rows().map(|(program, counts)| Row {
        program: printable(program),
        anchor: anchor(program),
        cells: counts
            .iter()
            .map(|counts| Cell {
                failed: counts.failed > 0,
                class: class(counts),
                text: cell(counts),
            })
            .collect(),
    });
    rows.collect()
}

fn class(counts: &Counts) -> &'static str {
    match counts {
        Counts { failed: 1.., .. } => "fail",
        Counts { expected: 1.., .. } => "expected",
        Counts { passed: 1.., .. } => "pass",
        _ => "none",
    }
}

/// The address of a program's first failure in the page. Characters other than ASCII letters,
/// digits, `.` and `-` are encoded as numbers.
fn anchor(program: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let encoded = program.chars().map(|c| {
        if plain(c) {
            c.to_string()
        } else {
            format!("_{:x}_", u32::from(c))
        }
    });
    format!("program-{}", encoded.collect::<String>())
}

fn sections(matrix: &Matrix) -> Vec<Section> {
    let expected = matrix.expected().iter().map(|record: &Record| {
        let reason = first_line(&record.finding.message);
        (printable(&title(record)), printable(reason))
    });
    let skips = matrix.skips().into_iter();
    let skips = skips.map(|(reason, count)| (count.to_string(), printable(first_line(reason))));
    let checks = checks::ALL.iter();
    let checks = checks.map(|check| (check.name.to_owned(), check.about.to_owned()));
    let mut sections = vec![
        Section {
            summary: "Expected failures",
            rows: expected.collect(),
        },
        Section {
            summary: "Skips, with their number and reason",
            rows: skips.collect(),
        },
        Section {
            summary: "The checks",
            rows: checks.collect(),
        },
    ];
    sections.retain(|section| !section.rows.is_empty());
    sections
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;
    use crate::report::tests::{header, record};

    fn page(records: &[Record]) -> String {
        let mut matrix = Matrix::of(records);
        records.iter().for_each(|record| matrix.add(record));
        let mut out = Vec::new();
        write(&mut out, &header(), &matrix).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_page_needs_no_other_file() {
        let page = page(&[record("a.fut", "c", Outcome::Pass)]);
        for outside in ["http:", "https:", "<script", "<link", "src=", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("<p>None.</p>"));
    }

    #[test]
    fn the_table_links_to_the_full_failures() {
        let page = page(&[
            record("x/a.fut", "c", Outcome::Fail),
            record("x/a.fut", "c", Outcome::Pass),
            record("b.fut", "c", Outcome::ExpectedFail),
        ]);
        assert!(
            page.contains("<article id=\"program-x_2f_a.fut\">"),
            "{page}"
        );
        assert!(
            page.contains("href=\"#program-x_2f_a.fut\">1 1!</a>"),
            "{page}"
        );
        assert!(
            page.contains("<pre>first line\nsecond line</pre>"),
            "{page}"
        );
        assert!(page.contains("--futhark /x/futhark-1 --check"), "{page}");
        assert!(page.contains("Expected failures"), "{page}");
    }

    #[test]
    fn texts_of_programs_are_escaped() {
        let mut evil = record("<script>.fut", "c", Outcome::Fail);
        evil.finding.message = "</pre><script>alert(1)</script>".into();
        evil.finding.case = "\"><img>".into();
        let mut skipped = record("<b>.fut", "c", Outcome::Skip);
        skipped.finding.message = "<i>why".into();
        let page = page(&[evil, skipped]);
        for tag in ["<script", "<img", "<i>", "<b>", "</pre><"] {
            assert!(!page.contains(tag) || tag == "</pre><", "{tag}: {page}");
        }
        assert!(page.contains("&#60;/pre&#62;&#60;script&#62;alert(1)"));
    }
}
