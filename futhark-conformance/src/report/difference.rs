//! What differs between two runs, or between two compilers of one run.

use super::groups::first_line;
use super::summary::target;
use super::{Report, shown};
use crate::devices::platform;
use crate::record::{CaseId, Cause, Outcome, Record, name};
use askama::Template;
use futhark_manifest::Version;
use std::collections::{BTreeMap, BTreeSet};

/// How a result changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It fails now, and did not.
    Broken,
    /// It passed, and is not checked any more.
    Lost,
    /// It passed, and fails now as expected.
    Known,
    /// It passes, although it is listed as an expected failure.
    Unexpected,
    /// It failed, as expected or not, and passes now.
    Fixed,
    /// It was not checked, and passes now.
    Gained,
}

impl Change {
    fn between(old: Option<Verdict>, new: Option<Verdict>) -> Option<Change> {
        use Verdict::{ExpectedFail, Fail, Pass, Skip, UnexpectedPass};
        // The list of expected failures does not change what the program does.
        let old = match old {
            Some(UnexpectedPass) if new != old => Some(Pass),
            old => old,
        };
        match (old, new) {
            (old, new) if old == new => None,
            (_, Some(Fail)) => Some(Change::Broken),
            (_, Some(UnexpectedPass)) => Some(Change::Unexpected),
            (Some(Fail | ExpectedFail), Some(Pass)) => Some(Change::Fixed),
            (Some(Pass), Some(ExpectedFail)) => Some(Change::Known),
            (Some(Pass), Some(Skip) | None) => Some(Change::Lost),
            (Some(Skip) | None, Some(Pass)) => Some(Change::Gained),
            _ => None,
        }
    }
}

/// All changes in the order of reports, with their words.
const CHANGES: [(Change, &str); 6] = [
    (Change::Broken, "broken"),
    (Change::Lost, "lost coverage"),
    (Change::Known, "failing as expected"),
    (Change::Unexpected, "passing unexpectedly"),
    (Change::Fixed, "fixed"),
    (Change::Gained, "gained coverage"),
];

/// An outcome, with unexpected passes apart from other failures; the worst is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Skip,
    Pass,
    ExpectedFail,
    UnexpectedPass,
    Fail,
}

impl Verdict {
    fn from_record(record: &Record) -> Verdict {
        match (record.result.outcome, record.result.cause) {
            (Outcome::Pass, _) => Verdict::Pass,
            (Outcome::Fail, Some(Cause::UnexpectedPass)) => Verdict::UnexpectedPass,
            (Outcome::Fail, _) => Verdict::Fail,
            (Outcome::Skip, _) => Verdict::Skip,
            (Outcome::ExpectedFail, _) => Verdict::ExpectedFail,
        }
    }
}

/// What a result is about, without the compiler and the rest of a device's name, which can contain the version of
/// a driver or the processor of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case<'r> {
    program: &'r str,
    backend: &'r str,
    device: &'r str,
    check: &'r str,
    case: &'r str,
}

/// One result that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference<'r> {
    /// How it changed.
    pub change: Change,
    /// What changed.
    pub case: Case<'r>,
    /// The first line of the newer message, or why there is no result.
    pub message: &'r str,
    /// Its record in the newer run.
    id: Option<CaseId<'r>>,
}

/// The differences between two runs. As text it is what `diff` prints.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "difference.txt")]
pub struct Comparison<'r> {
    /// The older and the newer run, in words.
    pub names: [String; 2],
    /// All differences, by program, backend, device and case.
    pub differences: Vec<Difference<'r>>,
    /// The number of results with the same outcome.
    pub unchanged: usize,
}

/// The differences of one program with one message.
pub(super) struct Row {
    pub(super) count: usize,
    pub(super) text: String,
    /// ` (2 programs)`, or nothing.
    pub(super) note: String,
}

