//! The report for people: one HTML page that needs no other file and no server,
//! `templates/report.html`.
//!
//! The totals, the failures and the times are in the page itself, so that it can be read without scripts.
//! The table of programs is drawn by `templates/report.js` from compact JSON, because as HTML it would
//! be ten times as large.

use super::escape::visible;
use super::groups::start;
use super::summary::{Cell, Counts, Summary, reason, seconds};
use super::{counted, duration};
use crate::checks;
use crate::record::Record;
use askama::Template;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};

/// The number of causes that have a line; that are shown in full; that are not in a folded list; that
/// are unfolded.
const CAUSES: usize = 1000;
const DETAILS: usize = 300;
const FIRST: usize = 10;
const OPEN: usize = 3;
/// The number of further failures of a cause that have a command, and of rows of a list.
const MEMBERS: usize = 20;
const ROWS: usize = 500;
/// The number of characters of a reason in the table, and of programs with a bar.
const REASON: usize = 300;
const PROGRAMS: usize = 12;

/// The data of the page. The template escapes every text except `data`.
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'s, 'r> {
    summary: &'s Summary<'r>,
    /// The title and the bars of each plot of times, the longest first.
    plots: Vec<(&'static str, Vec<(String, f64)>)>,
    /// The time of all results.
    total: String,
    data: String,
}

pub(super) fn write(out: &mut dyn Write, summary: &Summary<'_>) -> io::Result<()> {
    let plots = plots(summary);
    let page = Page {
        summary,
        total: duration(plots[0].1.iter().map(|(_, seconds)| seconds).sum()),
        plots,
        data: data(summary)?,
    };
    page.write_into(out)?;
    writeln!(out)
}

/// Times per column, per check, and of the slowest programs.
fn plots(summary: &Summary<'_>) -> Vec<(&'static str, Vec<(String, f64)>)> {
    let mut plots = [
        "By backend",
        "By check",
        "The slowest programs, on all backends",
    ]
    .map(|title| (title, BTreeMap::new()));
    for (program, cells) in &summary.programs {
        for (column, cell) in summary.columns.iter().zip(cells) {
            let words = [column.backend, column.device_note(), column.compiler];
            let column = words.join(" ").replace("  ", " ");
            for ((_, check), records) in cell {
                let seconds = seconds(records.iter().copied());
                for ((_, bars), label) in plots.iter_mut().zip([&column, *check, *program]) {
                    *bars.entry(label.to_owned()).or_default() += seconds;
                }
            }
        }
    }
    let plots = plots.map(|(title, bars)| {
        let mut bars: Vec<(String, f64)> = bars.into_iter().collect();
        bars.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        (title, bars)
    });
    let mut plots = Vec::from(plots);
    plots[2].1.truncate(PROGRAMS);
    plots
}

/// The data of the table. Most cells of a corpus are equal: the backends of a program pass the same
/// checks. So each distinct cell is written once, and programs have the numbers of their cells.
#[derive(Serialize)]
struct Data<'r> {
    /// Backend, device, compiler, and what distinguishes the device.
    columns: Vec<[&'r str; 4]>,
    checks: Vec<&'r str>,
    cells: Vec<Vec<Tally<'r>>>,
    /// The path, and the number of a cell per column.
    programs: Vec<(Cow<'r, str>, Vec<usize>)>,
    groups: Vec<Failures>,
    baseline: bool,
}

/// The number of a check, those of its passed, failed, expected and skipped cases, and a reason.
type Tally<'r> = (usize, usize, usize, usize, usize, &'r str);

#[derive(Serialize)]
struct Failures {
    check: Option<usize>,
    count: usize,
    new: usize,
    /// The numbers of program and column, or -1 for a file that is not a program.
    cells: BTreeSet<[i64; 2]>,
}

fn data(summary: &Summary<'_>) -> io::Result<String> {
    let columns = summary.columns.iter().map(|column| {
        let note = column.device_note();
        [column.backend, column.device, column.compiler, note]
    });
    let cells = summary.programs.values().flatten();
    let checks: BTreeSet<_> = cells.flat_map(Cell::keys).copied().collect();
    let checks: Vec<(usize, &str)> = checks.into_iter().collect();
    let mut numbers: HashMap<Vec<Tally<'_>>, usize> = HashMap::new();
    let mut cells = Vec::new();
    let programs = summary.programs.iter().map(|(program, row)| {
        let row = row.iter().map(|cell| {
            let tallies = cell.iter().map(|(check, records)| {
                let check = checks.binary_search(check).unwrap_or_default();
                let counts = Counts::from_records(records.iter().copied());
                let reason = start(reason(records), REASON);
                (
                    check,
                    counts.passed,
                    counts.failed,
                    counts.expected,
                    counts.skipped,
                    reason,
                )
            });
            let tallies: Vec<Tally<'_>> = tallies.collect();
            *numbers.entry(tallies).or_insert_with_key(|tallies| {
                cells.push(tallies.clone());
                cells.len() - 1
            })
        });
        (visible(program, ""), row.collect())
    });
    let programs: Vec<(Cow<'_, str>, Vec<usize>)> = programs.collect();
    let numbers = summary.programs.keys().copied().zip(0..);
    let numbers: HashMap<&str, i64> = numbers.collect();
    let cell = |record: &&Record| {
        let program = numbers.get(record.job.program.as_str());
        let column = summary.column(&record.job);
        match (program, column) {
            (Some(program), Some(column)) => [*program, column as i64],
            _ => [-1, -1],
        }
    };
    let failures = summary.failures.iter().take(CAUSES).map(|group| Failures {
        check: (checks.iter()).position(|(_, name)| *name == group.example.result.check),
        count: group.members.len(),
        new: group.new,
        cells: group.members.iter().map(cell).collect(),
    });
    let data = Data {
        columns: columns.collect(),
        checks: checks.iter().map(|(_, name)| *name).collect(),
        groups: failures.collect(),
        programs,
        cells,
        baseline: summary.changes.is_some(),
    };
    // `</script>` would end the element.
    Ok(serde_json::to_string(&data)?.replace('<', "\\u003c"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Outcome, Record};
    use crate::report::tests::{assert_has, record, report};
    use serde_json::Value;

    fn page(records: &[Record]) -> String {
        let mut out = Vec::new();
        write(&mut out, &Summary::from_report(&report(records))).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn data(page: &str) -> Value {
        let (_, text) = page.split_once("id=\"data\">").unwrap();
        serde_json::from_str(text.split_once("</script>").unwrap().0).unwrap()
    }

    #[test]
    fn the_page_needs_no_other_file() {
        let page = page(&[record("a.fut", "c", Outcome::Pass)]);
        for outside in [
            "http:", "https:", "<link", "src=", "url(", "@import", "fetch(",
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("No failures."));
    }

    #[test]
    fn the_legend_of_the_table_has_no_counts() {
        let page = page(&[record("a.fut", "c", Outcome::Pass)]);
        let legend = page
            .lines()
            .find(|line| line.contains("nothing checked. A"));
        let text = legend.unwrap().split_once("\">").unwrap().1;
        assert!(!text.contains(|c: char| c.is_ascii_digit()), "{text}");
    }

    #[test]
    fn failures_can_be_read_without_a_script() {
        let page = page(&[
            record("x/a.fut", "c", Outcome::Fail),
            record("x/a.fut", "opencl", Outcome::Fail),
            record("b.fut", "c", Outcome::ExpectedFail),
        ]);
        assert_eq!(page.matches("<details class=\"group\"").count(), 1);
        assert_has(
            &page,
            "<pre class=\"message\">first line\nsecond line</pre>",
        );
        assert_has(&page, "--futhark /x/futhark-1 --check");
        assert_has(
            &page,
            "2 failures in 1 program on c, opencl with 1: x/a.fut",
        );
        assert_has(&page, "1 other failure");
        assert_has(&page, "Failed as expected, by reason (1)");
    }

    #[test]
    fn the_table_has_every_program_and_equal_cells_once() {
        let page = page(&[
            record("x/a.fut", "c", Outcome::Pass),
            record("x/b.fut", "c", Outcome::Pass),
            record("x/b.fut", "opencl", Outcome::Fail),
        ]);
        let data = data(&page);
        assert_eq!(data["programs"][0], serde_json::json!(["x/a.fut", [0, 1]]));
        assert_eq!(data["programs"][1], serde_json::json!(["x/b.fut", [0, 2]]));
        assert_eq!(data["checks"], serde_json::json!(["blocks"]));
        let cells = serde_json::json!([[[0, 1, 0, 0, 0, ""]], [], [[0, 0, 1, 0, 0, ""]]]);
        assert_eq!(data["cells"], cells);
        assert_eq!(data["groups"][0]["cells"], serde_json::json!([[1, 1]]));
    }

    #[test]
    fn texts_of_programs_are_escaped() {
        let mut evil = record("<script>.fut", "c", Outcome::Fail);
        evil.result.message = "</pre><script>alert(1)</script>".into();
        evil.result.case = "\"><img>".into();
        let mut skipped = record("<b>.fut", "c", Outcome::Skip);
        skipped.result.message = "<i>why</script><!--".into();
        let page = page(&[evil, skipped]);
        assert_eq!(page.matches("<script").count(), 2, "{page}");
        assert_eq!(page.matches("</script>").count(), 2, "{page}");
        for tag in ["<img", "<i>", "<b>.fut", "<!--"] {
            assert!(!page.contains(tag), "{tag}: {page}");
        }
        assert!(page.contains("&#60;/pre&#62;&#60;script&#62;alert(1)"));
        assert_eq!(data(&page)["cells"][0][0][5], "<i>why</script><!--");
    }

    #[test]
    fn the_page_of_a_large_corpus_is_small() {
        let mut records = Vec::new();
        for number in 0..2000 {
            for backend in ["c", "multicore", "opencl"] {
                for check in ["compile", "blocks", "leaks", "store"] {
                    let name = format!("programs/folder-{}/program-{number}.fut", number % 50);
                    let mut one = record(&name, backend, Outcome::Pass);
                    one.result.check = check.into();
                    one.result.message.clear();
                    records.push(one);
                }
            }
        }
        let size = page(&records).len();
        assert!(size < 200_000, "{size}");
    }
}
