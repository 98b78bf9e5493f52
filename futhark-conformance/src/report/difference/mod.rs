//! What differs between two runs, or between two compilers of one run.

mod text;

pub(super) use text::rows;

use super::merge::{Cases, Merged};
use crate::devices::HOST;
use crate::record::{Cause, CompilerInfo, Finding, Outcome, Place};
use askama::Template;
use futhark_manifest::Version;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

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

/// An outcome, with unexpected passes apart from other failures; the worst is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Skip,
    Pass,
    ExpectedFail,
    UnexpectedPass,
    Fail,
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
    /// Where, in the newer run.
    pub place: Place,
    /// `CHECK` or `CHECK:CASE`
    pub case: Arc<str>,
    /// The first line of the newer message, or why there is no result.
    pub message: Arc<str>,
    /// Whether the newer run has results of the program there.
    pub was_run: bool,
}

impl Difference {
    /// `BACKEND`, or `BACKEND (DEVICE)`
    #[must_use]
    pub fn target(&self) -> String {
        match self.place.device.as_str() {
            "" | HOST => self.place.backend.clone(),
            device => format!("{} ({device})", self.place.backend),
        }
    }
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
    /// The number of these with the same outcome, and of those that failed in both.
    pub unchanged: usize,
    /// The number of results that fail in both runs.
    pub still: usize,
    /// The number of older results of programs that did not run at their place.
    pub not_run: usize,
    /// How the runs were selected, if that differs: then coverage differs for this reason, too.
    pub selection: Option<String>,
}

/// Compares the only compilers of two runs, or each compiler that both have.
pub(crate) fn of_runs(old: &Merged, new: &Merged) -> Vec<Comparison> {
    let (olds, news) = (compilers(old), compilers(new));
    let pairs: Vec<_> = match (olds.as_slice(), news.as_slice()) {
        ([one], [other]) => vec![(*one, *other)],
        _ => {
            let both = olds.iter();
            let both = both.filter_map(|one| Some((*one, same(one, &olds, &news)?)));
            both.collect()
        }
    };
    let selections = [old, new].map(|run| selection(&run.header.selection));
    let compared = pairs.into_iter().map(|(before, after)| {
        let names = [(old, before), (new, after)].map(|(run, compiler)| {
            let file = run.files[0].display();
            format!("{file} (Futhark {})", compiler.label)
        });
        let mut found = compare(at(old, before), at(new, after), &after.label);
        found.names = names;
        if selections[0] != selections[1] {
            let [old, new] = &selections;
            found.selection = Some(format!(
                "the runs had different options, so coverage differs: {old} -> {new}"
            ));
        }
        found
    });
    compared.collect()
}

/// The same, as one comparison.
pub(crate) fn since(old: &Merged, new: &Merged) -> Comparison {
    let mut sum = Comparison::default();
    for one in of_runs(old, new) {
        sum.differences.extend(one.differences);
        sum.common += one.common;
        sum.unchanged += one.unchanged;
        sum.still += one.still;
        sum.not_run += one.not_run;
    }
    sum.names[0] = old.files[0].display().to_string();
    sum
}

/// Compares each compiler of a run with the next newer one, except on these devices.
pub(crate) fn of_compilers(run: &Merged, except: &BTreeSet<String>) -> Vec<Comparison> {
    let on = |compiler| at(run, compiler).filter(|(place, _)| !except.contains(&place.device));
    let compilers = compilers(run);
    let compared = compilers.windows(2).map(|pair| Comparison {
        names: [pair[0], pair[1]].map(|compiler| format!("Futhark {}", compiler.label)),
        ..compare(on(pair[0]), on(pair[1]), &pair[1].label)
    });
    compared.collect()
}

/// The compilers of a run, oldest first.
fn compilers(run: &Merged) -> Vec<&CompilerInfo> {
    let mut compilers: Vec<&CompilerInfo> = run.header.compilers.iter().collect();
    compilers.sort_by_key(|compiler| Version::new(&compiler.version));
    compilers
}

