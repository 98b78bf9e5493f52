//! What all reports show of a run: counts and times per program, column and check; failures by
//! cause; expected failures and skips by reason.
//!
//! Passes are only counted, so memory grows with the number of jobs and failures, not of cases.

use super::difference::{Change, Comparison, Difference, rows};
use super::excerpt::{Excerpt, excerpt};
use super::groups::{Group, Groups, Reasons};
use super::repeat_with;
use super::{counted, duration};
use crate::checks;
use crate::devices::{HOST, column_label, parts};
use crate::identity::version_of;
use crate::record::{Header, NOWHERE, Outcome, Place, Record};
use futhark_manifest::Backend;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The number of records per outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Promises that held.
    pub passed: usize,
    /// Promises that did not hold.
    pub failed: usize,
    /// Expected failures.
    pub expected: usize,
    /// Cases that could not be checked.
    pub skipped: usize,
}

impl Counts {
    /// Counts a record.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Pass => self.passed += 1,
            Outcome::Fail => self.failed += 1,
            Outcome::ExpectedFail => self.expected += 1,
            Outcome::Skip => self.skipped += 1,
        }
    }

    /// Adds other counts.
    pub fn include(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.expected += other.expected;
        self.skipped += other.skipped;
    }

    /// The counts that are not zero, each with its mark.
    #[must_use]
    pub fn marked(&self) -> String {
        let marked = [
            (self.passed, ""),
            (self.failed, "!"),
            (self.expected, "~"),
            (self.skipped, "-"),
        ];
        let parts = marked.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, mark)| format!("{count}{mark}"))
            .collect();
        match parts.is_empty() {
            true => ".".to_owned(),
            false => parts.join(" "),
        }
    }

    /// The number of all records.
    #[must_use]
    pub fn total(&self) -> usize {
        self.passed + self.failed + self.expected + self.skipped
    }
}

/// A backend on a device, with a compiler: a column of the table of programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The backend's name.
    pub backend: String,
    /// The device's name.
    pub device: String,
    /// The compiler's label.
    pub compiler: String,
}

impl Column {
    /// The column of a job; `None` for a file that is not a program.
    #[must_use]
    pub fn of(place: &Place) -> Option<Column> {
        (place.backend != NOWHERE).then(|| Column {
            backend: place.backend.clone(),
            device: place.device.clone(),
            compiler: place.compiler.clone(),
        })
    }

    /// The device, unless it is the host.
    #[must_use]
    pub fn named_device(&self) -> &str {
        match self.device.as_str() {
            HOST => "",
            device => device,
        }
    }

    /// The note about the device in the column's title: the word for a simulated or emulated
    /// device; or the part of the name that distinguishes it from `others` of the same backend; or
    /// nothing.
    #[must_use]
    pub fn device_note(&self, others: &[Column]) -> &str {
        if let Some(word) = column_label(&self.device) {
            return word;
        }
        let mut rivals = others
            .iter()
            .filter(|other| other.backend == self.backend && other.device != self.device)
            .peekable();
        if rivals.peek().is_none() {
            return "";
        }
        let (platform, device) = parts(&self.device);
        match rivals.any(|other| parts(&other.device).0 == platform) {
            true => device,
            false => platform,
        }
    }
}

impl PartialOrd for Column {
    fn partial_cmp(&self, other: &Column) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Column {
    fn cmp(&self, other: &Column) -> Ordering {
        let key = |column: &Column| {
            let backends = Backend::ALL.iter();
            let rank = backends.map(|backend| backend.as_str());
            let rank = rank.take_while(|name| *name != column.backend).count();
            // Compared as numbers, so that 0.9 comes before 0.10.
            let version = version_of(&column.compiler).split('.');
            let version: Vec<Option<u32>> = version.map(|part| part.parse().ok()).collect();
            let Column {
                backend,
                device,
                compiler,
            } = column.clone();
            (rank, backend, device, version, compiler)
        };
        key(self).cmp(&key(other))
    }
}

/// The results of one check of one program in one column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// The number of the check in [`Summary::checks`].
    pub check: usize,
    /// The results.
    pub counts: Counts,
    /// The time that they took.
    pub seconds: f32,
    /// The number of the first reason for an expected failure, otherwise for a skip.
    pub reason: Option<usize>,
}