/// Compares the only compilers of two runs, or each compiler that both have.
pub(crate) fn of_runs<'r>(old: &'r Report, new: &'r Report) -> Vec<Comparison<'r>> {
    let (olds, news) = (compilers(old), compilers(new));
    let pairs: Vec<(&str, &str)> = match (&olds[..], &news[..]) {
        ([one], [other]) => vec![(one, other)],
        _ => {
            let both = olds.iter().filter(|version| news.contains(version));
            both.map(|version| (*version, *version)).collect()
        }
    };
    let compared = pairs.into_iter().map(|(before, after)| {
        let name = |run: &Report, version| format!("{} (Futhark {version})", run.file.display());
        Comparison {
            names: [name(old, before), name(new, after)],
            ..compare(records_by(old, before), records_by(new, after))
        }
    });
    compared.collect()
}

/// The same, as one comparison.
pub(crate) fn since<'r>(old: &'r Report, new: &'r Report) -> Comparison<'r> {
    let mut sum = Comparison::default();
    for one in of_runs(old, new) {
        sum.differences.extend(one.differences);
        sum.unchanged += one.unchanged;
    }
    sum.names[0] = old.file.display().to_string();
    sum
}

/// Compares each compiler of a run with the next newer one.
pub(crate) fn of_compilers(run: &Report) -> Vec<Comparison<'_>> {
    let compilers = compilers(run);
    let compared = compilers.windows(2).map(|pair| Comparison {
        names: [pair[0], pair[1]].map(|version| format!("Futhark {version}")),
        ..compare(records_by(run, pair[0]), records_by(run, pair[1]))
    });
    compared.collect()
}

/// The versions of the compilers of a run, oldest first.
fn compilers(run: &Report) -> Vec<&str> {
    let compilers = run.header.compilers.iter();
    let mut versions: Vec<&str> = compilers.map(|one| one.version.as_str()).collect();
    versions.sort_by_key(|version| Version::new(version));
    versions
}

/// The results of the compiler of a version.
fn records_by<'r>(run: &'r Report, version: &'r str) -> impl Iterator<Item = &'r Record> {
    let records = run.records().iter();
    records.filter(move |record| record.job.compiler == version)
}

fn compare<'r>(
    old: impl Iterator<Item = &'r Record>,
    new: impl Iterator<Item = &'r Record>,
) -> Comparison<'r> {
    let (old, new) = (cases(old), cases(new));
    let mut found = Comparison::default();
    let all: BTreeSet<Case<'r>> = old.keys().chain(new.keys()).copied().collect();
    for case in all {
        let (before, after) = (old.get(&case).copied(), new.get(&case).copied());
        let verdicts = [before, after].map(|record| record.map(Verdict::from_record));
        let Some(change) = Change::between(verdicts[0], verdicts[1]) else {
            found.unchanged += usize::from(verdicts[0] == verdicts[1]);
            continue;
        };
        let message = match (change, before, after) {
            // A pass has no message.
            (Change::Fixed | Change::Gained, Some(record), _) | (_, _, Some(record)) => {
                first_line(&record.result.message)
            }
            _ => why_missing(case, &new),
        };
        found.differences.push(Difference {
            change,
            case,
            message,
            id: after.map(Record::id),
        });
    }
    found
}

/// Why a case has no result: the reason for which its check was skipped.
fn why_missing<'r>(case: Case<'r>, new: &BTreeMap<Case<'r>, &'r Record>) -> &'r str {
    match new.get(&Case { case: "", ..case }) {
        Some(skip) if skip.result.outcome == Outcome::Skip => first_line(&skip.result.message),
        _ => "no result",
    }
}

/// Records by what they are about. A case that died can also have a skip: the worst counts.
fn cases<'r>(records: impl Iterator<Item = &'r Record>) -> BTreeMap<Case<'r>, &'r Record> {
    let mut cases: BTreeMap<Case<'r>, &Record> = BTreeMap::new();
    for record in records {
        let Record { job, result } = record;
        let case = Case {
            program: &job.program,
            backend: &job.backend,
            device: platform(&job.device),
            check: &result.check,
            case: &result.case,
        };
        let known = cases.entry(case).or_insert(record);
        if Verdict::from_record(record) > Verdict::from_record(known) {
            *known = record;
        }
    }
    cases
}

impl<'r> Comparison<'r> {
    /// The number of differences of a kind.
    #[must_use]
    pub fn count(&self, change: Change) -> usize {
        self.with(change).count()
    }