/// The compiler of the newer run that is this one of the older run: the one with its label; with its
/// hash, because a label depends on the other compilers of the run; or the only one of its version.
fn same<'r>(
    one: &CompilerInfo,
    olds: &[&CompilerInfo],
    news: &[&'r CompilerInfo],
) -> Option<&'r CompilerInfo> {
    let is_version = |other: &&&CompilerInfo| other.version == one.version;
    let is_only = |all: &[&CompilerInfo]| all.iter().filter(is_version).count() == 1;
    let labelled = news.iter().find(|other| other.label == one.label);
    let equal = |other: &&&CompilerInfo| !one.hash.is_empty() && other.hash == one.hash;
    let found = labelled.or_else(|| news.iter().find(equal));
    let only = || (is_only(olds) && is_only(news)).then(|| news.iter().find(is_version));
    found.or_else(|| only().flatten()).copied()
}

/// The options of a run that select jobs and checks.
fn selection(words: &[String]) -> String {
    let mut options = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--all" => options.push(word.clone()),
            "--exclude" | "--check" | "--budget" | "--architectures" => {
                let value = words.next().map_or("", |value| value);
                options.push(format!("{word} {value}"));
            }
            _ => {}
        }
    }
    match options.is_empty() {
        true => "none".to_owned(),
        false => options.join(" "),
    }
}

/// The results of a compiler.
fn at<'r>(
    run: &'r Merged,
    compiler: &'r CompilerInfo,
) -> impl Iterator<Item = (&'r Place, &'r Cases)> + Clone {
    let places = run.places.iter();
    places.filter(|(place, _)| place.compiler == compiler.label)
}

/// Compares the results of two compilers, of which the newer has this label.
fn compare<'r>(
    old: impl Iterator<Item = (&'r Place, &'r Cases)> + Clone,
    new: impl Iterator<Item = (&'r Place, &'r Cases)> + Clone,
    label: &str,
) -> Comparison {
    let newer_names = newer_names(old.clone(), new.clone());
    let old: BTreeMap<Place, &Cases> = old
        .map(|(place, cases)| {
            let device = (place.backend.as_str(), place.device.as_str());
            let device = newer_names.get(&device).copied().unwrap_or(device.1);
            let place = Place {
                device: device.to_owned(),
                compiler: label.to_owned(),
                ..place.clone()
            };
            (place, cases)
        })
        .collect();
    let new: BTreeMap<&Place, &Cases> = new.collect();
    let mut found = Comparison::default();
    let places: BTreeSet<&Place> = old.keys().chain(new.keys().copied()).collect();
    let none = Cases::new();
    for place in places {
        let older = old.get(place).copied().unwrap_or(&none);
        let was_run = new.contains_key(place);
        let newer = new.get(place).copied().unwrap_or(&none);
        let added = newer.keys().filter(|name| !older.contains_key(*name));
        for name in older.keys().chain(added) {
            let (before, after) = (older.get(name), newer.get(name));
            let [old, new] = [before, after].map(|case| case.map(|case| case.verdict));
            found.common += usize::from(old.is_some() && new.is_some());
            found.not_run += usize::from(!was_run);
            let Some(change) = Change::between(old, new) else {
                let is_same = old == new;
                let fails = matches!(new, Some(Verdict::Fail | Verdict::UnexpectedPass));
                found.unchanged += usize::from(is_same);
                found.still += usize::from(is_same && fails);
                continue;
            };
            let message = match (change, before, after) {
                // A pass has no message.
                (Change::Fixed | Change::Gained, Some(case), _) | (_, _, Some(case)) => {
                    Arc::clone(&case.message)
                }
                _ if !was_run => "the program was not run there".into(),
                _ => why_missing(name, newer),
            };
            found.differences.push(Difference {
                change,
                place: place.clone(),
                case: Arc::clone(name),
                message,
                was_run,
            });
        }
    }
    found.differences.sort_by_cached_key(|one| {
        let place = &one.place;
        (
            one.change,
            place.program.clone(),
            one.target(),
            Arc::clone(&one.case),
        )
    });
    found
}

