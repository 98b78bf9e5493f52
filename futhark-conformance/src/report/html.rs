//! The report for people: one HTML page that needs no other file and no server,
//! `templates/report.html`.
//!
//! The sums, the failures and the times are in the page itself, so that it can be read without scripts.
//! The table of programs is drawn by `templates/report.js` from compact JSON, because as HTML it would
//! be ten times as large.

use super::difference::Comparison;
use super::escape::{in_script, printable};
use super::summary::{Cause, ColumnSum, Counts, List, Summary, Tally, sum};
use super::table::keep_end;
use super::{counted, duration};
use crate::checks;
use crate::record::Header;
use askama::Template;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
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
/// The number of characters of a label beside a bar, and of programs with a bar.
const LABEL: usize = 24;
const PROGRAMS: usize = 12;

/// The data of the page. The template escapes every text except `data`.
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'s> {
    total: Counts,
    programs: usize,
    changes: Option<&'s Comparison>,
    causes: &'s [Cause<'s>],
    columns: Vec<ColumnSum<'s>>,
    plots: Vec<Plot>,
    lists: Vec<List>,
    header: &'s Header,
    data: String,
}

/// Times as bars.
struct Plot {
    title: String,
    longest: f64,
    bars: Vec<Bar>,
}

struct Bar {
    label: String,
    seconds: f64,
}

impl Bar {
    fn short(&self) -> String {
        keep_end(&printable(&self.label), LABEL)
    }

    fn percent(&self, plot: &Plot) -> String {
        let part = self.seconds / plot.longest.max(f64::MIN_POSITIVE);
        format!("{:.1}", 100.0 * part)
    }

    fn time(&self) -> String {
        duration(self.seconds)
    }
}

/// Writes the page.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(
    out: &mut dyn Write,
    header: &Header,
    summary: &Summary,
    changes: Option<&Comparison>,
) -> io::Result<()> {
    let causes = summary.causes(header);
    let page = Page {
        total: summary.total(),
        programs: summary.programs(),
        changes,
        causes: &causes,
        columns: summary.by_column(),
        plots: plots(summary),
        lists: summary.lists(changes),
        header,
        data: data(summary, &causes, changes.is_some()),
    };
    page.write_into(out)?;
    writeln!(out)
}

/// Times per column, per check, and of the slowest programs.
fn plots(summary: &Summary) -> Vec<Plot> {
    let plot = |title: String, mut bars: Vec<Bar>, most: usize| {
        bars.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        bars.truncate(most);
        let longest = bars.first().map_or(0.0, |bar| bar.seconds);
        Plot {
            title,
            longest,
            bars,
        }
    };
    let all = summary.columns();
    let columns = summary.by_column().into_iter().map(|sum| {
        let column = sum.column;
        let words = [&column.backend, column.device_note(all), &column.compiler];
        let words = words.into_iter().filter(|word| !word.is_empty());
        let label = words.collect::<Vec<_>>().join(" ");
        Bar {
            label,
            seconds: sum.seconds,
        }
    });
    let columns: Vec<Bar> = columns.collect();
    let total: f64 = columns.iter().map(|bar| bar.seconds).sum();
    let mut checks: BTreeMap<&str, f64> = BTreeMap::new();
    let mut programs: Vec<Bar> = Vec::new();
    for (program, cells) in summary.cells() {
        let label = program.to_owned();
        let (_, seconds) = sum(cells.iter().flatten());
        programs.push(Bar { label, seconds });
        for tally in cells.iter().flatten() {
            let check = summary.checks()[tally.check].as_str();
            *checks.entry(check).or_default() += f64::from(tally.seconds);
        }
    }
    let checks = checks.into_iter().map(|(check, seconds)| {
        let label = check.to_owned();
        Bar { label, seconds }
    });
    vec![
        plot(
            format!("By backend, {} in all", duration(total)),
            columns,
            usize::MAX,
        ),
        plot("By check".to_owned(), checks.collect(), usize::MAX),
        plot(
            "The slowest programs, on all backends".to_owned(),
            programs,
            PROGRAMS,
        ),
    ]
}

/// The data of the table. Most cells of a corpus are equal: the backends of a program pass the same
/// checks. So each distinct tally is written once; each distinct cell once, as the numbers of its
/// tallies; and programs have the numbers of their cells.
#[derive(Serialize)]
struct Data {
    /// Backend, device, compiler, and what distinguishes the device.
    columns: Vec<[String; 4]>,
    checks: Vec<String>,
    reasons: Vec<String>,
    /// The numbers of a check and of its passed, failed, expected and skipped cases, and that of a
    /// reason or -1.
    tallies: Vec<[i64; 6]>,
    cells: Vec<Vec<usize>>,
    /// The path, and the number of a cell per column.
    programs: Vec<(String, Vec<usize>)>,
    groups: Vec<Failures>,
    baseline: bool,
}

#[derive(Serialize)]
struct Failures {
    check: Option<usize>,
    /// -1 for a file that is not a program.
    columns: BTreeSet<i64>,
    count: usize,
    new: usize,
    /// The numbers of program and column.
    places: BTreeSet<(usize, usize)>,
}

