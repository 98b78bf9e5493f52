//! What differs between two runs, or between two compilers of one run.

mod compilers;
mod html;
mod text;

pub use compilers::{Compilers, of_report};
pub use html::write as write_html;

use crate::record::{Cause, Finding, Outcome, Record};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

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
    /// All changes, in the order of reports.
    pub const ALL: [Change; 6] = [
        Change::Broken,
        Change::Lost,
        Change::Known,
        Change::Unexpected,
        Change::Fixed,
        Change::Gained,
    ];

    pub(super) fn between(old: Option<Verdict>, new: Option<Verdict>) -> Option<Change> {
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

/// An outcome, with unexpected passes apart from other failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    Fail,
    Skip,
    ExpectedFail,
    UnexpectedPass,
}

impl Verdict {
    pub(super) fn of(finding: &Finding) -> Verdict {
        match finding.outcome {
            Outcome::Pass => Verdict::Pass,
            Outcome::Fail if finding.cause == Some(Cause::UnexpectedPass) => {
                Verdict::UnexpectedPass
            }
            Outcome::Fail => Verdict::Fail,
            Outcome::Skip => Verdict::Skip,
            Outcome::ExpectedFail => Verdict::ExpectedFail,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Change::Broken => "broken",
            Change::Lost => "lost coverage",
            Change::Known => "failing as expected",
            Change::Unexpected => "passing unexpectedly",
            Change::Fixed => "fixed",
            Change::Gained => "gained coverage",
        })
    }
}

/// One result that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// How it changed.
    pub change: Change,
    /// The program's path.
    pub program: String,
    /// `BACKEND`, or `BACKEND (DEVICE)`
    pub target: String,
    /// `CHECK` or `CHECK:CASE`
    pub case: String,
    /// The first line of the newer message, or why there is no result.
    pub message: String,
}

/// The differences between two runs.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The older and the newer run, in words.
    pub names: [String; 2],
    /// All differences, by change, place and case.
    pub differences: Vec<Difference>,
    /// The number of results that both runs have.
    pub common: usize,
    /// How the runs were selected, if that differs: then coverage differs for this reason, too.
    pub selection: Option<String>,
}

/// Program, backend, device, check and case. The compiler is not part of it.
type Key<'r> = (&'r str, &'r str, &'r str, &'r str, &'r str);

/// Compares two runs.
#[must_use]
pub fn compare(names: [String; 2], old: &[&Record], new: &[&Record]) -> Comparison {
    let devices = Devices::between(old.iter().map(device_of), new.iter().map(device_of));
    let newer: HashMap<Key<'_>, &Record> = new.iter().map(|r| (key_of(r, None), *r)).collect();
    let older: HashMap<Key<'_>, &Record> = old
        .iter()
        .map(|r| (key_of(r, Some(&devices)), *r))
        .collect();
    let mut differences = Vec::new();
    let mut add = |old: Option<&Record>, new: Option<&Record>| {
        let verdict = |record: Option<&Record>| record.map(|one| Verdict::of(&one.finding));
        let Some(change) = Change::between(verdict(old), verdict(new)) else {
            return;
        };
        let Some(record) = new.or(old) else { return };
        let first_line = |record: &Record| {
            let line = record.finding.message.lines().next();
            line.unwrap_or_default().to_owned()
        };
        differences.push(Difference {
            change,
            program: record.place.program.clone(),
            target: target(record),
            case: case(record),
            message: match (change, old, new) {
                // A pass has no message.
                (Change::Fixed | Change::Gained, Some(old), _) => first_line(old),
                (_, _, Some(new)) => first_line(new),
                (_, _, None) => why_missing(key_of(record, Some(&devices)), &newer),
            },
        });
    };
    let mut common = 0;
    for (key, old) in &older {
        let new = newer.get(key).copied();
        common += usize::from(new.is_some());
        add(Some(old), new);
    }
    for (key, new) in &newer {
        if !older.contains_key(key) {
            add(None, Some(new));
        }
    }
    let mut comparison = Comparison {
        names,
        differences,
        common,
        selection: None,
    };
    comparison.sort();
    comparison
}

impl Comparison {
    fn sort(&mut self) {
        let key = |one: &Difference| {
            let Difference {
                program,
                target,
                case,
                ..
            } = one.clone();
            (one.change, program, target, case)
        };
        self.differences.sort_by_cached_key(key);
    }

    /// The number of differences of a kind.
    #[must_use]
    pub fn count(&self, change: Change) -> usize {
        let same = self.differences.iter().filter(|d| d.change == change);
        same.count()
    }
}

/// The newer name of each older device that has another one: a driver's version is part of the name.
/// Devices of a backend correspond in their order if both runs have the same number of them.
#[derive(Debug, Default)]
pub(super) struct Devices {
    newer: HashMap<(String, String), String>,
}

impl Devices {
    /// The correspondence between the devices of two runs, each given by backend and name.
    pub(super) fn between<'d>(
        old: impl Iterator<Item = (&'d str, &'d str)>,
        new: impl Iterator<Item = (&'d str, &'d str)>,
    ) -> Devices {
        let (old, new) = (lists(old), lists(new));
        let mut devices = Devices::default();
        for (backend, olds) in old {
            let news = new.get(backend).map_or(&[][..], Vec::as_slice);
            let gone = olds.iter().filter(|name| !news.contains(name));
            let added = news.iter().filter(|name| !olds.contains(name));
            if gone.clone().count() == added.clone().count() {
                let pairs = gone.zip(added);
                devices.newer.extend(pairs.map(|(gone, added)| {
                    let old = (backend.to_owned(), (*gone).to_owned());
                    (old, (*added).to_owned())
                }));
            }
        }
        devices
    }

    /// The newer name of a device, unless it is the same.
    pub(super) fn newer(&self, backend: &str, device: &str) -> Option<&str> {
        if self.newer.is_empty() {
            return None;
        }
        let key = (backend.to_owned(), device.to_owned());
        self.newer.get(&key).map(String::as_str)
    }
}

