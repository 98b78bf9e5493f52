//! What all reports show of a run: counts and times per program, column and check; failures by
//! cause; expected failures and skips by reason.

use super::difference::{self, Change, Comparison, Row};
use super::groups::{Group, first_line, groups};
use super::{Report, duration};
use crate::checks;
use crate::devices::HOST;
use crate::record::{Header, JobId, NOWHERE, Outcome, Record};
use futhark_manifest::{Backend, Version};
use std::collections::{BTreeMap, HashSet};

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
    /// The counts of these records.
    pub fn from_records<'r>(records: impl IntoIterator<Item = &'r Record>) -> Counts {
        let mut counts = Counts::default();
        for record in records {
            counts.add(record.result.outcome);
        }
        counts
    }

    /// Adds one record.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Pass => self.passed += 1,
            Outcome::Fail => self.failed += 1,
            Outcome::ExpectedFail => self.expected += 1,
            Outcome::Skip => self.skipped += 1,
        }
    }

    /// The counts that are not zero.
    pub(super) fn words(&self) -> String {
        let counts = [
            (self.passed, "passed"),
            (self.failed, "FAILED"),
            (self.expected, "failed as expected"),
            (self.skipped, "skipped"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let words = counts.map(|(count, what)| format!("{count} {what}"));
        words.collect::<Vec<_>>().join(", ")
    }

    /// The number of all records.
    #[must_use]
    pub fn total(&self) -> usize {
        self.passed + self.failed + self.expected + self.skipped
    }
}

/// A backend on a device, with a compiler: a column of the table of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Column<'r> {
    pub(super) backend: &'r str,
    pub(super) device: &'r str,
    pub(super) compiler: &'r str,
}

impl<'r> Column<'r> {
    /// The column of a job; `None` for a file that is not a program.
    pub(super) fn from_job(job: &'r JobId) -> Option<Column<'r>> {
        (job.backend != NOWHERE).then_some(Column {
            backend: &job.backend,
            device: &job.device,
            compiler: &job.compiler,
        })
    }

    /// The device in the column's title; empty for the host.
    pub(super) fn device_note(&self) -> &'r str {
        if self.device == HOST { "" } else { self.device }
    }
}

/// `BACKEND`, or `BACKEND (DEVICE)`
pub(super) fn target(backend: &str, device: &str) -> String {
    match device {
        "" | HOST => backend.to_owned(),
        device => format!("{backend} ({device})"),
    }
}

/// The records of a program in a column, by the index of the check in [`checks::ALL`] and its name.
pub(crate) type Cell<'r> = BTreeMap<(usize, &'r str), Vec<&'r Record>>;

/// The results of a run.
pub(crate) struct Summary<'r> {
    pub(super) header: &'r Header,
    /// What changed since the baseline.
    pub(super) changes: Option<Comparison<'r>>,
    pub(super) total: Counts,
    /// In the order of backends, devices and versions.
    pub(super) columns: Vec<Column<'r>>,
    /// Each program with its cells, one per column.
    pub(super) programs: BTreeMap<&'r str, Vec<Cell<'r>>>,
    /// The failures by cause: new ones first, then those in the most programs.
    pub(super) failures: Vec<Group<'r>>,
    /// The expected failures by reason, the most frequent first.
    pub(super) expected: Vec<Group<'r>>,
    /// The skips by reason, the most frequent first.
    pub(super) skips: Vec<Group<'r>>,
}