    fn with(&self, change: Change) -> impl Iterator<Item = &Difference<'r>> {
        self.differences.iter().filter(move |d| d.change == change)
    }

    /// The failures that the older run does not have.
    pub(super) fn new_failures(&self) -> impl Iterator<Item = CaseId<'r>> {
        let failures = self
            .with(Change::Broken)
            .chain(self.with(Change::Unexpected));
        failures.filter_map(|one| one.id)
    }

    /// The changes with their numbers, and the number of results that did not change.
    fn counts(&self) -> String {
        let counts = CHANGES.map(|(change, words)| (change, self.count(change), words));
        let counts = counts.into_iter();
        let counts = counts.filter(|(change, count, _)| *count > 0 || *change == Change::Broken);
        let counts = counts.map(|(_, count, words)| format!("{count} {words}"));
        let unchanged = format!("{} unchanged", self.unchanged);
        counts.chain([unchanged]).collect::<Vec<_>>().join(", ")
    }

    /// The comparison of a run with the older one, in one line.
    pub(super) fn since(&self) -> String {
        format!("since {}: {}", shown(&self.names[0]), self.counts())
    }

    /// The differences of a kind, by message and program: the first row of a message has that, too.
    pub(super) fn rows(&self, change: Change) -> Vec<Row> {
        let mut messages: BTreeMap<&str, BTreeMap<&str, Vec<Case<'_>>>> = BTreeMap::new();
        for one in self.with(change) {
            let programs = messages.entry(one.message).or_default();
            programs.entry(one.case.program).or_default().push(one.case);
        }
        let mut rows = Vec::new();
        for (message, programs) in messages {
            for (number, (program, cases)) in programs.iter().enumerate() {
                let targets = cases.iter().map(|case| target(case.backend, case.device));
                let targets = Vec::from_iter(BTreeSet::from_iter(targets)).join(", ");
                let name = name(cases[0].check, cases[0].case);
                let mut text = format!("{program} on {targets} {name}");
                if cases.len() > 1 {
                    text += &format!(" and {} more", cases.len() - 1);
                }
                match number {
                    0 if message.is_empty() => {}
                    0 => text += &format!(": {message}"),
                    _ => text.insert_str(0, "  "),
                }
                rows.push(Row {
                    count: cases.len(),
                    text,
                    note: String::new(),
                });
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::CompilerInfo;
    use crate::report::tests::{header, record, report_with};
    use std::sync::Arc;

    fn with(mut record: Record, case: &str, device: &str, message: &str) -> Record {
        record.result.case = case.to_owned();
        record.result.message = message.to_owned();
        Arc::make_mut(&mut record.job).device = device.to_owned();
        record
    }

    fn by(compiler: &str, program: &str, outcome: Outcome) -> Record {
        let mut record = record(program, "c", outcome);
        Arc::make_mut(&mut record.job).compiler = compiler.to_owned();
        record
    }

    fn run(records: &[Record]) -> Report {
        let mut header = header();
        let labels = records.iter().map(|record| record.job.compiler.as_str());
        let labels: BTreeSet<&str> = labels.collect();
        let compilers = labels
            .iter()
            .map(|label| CompilerInfo::new(*label, "futhark"));
        header.compilers = compilers.collect();
        report_with(&header, records)
    }

    #[test]
    fn every_change_of_an_outcome_is_classified() {
        use Verdict::{ExpectedFail, Fail, Pass, Skip, UnexpectedPass};
        let verdicts = [Pass, Fail, Skip, ExpectedFail, UnexpectedPass];
        let all = [None].into_iter().chain(verdicts.map(Some));
        let all: Vec<Option<Verdict>> = all.collect();
        let mut found = Vec::new();
        for &old in &all {
            for &new in &all {
                if let Some(change) = Change::between(old, new) {
                    found.push((old, new, change));
                }
            }
        }
        assert_eq!(
            found,
            [
                (None, Some(Pass), Change::Gained),
                (None, Some(Fail), Change::Broken),
                (None, Some(UnexpectedPass), Change::Unexpected),
                (Some(Pass), None, Change::Lost),
                (Some(Pass), Some(Fail), Change::Broken),
                (Some(Pass), Some(Skip), Change::Lost),
                (Some(Pass), Some(ExpectedFail), Change::Known),
                (Some(Pass), Some(UnexpectedPass), Change::Unexpected),
                (Some(Fail), Some(Pass), Change::Fixed),
                (Some(Fail), Some(UnexpectedPass), Change::Unexpected),
                (Some(Skip), Some(Pass), Change::Gained),
                (Some(Skip), Some(Fail), Change::Broken),
                (Some(Skip), Some(UnexpectedPass), Change::Unexpected),
                (Some(ExpectedFail), Some(Pass), Change::Fixed),
                (Some(ExpectedFail), Some(Fail), Change::Broken),
                (Some(ExpectedFail), Some(UnexpectedPass), Change::Unexpected),
                (Some(UnexpectedPass), None, Change::Lost),
                (Some(UnexpectedPass), Some(Fail), Change::Broken),
                (Some(UnexpectedPass), Some(Skip), Change::Lost),
                (Some(UnexpectedPass), Some(ExpectedFail), Change::Known),
            ]
        );
    }

    #[test]
    fn a_device_with_a_new_driver_is_the_same_device() {
        let on = |device: &str, outcome| with(record("a.fut", "opencl", outcome), "x", device, "");
        let old = run(&[on("A: driver 1", Outcome::Pass), on("B", Outcome::Pass)]);
        let new = run(&[on("A: driver 2", Outcome::Fail), on("B", Outcome::Pass)]);
        let found = &of_runs(&old, &new)[0];
        assert_eq!(found.count(Change::Broken), 1);
        assert_eq!(found.count(Change::Lost), 0);
    }

    #[test]
    fn a_run_is_compared_with_an_earlier_one() {
        use Outcome::{Fail, Pass, Skip};
        let case = |program: &str, case: &str, outcome| {
            with(record(program, "c", outcome), case, "cpu", "why")
        };
        let old = [
            case("a.fut", "one", Pass),
            case("a.fut", "two", Fail),
            // A case that died can also have a skip.
            case("a.fut", "three", Fail),
            case("a.fut", "three", Skip),
            case("a.fut", "gone", Pass),
            case("a.fut", "four", Pass),
            case("b.fut", "one", Pass),
        ];
        let new = [
            case("a.fut", "one", Fail),
            case("a.fut", "two", Pass),
            case("a.fut", "three", Fail),
            case("a.fut", "four", Pass),
            case("a.fut", "five", Fail),
            case("a.fut", "six", Skip),
        ];
        let (old, new) = (run(&old), run(&new));
        let changes = since(&old, &new);
        let failures: Vec<&str> = changes.new_failures().map(|(.., case)| case).collect();
        assert_eq!(failures, ["five", "one"]);
        let text = changes.since();
        let counts = "2 broken, 2 lost coverage, 1 fixed, 2 unchanged";
        assert!(text.ends_with(counts), "{text}");
    }

    #[test]
    fn compilers_of_two_runs_correspond_by_label_or_because_each_run_has_one() {
        let (one, other) = (by("1", "a", Outcome::Pass), by("2", "a", Outcome::Fail));
        let records = [one, other];
        let [old, new, both] = [&records[..1], &records[1..], &records].map(run);
        assert_eq!(of_runs(&old, &new)[0].count(Change::Broken), 1);
        let same = &of_runs(&old, &both)[0];
        assert_eq!((same.unchanged, same.differences.len()), (1, 0));
    }

    #[test]
    fn each_compiler_is_compared_with_the_next() {
        let records = vec![
            by("0.10.0", "a", Outcome::Fail),
            by("0.9.0", "a", Outcome::Pass),
            by("0.11.0", "a", Outcome::Skip),
            by("0.9.0", "b", Outcome::Pass),
            by("0.11.0", "b", Outcome::Pass),
            by("0.10.0", "b", Outcome::Skip),
        ];
        let all = run(&records);
        let comparisons = of_compilers(&all);
        let [first, second] = &comparisons[..] else {
            panic!("{comparisons:?}")
        };
        assert_eq!(first.names, ["Futhark 0.9.0", "Futhark 0.10.0"]);
        let changes =
            |c: &Comparison<'_>| c.differences.iter().map(|d| d.change).collect::<Vec<_>>();
        assert_eq!(changes(first), [Change::Broken, Change::Lost]);
        assert_eq!(changes(second), [Change::Gained]);
        assert!(of_compilers(&run(&records[..1])).is_empty());
    }
}