/// The newer name of each older device that has another one, by backend and name: a driver's version
/// is part of the name. Devices of a backend correspond in the order of their names if both runs have
/// the same number of them.
fn newer_names<'r>(
    old: impl Iterator<Item = (&'r Place, &'r Cases)>,
    new: impl Iterator<Item = (&'r Place, &'r Cases)>,
) -> HashMap<(&'r str, &'r str), &'r str> {
    let (olds, news) = (devices(old), devices(new));
    let mut newer = HashMap::new();
    for (backend, olds) in &olds {
        let Some(news) = news.get(backend) else {
            continue;
        };
        let gone: Vec<&str> = olds.difference(news).copied().collect();
        let added: Vec<&str> = news.difference(olds).copied().collect();
        if gone.len() == added.len() {
            let pairs = gone.into_iter().zip(added);
            newer.extend(pairs.map(|(gone, added)| ((*backend, gone), added)));
        }
    }
    newer
}

/// The devices of each backend.
fn devices<'r>(
    places: impl Iterator<Item = (&'r Place, &'r Cases)>,
) -> BTreeMap<&'r str, BTreeSet<&'r str>> {
    let mut devices: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (place, _) in places {
        let of_backend = devices.entry(&place.backend).or_default();
        of_backend.insert(&place.device);
    }
    devices
}

/// Why a case has no result among those of its program: the reason for which its check or the program
/// was left out.
fn why_missing(name: &str, cases: &Cases) -> Arc<str> {
    let check = name.split_once(':').map_or(name, |(check, _)| check);
    let skipped = cases.get(check);
    if let Some(skip) = skipped.filter(|case| case.verdict == Verdict::Skip) {
        return Arc::clone(&skip.message);
    }
    match cases.get("compile").map(|case| case.verdict) {
        Some(Verdict::Fail | Verdict::ExpectedFail) => "the program did not compile".into(),
        _ => "no result".into(),
    }
}

impl Comparison {
    /// The number of differences of a kind.
    #[must_use]
    pub fn count(&self, change: Change) -> usize {
        self.of(change).count()
    }

    /// The differences of a kind.
    pub(super) fn of(&self, change: Change) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(move |d| d.change == change)
    }

    /// Place and case of each failure that the older run does not have.
    pub(super) fn new_failures(&self) -> impl Iterator<Item = (&Place, &str)> {
        let failures = [Change::Broken, Change::Unexpected].into_iter();
        let failures = failures.flat_map(|change| self.of(change));
        failures.map(|one| (&one.place, &*one.case))
    }
}

/// The differences as one HTML page. The template escapes every text.
#[derive(Template)]
#[template(path = "difference.html")]
struct Page<'c> {
    comparisons: &'c [Comparison],
}

/// Writes the differences as one HTML page.
pub(crate) fn write_html(out: &mut dyn Write, comparisons: &[Comparison]) -> io::Result<()> {
    Page { comparisons }.write_into(out)?;
    writeln!(out)
}