impl<'r> Summary<'r> {
    pub(crate) fn from_report(report: &'r Report) -> Summary<'r> {
        let records = report.records();
        let changes = (report.baseline.as_ref()).map(|old| difference::since(old, report));
        let new: HashSet<_> = changes.iter().flat_map(Comparison::new_failures).collect();
        let columns: HashSet<_> = (records.iter())
            .filter_map(|record| Column::from_job(&record.job))
            .collect();
        let mut columns: Vec<Column<'_>> = columns.into_iter().collect();
        columns.sort_by_cached_key(|column| {
            let backend: Result<Backend, _> = column.backend.parse();
            let backend = backend.map_err(|_| column.backend);
            (backend, column.device, Version::new(column.compiler))
        });
        let groups = |outcome| groups(&report.header, records, outcome, &new);
        let mut summary = Summary {
            header: &report.header,
            total: report.counts(),
            columns,
            programs: BTreeMap::new(),
            failures: groups(Outcome::Fail),
            expected: groups(Outcome::ExpectedFail),
            skips: groups(Outcome::Skip),
            changes,
        };
        for record in records {
            let Record { job, result } = record;
            let Some(column) = summary.column(job) else {
                continue;
            };
            let columns = summary.columns.len();
            let cells = summary.programs.entry(job.program.as_str());
            let cells = cells.or_insert_with(|| vec![Cell::new(); columns]);
            let rank = checks::ALL.iter();
            let rank = rank.take_while(|check| check.name != result.check).count();
            let records = cells[column].entry((rank, &result.check)).or_default();
            records.push(record);
        }
        summary
    }

    /// The number of the column of a job; `None` for a file that is not a program.
    pub(super) fn column(&self, job: &JobId) -> Option<usize> {
        let own = Column::from_job(job)?;
        self.columns.iter().position(|column| *column == own)
    }

    /// Each column with its counts and its time.
    pub(super) fn totals_per_column(&self) -> Vec<(Column<'r>, Counts, String)> {
        let columns = self.columns.iter().enumerate().map(|(number, column)| {
            let cells = self.programs.values().map(|cells| &cells[number]);
            let records: Vec<&Record> = cells.flat_map(Cell::values).flatten().copied().collect();
            let time = duration(seconds(records.iter().copied()));
            (*column, Counts::from_records(records), time)
        });
        columns.collect()
    }

    /// The devices that programs of the compilers do not work on, each with the reason.
    pub(super) fn unfit(&self) -> Vec<String> {
        let devices = self.header.devices.iter();
        let unfit = devices.filter(|device| device.is_unfit());
        unfit.map(|device| device.described()).collect()
    }

    /// Reasons, the most frequent first, and what changed since the baseline. No list is empty.
    pub(super) fn lists(&self) -> Vec<(&'static str, Vec<Row>)> {
        let reasons = |groups: &[Group<'_>]| {
            let rows = groups.iter().map(|group| Row {
                count: group.members.len(),
                text: group.reason().to_owned(),
                note: match group.programs().len() {
                    1 => String::new(),
                    programs => format!(" ({programs} programs)"),
                },
            });
            rows.collect()
        };
        let changed = |change| {
            let changes = self.changes.as_ref();
            changes.map_or_else(Vec::new, |changes| changes.rows(change))
        };
        let mut lists = vec![
            ("Skipped, by reason", reasons(&self.skips)),
            ("Failed as expected, by reason", reasons(&self.expected)),
            ("Fixed since the baseline", changed(Change::Fixed)),
            ("Not checked any more", changed(Change::Lost)),
        ];
        lists.retain(|(_, rows)| !rows.is_empty());
        lists
    }
}

/// The reason of the first expected failure, otherwise of the first skip, in one line; empty without either.
pub(super) fn reason<'r>(records: &[&'r Record]) -> &'r str {
    let with = |outcome| records.iter().find(|one| one.result.outcome == outcome);
    let record = with(Outcome::ExpectedFail).or_else(|| with(Outcome::Skip));
    record.map_or("", |record| first_line(&record.result.message))
}

/// The time that records took.
pub(super) fn seconds<'r>(records: impl IntoIterator<Item = &'r Record>) -> f64 {
    let seconds = records.into_iter().map(|record| record.result.seconds);
    // The sum of no numbers is -0.0.
    seconds.sum::<f64>() + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{record, report};
    use std::sync::Arc;

    #[test]
    fn columns_come_in_the_order_of_backends_and_versions() {
        let records = [
            ("opencl", "0.9.0"),
            ("c", "0.10.0"),
            ("c", "0.9.0"),
            ("-", "-"),
        ]
        .map(|(backend, compiler)| {
            let mut record = record("a.fut", backend, Outcome::Pass);
            Arc::make_mut(&mut record.job).compiler = compiler.into();
            record
        });
        let report = report(&records);
        let columns = Summary::from_report(&report).columns;
        let columns: Vec<_> = columns
            .iter()
            .map(|column| (column.backend, column.compiler))
            .collect();
        assert_eq!(
            columns,
            [("c", "0.9.0"), ("c", "0.10.0"), ("opencl", "0.9.0")]
        );
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
        records[3].result.check = "leaks".into();
        records[3].result.seconds = 2.0;
        let report = report(&records);
        let summary = Summary::from_report(&report);
        let cells = &summary.programs["a.fut"];
        assert_eq!((cells[0].len(), cells[1].len()), (1, 1));
        assert_eq!(cells[0].values().next().unwrap().len(), 3);
        assert_eq!(summary.totals_per_column()[1].2, "2.0 s");
        assert_eq!(summary.programs.len(), 1);
        assert_eq!(summary.total.skipped, 2);
    }
}