/// The results of a program in a column, in the order of checks.
pub type Cell = Vec<Tally>;

/// The results of a run.
#[derive(Debug)]
pub struct Summary {
    columns: Vec<Column>,
    checks: Vec<String>,
    rows: BTreeMap<String, Vec<Cell>>,
    failures: Groups,
    expected: Reasons,
    skips: Reasons,
    total: Counts,
}

impl Summary {
    /// A summary with these columns.
    #[must_use]
    pub fn new(columns: Vec<Column>) -> Summary {
        let checks = checks::ALL.iter().map(|check| check.name.to_owned());
        Summary {
            columns,
            checks: checks.collect(),
            rows: BTreeMap::new(),
            failures: Groups::default(),
            expected: Reasons::default(),
            skips: Reasons::default(),
            total: Counts::default(),
        }
    }

    /// Counts a record; `is_new` if it is a failure that the baseline does not have.
    pub fn add(&mut self, record: &Record, is_new: bool) {
        let Record { place, finding } = record;
        self.total.add(finding.outcome);
        let column = self.columns.iter().position(|column| {
            column.backend == place.backend
                && column.device == place.device
                && column.compiler == place.compiler
        });
        let reason = match finding.outcome {
            Outcome::Fail => {
                self.failures.add(record, column, is_new);
                None
            }
            Outcome::ExpectedFail => Some(self.expected.add(record)),
            Outcome::Skip => Some(self.skips.add(record)),
            Outcome::Pass => None,
        };
        let Some(column) = column else { return };
        let known = self.checks.iter().position(|name| *name == finding.check);
        let check = known.unwrap_or_else(|| {
            self.checks.push(finding.check.clone());
            self.checks.len() - 1
        });
        // Most records belong to a row that exists.
        if !self.rows.contains_key(&place.program) {
            let cells = vec![Cell::new(); self.columns.len()];
            self.rows.insert(place.program.clone(), cells);
        }
        let Some(cells) = self.rows.get_mut(&place.program) else {
            return;
        };
        let cell = &mut cells[column];
        let at = cell.binary_search_by_key(&check, |tally| tally.check);
        let at = at.unwrap_or_else(|at| {
            cell.insert(
                at,
                Tally {
                    check,
                    ..Tally::default()
                },
            );
            at
        });
        let tally = &mut cell[at];
        // An expected failure is more than a skip.
        let is_first = finding.outcome == Outcome::ExpectedFail && tally.counts.expected == 0;
        if tally.reason.is_none() || is_first {
            tally.reason = reason.or(tally.reason);
        }
        tally.counts.add(finding.outcome);
        tally.seconds += finding.seconds as f32;
    }

    /// The counts of all records.
    #[must_use]
    pub fn total(&self) -> Counts {
        self.total
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The names of checks, which tallies refer to by number, in the order of the catalogue.
    #[must_use]
    pub fn checks(&self) -> &[String] {
        &self.checks
    }

    /// The number of programs with results.
    #[must_use]
    pub fn programs(&self) -> usize {
        self.rows.len()
    }

    /// Each program with its cells, one per column.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &[Cell])> {
        let rows = self.rows.iter();
        rows.map(|(program, cells)| (program.as_str(), cells.as_slice()))
    }