fn class(change: Change) -> &'static str {
    match change {
        Change::Broken => "fail",
        Change::Lost | Change::Known | Change::Unexpected => "expected",
        Change::Fixed | Change::Gained => "pass",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;
    use crate::report::tests::{header, merged, record};
    use std::slice::from_ref;

    fn with(mut record: Record, case: &str, device: &str, message: &str) -> Record {
        record.finding.case = case.to_owned();
        record.finding.message = message.to_owned();
        record.place.device = device.to_owned();
        record
    }

    /// A run with the compilers of the records.
    fn run(records: &[Record]) -> Merged {
        let mut header = header();
        let labels = records.iter().map(|record| record.place.compiler.as_str());
        let labels: BTreeSet<&str> = labels.collect();
        let compilers = labels
            .iter()
            .map(|label| CompilerInfo::new(*label, "futhark"));
        header.compilers = compilers.collect();
        merged(&header, records)
    }

    fn compared(old: &[Record], new: &[Record]) -> Comparison {
        let mut found = of_runs(&run(old), &run(new));
        assert_eq!(found.len(), 1);
        found.remove(0)
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
        let mut newer = [fail("one"), skip("two"), pass("three"), pass("four")];
        // Compilers are not compared, so that runs of two of them can be.
        for record in &mut newer {
            record.place.compiler = "2".to_owned();
        }
        let older = [pass("one"), pass("two"), pass("three"), fail("four")];
        let found = compared(&older, &newer);
        let lines: Vec<_> = found
            .differences
            .iter()
            .map(|d| {
                (
                    d.change,
                    d.place.program.as_str(),
                    d.target(),
                    &*d.case,
                    &*d.message,
                )
            })
            .collect();
        assert_eq!(
            lines,
            [
                (
                    Change::Broken,
                    "a.fut",
                    "c".to_owned(),
                    "blocks:one",
                    "3 is wrong"
                ),
                (
                    Change::Lost,
                    "a.fut",
                    "c".to_owned(),
                    "blocks:two",
                    "no arguments"
                ),
                (
                    Change::Fixed,
                    "a.fut",
                    "c".to_owned(),
                    "blocks:four",
                    "3 is wrong"
                ),
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
        let changes = since(&run(&old), &run(&new));
        let failures: Vec<&str> = changes.new_failures().map(|(_, case)| case).collect();
        assert_eq!(failures, ["blocks:five", "blocks:one"]);
        let text = changes.since();
        let counts = "2 new failures, 1 fixed, 2 unchanged, 1 still failing, 1 not checked any more, 1 not run";
        assert!(text.ends_with(counts), "{text}");
    }

    #[test]
    fn compilers_of_two_runs_correspond_by_label_or_because_each_run_has_one() {
        let by = |compiler: &str, outcome| {
            let mut record = record("a.fut", "c", outcome);
            record.place.compiler = compiler.to_owned();
            record
        };
        let (one, other) = (by("1", Outcome::Pass), by("2", Outcome::Fail));
        let broken = compared(from_ref(&one), from_ref(&other));
        assert_eq!(broken.count(Change::Broken), 1);
        let same = compared(from_ref(&one), &[one.clone(), other]);
        assert_eq!((same.unchanged, same.differences.len()), (1, 0));
    }

    #[test]
    fn each_compiler_is_compared_with_the_next() {
        let by = |version: &str, program: &str, outcome| {
            let mut record = record(program, "c", outcome);
            record.place.compiler = version.to_owned();
            record
        };
        let mut records = vec![
            by("0.10.0", "a", Outcome::Fail),
            by("0.9.0", "a", Outcome::Pass),
            by("0.11.0", "a", Outcome::Skip),
            by("0.9.0", "b", Outcome::Pass),
            by("0.11.0", "b", Outcome::Pass),
            by("0.10.0", "b", Outcome::Skip),
        ];
        let mut spared = by("0.10.0", "c", Outcome::Fail);
        spared.place.device = "spared".to_owned();
        records.push(spared);
        let except = BTreeSet::from(["spared".to_owned()]);
        let comparisons = of_compilers(&run(&records), &except);
        let [first, second] = &comparisons[..] else {
            panic!("{comparisons:?}")
        };
        assert_eq!(first.names, ["Futhark 0.9.0", "Futhark 0.10.0"]);
        let changes = |c: &Comparison| c.differences.iter().map(|d| d.change).collect::<Vec<_>>();
        assert_eq!(changes(first), [Change::Broken, Change::Lost]);
        assert_eq!(changes(second), [Change::Gained]);
        assert_eq!((first.common, second.common), (2, 2));
        assert!(of_compilers(&run(&records[..1]), &except).is_empty());
    }
}
