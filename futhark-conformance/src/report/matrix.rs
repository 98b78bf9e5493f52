//! Collects the results of a run for the reports: counts and times per program, column and check;
//! failures by cause; expected failures and skips by reason.
//!
//! Passes are only counted, so memory grows with the number of jobs and failures, not of cases.

use super::Counts;
use super::column::Column;
use super::groups::{Group, Groups, Reason, Reasons};
use crate::checks;
use crate::record::{Outcome, Record};
use std::collections::{BTreeMap, BTreeSet};

/// The results of one check of one program in one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    /// The number of the check in [`Matrix::checks`].
    pub check: usize,
    /// The results.
    pub counts: Counts,
    /// The time that they took.
    pub seconds: f32,
    /// The number of the first reason for an expected failure, otherwise for a skip.
    pub reason: Option<usize>,
}

/// The results of a program in a column, by check.
pub type Cell = Vec<Tally>;

/// The results of a run.
#[derive(Debug, Default)]
pub struct Matrix {
    columns: Vec<Column>,
    checks: Vec<String>,
    rows: BTreeMap<String, Vec<Cell>>,
    failures: Groups,
    expected: Reasons,
    skips: Reasons,
    /// Skips of files that are not programs, which have no cell.
    files: usize,
    total: Counts,
}

impl Matrix {
    /// A matrix with these columns.
    #[must_use]
    pub fn new(columns: Vec<Column>) -> Matrix {
        Matrix {
            columns,
            ..Matrix::default()
        }
    }

    /// A matrix with a column for each place of these records, in the order of backends and then of
    /// compilers. It does not count the records.
    #[must_use]
    pub fn of(records: &[Record]) -> Matrix {
        let places = records.iter().map(|record| &record.place);
        let columns: BTreeSet<Column> = places.filter_map(Column::of).collect();
        Matrix::new(columns.into_iter().collect())
    }

    /// Counts a record.
    pub fn add(&mut self, record: &Record) {
        self.add_compared(record, false);
    }

    /// Counts a record; `is_new` if it is a failure that the baseline does not have.
    pub fn add_compared(&mut self, record: &Record, is_new: bool) {
        let finding = &record.finding;
        let outcome = finding.outcome;
        self.total.add(outcome);
        let column = self.column_of(record);
        let reason = match outcome {
            Outcome::Fail => {
                self.failures.add(record, column, is_new);
                None
            }
            Outcome::ExpectedFail => Some(self.expected.add(record, column)),
            Outcome::Skip => Some(self.skips.add(record, column)),
            Outcome::Pass => None,
        };
        let Some(column) = column else {
            self.files += 1;
            return;
        };
        let check = self.check_number(&finding.check);
        // Most records belong to a row that exists.
        if !self.rows.contains_key(&record.place.program) {
            let cells = vec![Cell::new(); self.columns.len()];
            self.rows.insert(record.place.program.clone(), cells);
        }
        let Some(cells) = self.rows.get_mut(&record.place.program) else {
            return;
        };
        let cell = &mut cells[column];
        let position = cell.iter().position(|tally| tally.check == check);
        let position = position.unwrap_or_else(|| {
            cell.push(Tally {
                check,
                counts: Counts::default(),
                seconds: 0.0,
                reason: None,
            });
            cell.len() - 1
        });
        let tally = &mut cell[position];
        // An expected failure is more than a skip.
        if tally.reason.is_none()
            || (outcome == Outcome::ExpectedFail && tally.counts.expected == 0)
        {
            tally.reason = reason.or(tally.reason);
        }
        tally.counts.add(outcome);
        tally.seconds += finding.seconds as f32;
    }

    fn column_of(&self, record: &Record) -> Option<usize> {
        let place = &record.place;
        let same = |column: &Column| {
            column.backend == place.backend
                && column.device == place.device
                && column.compiler == place.compiler
        };
        self.columns.iter().position(same)
    }

    fn check_number(&mut self, check: &str) -> usize {
        let known = self.checks.iter().position(|name| name == check);
        known.unwrap_or_else(|| {
            self.checks.push(check.to_owned());
            self.checks.len() - 1
        })
    }

    /// The counts of all records.
    #[must_use]
    pub fn total(&self) -> Counts {
        self.total
    }