    /// Counts and seconds per column.
    #[must_use]
    pub fn by_column(&self) -> Vec<ColumnSum<'_>> {
        let columns = self.columns.iter().enumerate().map(|(number, column)| {
            let (counts, seconds) = sum(self.rows.values().flat_map(|cells| &cells[number]));
            ColumnSum {
                column,
                counts,
                seconds,
            }
        });
        columns.collect()
    }

    /// The failures by cause: new ones first, then the most frequent.
    #[must_use]
    pub fn failures(&self) -> Vec<&Group> {
        self.failures.sorted()
    }

    /// The same with the texts that reports show.
    #[must_use]
    pub fn causes<'s>(&'s self, header: &'s Header) -> Vec<Cause<'s>> {
        let groups = self.failures().into_iter();
        groups
            .map(|group| Cause::new(group, &self.columns, header))
            .collect()
    }

    /// Reasons, the most frequent first, and what changed since the baseline. No list is empty.
    #[must_use]
    pub fn lists(&self, changes: Option<&Comparison>) -> Vec<List> {
        let reasons = |heading, reasons: &Reasons| {
            let rows = reasons.sorted().into_iter().map(|reason| ListRow {
                count: reason.count,
                text: reason.text.clone(),
                note: match reason.programs.len() {
                    0 | 1 => String::new(),
                    programs => format!(" ({programs} programs)"),
                },
            });
            List {
                heading,
                rows: rows.collect(),
            }
        };
        let mut lists = vec![
            reasons("Skipped, by reason", &self.skips),
            reasons("Failed as expected, by reason", &self.expected),
        ];
        for (heading, change) in [
            ("Fixed since the baseline", Change::Fixed),
            ("Not checked any more", Change::Lost),
        ] {
            let of_run = |one: &&Difference| one.was_run;
            let changed = changes.iter().flat_map(|changes| changes.of(change));
            let changed = rows(changed.filter(of_run)).into_iter();
            let changed = changed.map(|row| ListRow {
                count: row.count,
                text: row.text,
                note: String::new(),
            });
            lists.push(List {
                heading,
                rows: changed.collect(),
            });
        }
        lists.retain(|list| !list.rows.is_empty());
        lists
    }

    /// The reason of a tally in one line; empty if nothing in it was skipped or failed as expected.
    #[must_use]
    pub fn reason(&self, tally: &Tally) -> &str {
        let reasons = match tally.counts.expected {
            0 => &self.skips,
            _ => &self.expected,
        };
        let reason = tally.reason.and_then(|number| reasons.get(number));
        reason.map_or("", |reason| reason.text.as_str())
    }
}

/// The results of all programs in a column.
#[derive(Debug)]
pub struct ColumnSum<'s> {
    /// The column.
    pub column: &'s Column,
    /// The results.
    pub counts: Counts,
    /// The time that they took.
    pub seconds: f64,
}

impl ColumnSum<'_> {
    /// The time for people.
    #[must_use]
    pub fn time(&self) -> String {
        duration(self.seconds)
    }
}

/// A list of a report.
#[derive(Debug)]
pub struct List {
    /// What it lists.
    pub heading: &'static str,
    /// Its rows, the most frequent first.
    pub rows: Vec<ListRow>,
}

/// A text with the number of its results.
#[derive(Debug)]
pub struct ListRow {
    /// The number of results.
    pub count: usize,
    /// The text, which a report may shorten.
    pub text: String,
    /// ` (2 programs)`, or nothing for one program.
    pub note: String,
}

/// The counts and seconds of tallies.
#[must_use]
pub fn sum<'t>(tallies: impl IntoIterator<Item = &'t Tally>) -> (Counts, f64) {
    let mut counts = Counts::default();
    let mut seconds = 0.0;
    for tally in tallies {
        counts.include(tally.counts);
        seconds += f64::from(tally.seconds);
    }
    (counts, seconds)
}

/// A cause of failures in the texts that reports show.
#[derive(Debug)]
pub struct Cause<'s> {
    /// The failures.
    pub group: &'s Group,
    /// The failure that represents the others.
    pub example: Record,
    /// The command that repeats it.
    pub repeat: String,
    /// The programs, each with its number of failures.
    pub programs: BTreeMap<&'s str, usize>,
    /// The backends.
    pub backends: Vec<&'s str>,
    /// The compilers.
    pub compilers: Vec<&'s str>,
    columns: &'s [Column],
    header: &'s Header,
}

impl<'s> Cause<'s> {
    fn new(group: &'s Group, columns: &'s [Column], header: &'s Header) -> Cause<'s> {
        let numbers: BTreeSet<usize> = group.members.iter().filter_map(|one| one.column).collect();
        let names = |part: fn(&Column) -> &str| -> Vec<&'s str> {
            let names: BTreeSet<&str> = numbers.iter().map(|&n| part(&columns[n])).collect();
            names.into_iter().collect()
        };
        let example = group.record(group.example(), columns);
        Cause {
            repeat: repeat_with(header, &example),
            example,
            programs: group.programs(),
            backends: names(|column| &column.backend),
            compilers: names(|column| &column.compiler),
            group,
            columns,
            header,
        }
    }

    /// `blocks: mismatch`
    #[must_use]
    pub fn heading(&self) -> String {
        match self.group.cause {
            Some(cause) => format!("{}: {cause}", self.group.check),
            None => self.group.check.clone(),
        }
    }