/// The names of the devices of each backend, in their order.
fn lists<'d>(devices: impl Iterator<Item = (&'d str, &'d str)>) -> BTreeMap<&'d str, Vec<&'d str>> {
    let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (backend, device) in devices {
        let list = lists.entry(backend).or_default();
        if !list.contains(&device) {
            list.push(device);
        }
    }
    lists
}

/// The backend and the device of a record.
fn device_of<'r>(record: &&'r Record) -> (&'r str, &'r str) {
    (&record.place.backend, &record.place.device)
}

fn key_of<'r>(record: &'r Record, devices: Option<&'r Devices>) -> Key<'r> {
    let (place, finding) = (&record.place, &record.finding);
    let (backend, device) = (place.backend.as_str(), place.device.as_str());
    let device = devices
        .and_then(|devices| devices.newer(backend, device))
        .unwrap_or(device);
    (
        &place.program,
        backend,
        device,
        &finding.check,
        &finding.case,
    )
}

fn target(record: &Record) -> String {
    let place = &record.place;
    match place.device.as_str() {
        "" | crate::devices::HOST => place.backend.clone(),
        device => format!("{} ({device})", place.backend),
    }
}

fn case(record: &Record) -> String {
    let finding = &record.finding;
    match finding.case.as_str() {
        "" => finding.check.clone(),
        case => format!("{}:{case}", finding.check),
    }
}

/// Why the newer run has no result for a case: the reason for which it left out the check, or the
/// program.
fn why_missing(
    (program, backend, device, check, _): Key<'_>,
    newer: &HashMap<Key<'_>, &Record>,
) -> String {
    let result = |check, case| newer.get(&(program, backend, device, check, case));
    let is_skip = |record: &&&Record| record.finding.outcome == Outcome::Skip;
    let has_failed = |record: &&Record| {
        matches!(
            record.finding.outcome,
            Outcome::Fail | Outcome::ExpectedFail
        )
    };
    if let Some(skip) = result(check, "").filter(is_skip) {
        return skip.finding.message.clone();
    }
    if result("compile", "").is_some_and(has_failed) {
        return "the program did not compile".to_owned();
    }
    match newer
        .keys()
        .any(|key| (key.0, key.1, key.2) == (program, backend, device))
    {
        true => "no result".to_owned(),
        false => "the program was not run there".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::record;

    fn with(mut record: Record, case: &str, device: &str, message: &str) -> Record {
        record.finding.case = case.to_owned();
        record.finding.message = message.to_owned();
        record.place.device = device.to_owned();
        record
    }

    fn compared(old: &[Record], new: &[Record]) -> Comparison {
        let names = ["old".to_owned(), "new".to_owned()];
        compare(
            names,
            &old.iter().collect::<Vec<_>>(),
            &new.iter().collect::<Vec<_>>(),
        )
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
    fn results_are_compared_case_by_case() {
        let pass = |case: &str| with(record("a.fut", "c", Outcome::Pass), case, "cpu", "");
        let fail = |case: &str| {
            with(
                record("a.fut", "c", Outcome::Fail),
                case,
                "cpu",
                "3 is wrong\nmore",
            )
        };
        let skip = |case: &str| {
            with(
                record("a.fut", "c", Outcome::Skip),
                case,
                "cpu",
                "no arguments",
            )
        };
        let mut newer = fail("one");
        // Compilers are not compared, so that runs of two of them can be.
        newer.place.compiler = "2".to_owned();
        let found = compared(
            &[pass("one"), pass("two"), pass("three"), fail("four")],
            &[newer, skip("two"), pass("three"), pass("four")],
        );
        let lines: Vec<_> = found
            .differences
            .iter()
            .map(|d| {
                (
                    d.change,
                    d.program.as_str(),
                    d.target.as_str(),
                    d.case.as_str(),
                    d.message.as_str(),
                )
            })
            .collect();
        assert_eq!(
            lines,
            [
                (Change::Broken, "a.fut", "c", "blocks:one", "3 is wrong"),
                (Change::Lost, "a.fut", "c", "blocks:two", "no arguments"),
                (Change::Fixed, "a.fut", "c", "blocks:four", "3 is wrong"),
            ]
        );
        assert_eq!(found.common, 4);
    }

    #[test]
    fn changes_with_one_message_have_one_line_that_fits() {
        let on = |case: &str, outcome| {
            let message = "the compiler rejects a vector and a matrix of one record type";
            with(record("a.fut", "c", outcome), case, "cpu", message)
        };
        let cases = ["one", "two", "three"];
        let olds = cases.map(|case| on(case, Outcome::Pass));
        let news = cases.map(|case| on(case, Outcome::Fail));
        let text = compared(&olds, &news).to_string();
        assert_eq!(text.matches("the compiler rejects").count(), 1, "{text}");
        assert!(
            text.contains("  a.fut on c blocks:one and 2 more: the"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }

    #[test]
    fn a_device_with_a_new_driver_is_the_same_device() {
        let on = |device: &str, outcome| with(record("a.fut", "opencl", outcome), "x", device, "");
        let found = compared(
            &[on("A: driver 1", Outcome::Pass), on("B", Outcome::Pass)],
            &[on("A: driver 2", Outcome::Fail), on("B", Outcome::Pass)],
        );
        assert_eq!(found.count(Change::Broken), 1);
        assert_eq!(found.count(Change::Lost), 0);
    }
}