    /// The number of files that are not programs.
    #[must_use]
    pub fn files(&self) -> usize {
        self.files
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The names of the checks that ran, which tallies refer to by number.
    #[must_use]
    pub fn checks(&self) -> &[String] {
        &self.checks
    }

    /// The numbers of the checks, in the order of the catalogue.
    #[must_use]
    pub fn checks_in_order(&self) -> Vec<usize> {
        let rank = |&number: &usize| {
            let name = &self.checks[number];
            let rank = checks::ALL.iter().position(|check| check.name == name);
            rank.unwrap_or(usize::MAX)
        };
        let mut numbers: Vec<usize> = (0..self.checks.len()).collect();
        numbers.sort_by_key(rank);
        numbers
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

    /// Each program with its counts per column.
    pub fn rows(&self) -> impl Iterator<Item = (&str, Vec<Counts>)> {
        self.cells()
            .map(|(program, cells)| (program, cells.iter().map(|cell| sum(cell).0).collect()))
    }

    /// Counts and seconds per column.
    #[must_use]
    pub fn by_column(&self) -> Vec<(Counts, f64)> {
        let mut sums = vec![(Counts::default(), 0.0); self.columns.len()];
        for (_, cells) in self.cells() {
            for (into, cell) in sums.iter_mut().zip(cells) {
                let (counts, seconds) = sum(cell);
                into.0.include(counts);
                into.1 += seconds;
            }
        }
        sums
    }

    /// Counts and seconds per check, in the order of [`Matrix::checks`].
    #[must_use]
    pub fn by_check(&self) -> Vec<(Counts, f64)> {
        let mut sums = vec![(Counts::default(), 0.0); self.checks.len()];
        for tally in self.cells().flat_map(|(_, cells)| cells.iter().flatten()) {
            let into = &mut sums[tally.check];
            into.0.include(tally.counts);
            into.1 += f64::from(tally.seconds);
        }
        sums
    }

    /// The failures by cause: new ones first, then the most frequent.
    #[must_use]
    pub fn failures(&self) -> Vec<&Group> {
        self.failures.sorted()
    }

    /// The expected failures by reason.
    #[must_use]
    pub fn expected(&self) -> &Reasons {
        &self.expected
    }

    /// The skips by reason.
    #[must_use]
    pub fn skips(&self) -> &Reasons {
        &self.skips
    }

    /// The reason of a tally in one line; empty if nothing in it was skipped or failed as expected.
    #[must_use]
    pub fn reason(&self, tally: &Tally) -> &str {
        let reasons = match tally.counts.expected {
            0 => &self.skips,
            _ => &self.expected,
        };
        let reason = tally.reason.and_then(|number| reasons.get(number));
        reason.map_or("", |reason: &Reason| reason.text.as_str())
    }
}

/// The counts and seconds of a cell.
#[must_use]
pub fn sum(cell: &Cell) -> (Counts, f64) {
    let mut counts = Counts::default();
    let mut seconds = 0.0;
    for tally in cell {
        counts.include(tally.counts);
        seconds += f64::from(tally.seconds);
    }
    (counts, seconds)
}

/// The counts of a cell, each with its mark.
#[must_use]
pub fn marked(counts: &Counts) -> String {
    let marked = [
        (counts.passed, ""),
        (counts.failed, "!"),
        (counts.expected, "~"),
        (counts.skipped, "-"),
    ];
    let parts: Vec<String> = marked
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, mark)| format!("{count}{mark}"))
        .collect();
    if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join(" ")
    }
}

/// The place, check and case of a record in one line.
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
    use crate::report::tests::{matrix, record};

    #[test]
    fn cells_show_counts_with_marks() {
        let counts = Counts {
            passed: 12,
            failed: 3,
            expected: 0,
            skipped: 1,
        };
        assert_eq!(marked(&counts), "12 3! 1-");
        assert_eq!(marked(&Counts::default()), ".");
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
        let columns = Matrix::of(&records).columns().to_vec();
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
        let matrix = matrix(&records);
        let (_, cells) = matrix.cells().next().unwrap();
        assert_eq!((cells[0].len(), cells[1].len()), (1, 1));
        assert_eq!(marked(&cells[0][0].counts), "1 1~ 1-");
        assert_eq!(matrix.reason(&cells[0][0]), "known bug");
        assert_eq!(matrix.by_column()[1].1, 2.0);
        assert_eq!(matrix.by_check()[1].1, 2.0);
        assert_eq!((matrix.programs(), matrix.files()), (1, 1));
        assert_eq!(matrix.total().skipped, 2);
    }
}