    /// The number of failures.
    #[must_use]
    pub fn count(&self) -> usize {
        self.group.members.len()
    }

    /// The number of failures that the baseline does not have.
    #[must_use]
    pub fn new_failures(&self) -> usize {
        self.group.new_failures()
    }

    /// The first failure in one line.
    #[must_use]
    pub fn title(&self) -> String {
        title(&self.example)
    }

    /// The message without blank lines at its end.
    #[must_use]
    pub fn message(&self) -> &str {
        self.example.finding.message.trim_end()
    }

    /// `36 failures in 3 programs on c, opencl with 0.25.27, 0.25.32`
    #[must_use]
    pub fn sizes(&self) -> String {
        let mut text = counted(self.count(), "failure");
        text += &format!(" in {}", counted(self.programs.len(), "program"));
        if !self.backends.is_empty() {
            let (backends, compilers) = (self.backends.join(", "), self.compilers.join(", "));
            text += &format!(" on {backends} with {compilers}");
        }
        text
    }

    /// The names of the first programs.
    #[must_use]
    pub fn names(&self) -> String {
        let mut names: Vec<&str> = self.programs.keys().take(3).copied().collect();
        if self.programs.len() > names.len() {
            names.push("...");
        }
        names.join(", ")
    }

    /// The source that the first failure is about.
    #[must_use]
    pub fn excerpt(&self) -> Option<Excerpt> {
        excerpt(&self.example)
    }

    /// The titles of other failures, each with the command that repeats it.
    pub fn others(&self, most: usize) -> impl Iterator<Item = (String, String)> {
        let members = self.group.members.iter();
        let others = members.filter(|member| !std::ptr::eq(*member, self.group.example()));
        others.take(most).map(|member| {
            let record = self.group.record(member, self.columns);
            (title(&record), repeat_with(self.header, &record))
        })
    }
}

/// The job, check and case of a record in one line.
#[must_use]
pub fn title(record: &Record) -> String {
    let place = &record.place;
    let finding = &record.finding;
    let case = if finding.case.is_empty() {
        String::new()
    } else {
        format!(" {}", finding.case)
    };
    format!(
        "{} [{}, {}, {}] {}{case}",
        place.program, place.backend, place.device, place.compiler, finding.check
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{record, summary};

    #[test]
    fn cells_show_counts_with_marks() {
        let counts = Counts {
            passed: 12,
            failed: 3,
            expected: 0,
            skipped: 1,
        };
        assert_eq!(counts.marked(), "12 3! 1-");
        assert_eq!(Counts::default().marked(), ".");
    }

    #[test]
    fn columns_come_in_the_order_of_backends_and_versions() {
        let records = [("opencl", "0.9"), ("c", "0.10"), ("c", "0.9"), ("-", "-")].map(
            |(backend, compiler)| {
                let mut record = record("a.fut", backend, Outcome::Pass);
                record.place.compiler = compiler.into();
                record
            },
        );
        let columns = summary(&records).columns().to_vec();
        let columns: Vec<_> = columns
            .iter()
            .map(|column| (column.backend.as_str(), column.compiler.as_str()))
            .collect();
        assert_eq!(columns, [("c", "0.9"), ("c", "0.10"), ("opencl", "0.9")]);
    }

    #[test]
    fn results_are_counted_by_program_column_and_check() {
        let mut records = vec![
            record("a.fut", "c", Outcome::Pass),
            record("a.fut", "c", Outcome::Skip),
            record("a.fut", "c", Outcome::ExpectedFail),
            record("a.fut", "opencl", Outcome::Pass),
            record("lib.fut", "-", Outcome::Skip),
        ];
        records[1].finding.message = "no arguments".into();
        records[2].finding.message = "known bug\nexpected 1".into();
        records[3].finding.check = "leaks".into();
        records[3].finding.seconds = 2.0;
        let summary = summary(&records);
        let (_, cells) = summary.cells().next().unwrap();
        assert_eq!((cells[0].len(), cells[1].len()), (1, 1));
        assert_eq!(cells[0][0].counts.marked(), "1 1~ 1-");
        assert_eq!(summary.reason(&cells[0][0]), "known bug");
        assert_eq!(summary.by_column()[1].seconds, 2.0);
        assert_eq!(summary.programs(), 1);
        assert_eq!(summary.total().skipped, 2);
    }
}
