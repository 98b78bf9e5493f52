//! The report for people who were not there: one page, which needs nothing
//! else, neither a server nor a script.

use super::markup::Escaped;
use super::matrix::{Matrix, cell, title};
use super::{Counts, repeat_with};
use crate::checks;
use crate::record::{Header, Record};
use std::collections::BTreeMap;
use std::io::{self, Write};

const STYLE: &str = include_str!("html.css");

/// Writes the page.
///
/// # Errors
/// If the stream does not take it.
pub fn write(out: &mut dyn Write, header: &Header, matrix: &Matrix) -> io::Result<()> {
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Futhark conformance</title>\n<style>\n{STYLE}</style>\n</head>\n<body>"
    )?;
    head(out, header, matrix.total())?;
    failures(out, header, matrix)?;
    table(out, matrix)?;
    expected(out, matrix)?;
    skips(out, matrix)?;
    explained(out)?;
    writeln!(out, "</body>\n</html>")
}

fn head(out: &mut dyn Write, header: &Header, total: Counts) -> io::Result<()> {
    let Counts {
        passed,
        failed,
        expected,
        skipped,
    } = total;
    let class = if failed > 0 { "fail" } else { "pass" };
    writeln!(
        out,
        "<h1>Futhark conformance</h1>\n<p><span class=\"{class}\">{failed} failed</span>, \
         {passed} passed, {expected} failed as expected, {skipped} skipped, of {}</p>\n<dl>",
        total.total()
    )?;
    let mut row =
        |term: &str, what: String| writeln!(out, "<dt>{term}</dt><dd>{}</dd>", Escaped(&what));
    row("made by", header.generator.clone())?;
    row("seed", header.seed.to_string())?;
    for compiler in &header.compilers {
        row("compiler", compiler.version.clone())?;
    }
    for device in &header.devices {
        let what = if device.usable {
            format!("{} on {}", device.backend, device.name)
        } else {
            let reason = device.reason.lines().next().unwrap_or_default();
            format!("{}: not usable: {reason}", device.backend)
        };
        row("backend", what)?;
    }
    writeln!(out, "</dl>")
}

fn failures(out: &mut dyn Write, header: &Header, matrix: &Matrix) -> io::Result<()> {
    writeln!(out, "<h2>What failed</h2>")?;
    if matrix.failures().is_empty() {
        return writeln!(out, "<p>Nothing.</p>");
    }
    // A cell of the table leads to the first failure of its program.
    let mut seen: BTreeMap<&str, ()> = BTreeMap::new();
    for record in matrix.failures() {
        let finding = &record.finding;
        let program = record.place.program.as_str();
        let id = match seen.insert(program, ()) {
            None => format!(" id=\"{}\"", Escaped(&anchor(program))),
            Some(()) => String::new(),
        };
        let cause = finding
            .cause
            .map_or_else(String::new, |cause| format!("{cause}: "));
        writeln!(
            out,
            "<article{id}>\n<h3>{}{}</h3>\n<pre>{}</pre>\n<p>repeat: <code>{}</code></p>\n</article>",
            Escaped(&cause),
            Escaped(&title(record)),
            Escaped(&finding.message),
            Escaped(&repeat_with(header, record))
        )?;
    }
    Ok(())
}

fn table(out: &mut dyn Write, matrix: &Matrix) -> io::Result<()> {
    writeln!(
        out,
        "<h2>Programs, backends and compilers</h2>\n<p>12 passed, 3! failed, 2~ failed as \
         expected, 1- skipped, . nothing was checked</p>\n<div class=\"scroll\"><table>\n<thead><tr>\
         <th scope=\"col\">program</th>"
    )?;
    for column in matrix.columns() {
        let note = column.device_note(matrix.columns());
        let words = [&column.backend, note, &column.compiler];
        let words = words.into_iter().filter(|word| !word.is_empty());
        let name = words.collect::<Vec<_>>().join(" ");
        write!(out, "<th scope=\"col\">{}</th>", Escaped(&name))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for (program, cells) in matrix.rows() {
        write!(out, "<tr><th scope=\"row\">{}</th>", Escaped(program))?;
        for counts in cells {
            let (class, text) = (class(counts), cell(counts));
            if counts.failed > 0 {
                let anchor = anchor(program);
                let anchor = Escaped(&anchor);
                write!(
                    out,
                    "<td class=\"number\"><a class=\"{class}\" href=\"#{anchor}\">{text}</a></td>"
                )?;
            } else {
                write!(out, "<td class=\"number {class}\">{text}</td>")?;
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody>\n</table></div>")
}

fn class(counts: &Counts) -> &'static str {
    match counts {
        Counts { failed: 1.., .. } => "fail",
        Counts { expected: 1.., .. } => "expected",
        Counts { passed: 1.., .. } => "pass",
        _ => "none",
    }
}

/// Where the failures of a program begin. Not every character may stand in the
/// address of a place, so others stand for themselves as numbers.
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

fn expected(out: &mut dyn Write, matrix: &Matrix) -> io::Result<()> {
    let records: Vec<(String, &str)> = matrix
        .expected()
        .iter()
        .map(|record: &Record| {
            let reason = record.finding.message.lines().next().unwrap_or_default();
            (title(record), reason)
        })
        .collect();
    rows(out, "What failed as expected", &records)
}

fn skips(out: &mut dyn Write, matrix: &Matrix) -> io::Result<()> {
    let reasons: Vec<(String, &str)> = matrix
        .skips()
        .into_iter()
        .map(|(reason, count)| (count.to_string(), reason.lines().next().unwrap_or_default()))
        .collect();
    rows(out, "What was skipped, how often, and why", &reasons)
}

/// What each check proves, for whoever has never heard of them.
fn explained(out: &mut dyn Write) -> io::Result<()> {
    let checks: Vec<(String, &str)> = checks::ALL
        .iter()
        .map(|check| (check.name.to_owned(), check.about))
        .collect();
    rows(out, "The checks", &checks)
}

fn rows(out: &mut dyn Write, summary: &str, rows: &[(String, &str)]) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "<details>\n<summary>{summary}</summary>\n<table>")?;
    for (name, text) in rows {
        let (name, text) = (Escaped(name), Escaped(text));
        writeln!(out, "<tr><th scope=\"row\">{name}</th><td>{text}</td></tr>")?;
    }
    writeln!(out, "</table>\n</details>")
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
    fn the_page_stands_alone() {
        let page = page(&[record("a.fut", "c", Outcome::Pass)]);
        for outside in ["http:", "https:", "<script", "<link", "src=", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("<p>Nothing.</p>"));
    }

    #[test]
    fn failures_are_told_in_full_and_found_from_the_table() {
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
            page.contains("<pre>first line&#10;second line</pre>"),
            "{page}"
        );
        assert!(page.contains("--futhark /x/futhark-1 --check"), "{page}");
        assert!(page.contains("What failed as expected"), "{page}");
    }

    #[test]
    fn nothing_from_a_program_is_markup() {
        let mut evil = record("<script>.fut", "c", Outcome::Fail);
        evil.finding.message = "</pre><script>alert(1)</script>".into();
        evil.finding.case = "\"><img>".into();
        let mut skipped = record("<b>.fut", "c", Outcome::Skip);
        skipped.finding.message = "<i>why".into();
        let page = page(&[evil, skipped]);
        for tag in ["<script", "<img", "<i>", "<b>", "</pre><"] {
            assert!(!page.contains(tag) || tag == "</pre><", "{tag}: {page}");
        }
        assert!(page.contains("&lt;/pre&gt;&lt;script&gt;alert(1)"));
    }
}