fn data(summary: &Summary, causes: &[Cause<'_>], baseline: bool) -> String {
    let all = summary.columns();
    let columns = all.iter().map(|column| {
        let note = column.device_note(all);
        [&column.backend, &column.device, &column.compiler, note].map(printable)
    });
    let checks = summary.checks().iter().map(|check| printable(check));
    let (mut reasons, mut tallies, mut cells) = <(Numbers<_>, Numbers<_>, Numbers<_>)>::default();
    let mut of_tally = |tally: &Tally| {
        let reason = match summary.reason(tally) {
            "" => -1,
            reason => reasons.of(printable(reason)) as i64,
        };
        let Counts {
            passed,
            failed,
            expected,
            skipped,
        } = tally.counts;
        let [check, passed, failed, expected, skipped] =
            [tally.check, passed, failed, expected, skipped].map(|number| number as i64);
        tallies.of([check, passed, failed, expected, skipped, reason])
    };
    let programs = summary.cells().map(|(program, row)| {
        let row = row.iter();
        let row = row.map(|cell| cells.of(cell.iter().map(&mut of_tally).collect()));
        (printable(program), row.collect())
    });
    let programs: Vec<(String, Vec<usize>)> = programs.collect();
    let numbers: HashMap<&str, usize> = summary
        .cells()
        .map(|(program, _)| program)
        .zip(0..)
        .collect();
    let groups = causes.iter().take(CAUSES).map(|cause| {
        let members = cause.group.members.iter();
        let columns = members
            .clone()
            .map(|one| one.column.map_or(-1, |column| column as i64));
        let places = members.filter_map(|one| Some((*numbers.get(&*one.program)?, one.column?)));
        let check = summary
            .checks()
            .iter()
            .position(|check| *check == cause.group.check);
        Failures {
            check,
            columns: columns.collect(),
            count: cause.count(),
            new: cause.new_failures(),
            places: places.collect(),
        }
    });
    let data = Data {
        columns: columns.collect(),
        checks: checks.collect(),
        groups: groups.collect(),
        programs,
        reasons: reasons.list,
        tallies: tallies.list,
        cells: cells.list,
        baseline,
    };
    in_script(&serde_json::to_string(&data).unwrap_or_default())
}

/// Distinct values, each with its number.
struct Numbers<T> {
    list: Vec<T>,
    index: HashMap<T, usize>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Numbers<T> {
        Numbers {
            list: Vec::new(),
            index: HashMap::new(),
        }
    }
}

impl<T: Clone + Eq + Hash> Numbers<T> {
    fn of(&mut self, value: T) -> usize {
        *self.index.entry(value).or_insert_with_key(|value| {
            self.list.push(value.clone());
            self.list.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Outcome, Record};
    use crate::report::tests::{header, record, summary};
    use serde_json::Value;

    fn page_of(summary: &Summary) -> String {
        let mut out = Vec::new();
        write(&mut out, &header(), summary, None).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn page(records: &[Record]) -> String {
        page_of(&summary(records))
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
        assert!(
            page.contains("<pre class=\"message\">first line\nsecond line</pre>"),
            "{page}"
        );
        assert!(page.contains("--futhark /x/futhark-1 --check"), "{page}");
        assert!(
            page.contains("2 failures in 1 program on c, opencl with 1: x/a.fut"),
            "{page}"
        );
        assert!(page.contains("1 other failure"), "{page}");
        assert!(page.contains("Failed as expected, by reason (1)"), "{page}");
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
        let mut checks = data["checks"].as_array().unwrap().iter();
        let blocks = checks.position(|check| check == "blocks");
        let tallies = serde_json::json!([[blocks, 1, 0, 0, 0, -1], [blocks, 0, 1, 0, 0, -1]]);
        assert_eq!(data["tallies"], tallies);
        assert_eq!(data["cells"], serde_json::json!([[0], [], [1]]));
        assert_eq!(data["groups"][0]["places"], serde_json::json!([[1, 1]]));
    }

    #[test]
    fn texts_of_programs_are_escaped() {
        let mut evil = record("<script>.fut", "c", Outcome::Fail);
        evil.finding.message = "</pre><script>alert(1)</script>".into();
        evil.finding.case = "\"><img>".into();
        let mut skipped = record("<b>.fut", "c", Outcome::Skip);
        skipped.finding.message = "<i>why</script><!--".into();
        let page = page(&[evil, skipped]);
        assert_eq!(page.matches("<script").count(), 2, "{page}");
        assert_eq!(page.matches("</script>").count(), 2, "{page}");
        for tag in ["<img", "<i>", "<b>.fut", "<!--"] {
            assert!(!page.contains(tag), "{tag}: {page}");
        }
        assert!(page.contains("&#60;/pre&#62;&#60;script&#62;alert(1)"));
        assert_eq!(data(&page)["reasons"][0], "<i>why</script><!--");
    }

    #[test]
    fn the_page_of_a_large_corpus_is_small() {
        let mut records = Vec::new();
        for number in 0..2000 {
            for backend in ["c", "multicore", "opencl"] {
                for check in ["compile", "blocks", "leaks", "store"] {
                    let name = format!("programs/folder-{}/program-{number}.fut", number % 50);
                    let mut one = record(&name, backend, Outcome::Pass);
                    one.finding.check = check.into();
                    one.finding.message.clear();
                    records.push(one);
                }
            }
        }
        let summary = summary(&records);
        let size = page_of(&summary).len();
        assert!(size < 200_000, "{size}");
    }
}
