//! Compares a run with the report of an earlier one, while the run goes on.
//!
//! Only a hash and the outcome of each earlier result are kept, so that the report of a large corpus
//! fits into memory. Results are compared as by the subcommand `diff`.

use super::difference::{Change, Devices, Verdict};
use super::json::{Line, Lines, ReadError};
use super::summary::Column;
use super::{counted, groups};
use crate::record::{Header, Outcome, Place, Record};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// The results of an earlier run, and what changed since.
#[derive(Debug)]
pub struct Baseline {
    name: String,
    /// The compiler of the earlier run for each one of this run.
    compilers: HashMap<String, String>,
    old: HashMap<u64, Old>,
    places: Vec<Place>,
    /// The reasons of earlier failures, by the hash of the result.
    seen: HashSet<u64>,
    fixed: BTreeMap<String, usize>,
    counts: BTreeMap<Change, usize>,
    compared: usize,
    still: usize,
}

/// An earlier result.
#[derive(Clone, Copy, Debug)]
struct Old {
    verdict: Verdict,
    place: u32,
    is_found: bool,
}

/// Results that changed in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Check, program and place.
    pub what: String,
    /// The number of cases.
    pub count: usize,
}

/// What changed since the baseline.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The name of the earlier report.
    pub name: String,
    /// The number of failures that are new.
    pub new: usize,
    /// Failures, expected or not, that pass now.
    pub fixed: Vec<Changed>,
    /// Passes that are not checked any more, although their program ran.
    pub lost: Vec<Changed>,
    /// The number of passes that fail now as expected.
    pub known: usize,
    /// The number of results that were not checked and pass now.
    pub gained: usize,
    /// The number of failures that the baseline has, too.
    pub still: usize,
    /// The number of results with the same outcome in both.
    pub unchanged: usize,
    /// The number of earlier results of programs that did not run at their place.
    pub not_run: usize,
}

impl Changes {
    /// The number of failures that pass now.
    #[must_use]
    pub fn fixed_cases(&self) -> usize {
        self.fixed.iter().map(|one| one.count).sum()
    }

    /// The number of passes that are not checked any more.
    #[must_use]
    pub fn lost_cases(&self) -> usize {
        self.lost.iter().map(|one| one.count).sum()
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "since {}: {}, {} fixed, {} unchanged",
            super::shown(&self.name),
            counted(self.new, "new failure"),
            self.fixed_cases(),
            self.unchanged
        )?;
        for (count, what) in [
            (self.still, "still failing"),
            (self.known, "failing as expected now"),
            (self.lost_cases(), "not checked any more"),
            (self.gained, "checked now"),
            (self.not_run, "not run"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}

impl Baseline {
    /// Reads the report of an earlier run, to compare it with a run with this header.
    ///
    /// # Errors
    /// If the file cannot be read or is not a report.
    pub fn read(path: &Path, header: &Header) -> Result<Baseline, ReadError> {
        let mut lines = Lines::open(path)?;
        let devices = Devices::between(
            lines.header().devices.iter().map(device_names),
            header.devices.iter().map(device_names),
        );
        let mut baseline = Baseline {
            name: path.display().to_string(),
            compilers: compilers(lines.header(), header),
            old: HashMap::new(),
            places: Vec::new(),
            seen: HashSet::new(),
            fixed: BTreeMap::new(),
            counts: BTreeMap::new(),
            compared: 0,
            still: 0,
        };
        let mut numbers: HashMap<Place, u32> = HashMap::new();
        while let Some(line) = lines.next_line()? {
            let Line::Record(mut record) = line else {
                continue;
            };
            let place = &mut record.place;
            // Skipped files are not results of a compiler.
            if Column::of(place).is_none() {
                continue;
            }
            if let Some(newer) = devices.newer(&place.backend, &place.device) {
                place.device = newer.to_owned();
            }
            let key = key(&record, &record.place.compiler);
            let next = u32::try_from(baseline.places.len()).unwrap_or(u32::MAX);
            let number = *numbers.entry(record.place.clone()).or_insert_with(|| {
                baseline.places.push(record.place.clone());
                next
            });
            let old = Old {
                verdict: Verdict::of(&record.finding),
                place: number,
                is_found: false,
            };
            // A case that died can also have a skip. The failure counts.
            let known = baseline.old.entry(key).or_insert(old);
            if rank(old.verdict) > rank(known.verdict) {
                *known = old;
            }
        }
        Ok(baseline)
    }

    /// Adds a result of this run; returns whether it is a new failure.
    pub fn add(&mut self, record: &Record) -> bool {
        let place = &record.place;
        let Some(compiler) = self.compilers.get(&place.compiler) else {
            // Without a compiler to compare with, nothing is new.
            return false;
        };
        self.seen.insert(place_hash(place, compiler));
        let old = self.old.get_mut(&key(record, compiler));
        let new = Verdict::of(&record.finding);
        let before = old.map(|old| {
            old.is_found = true;
            old.verdict
        });
        self.compared += usize::from(before == Some(new));
        let is_failure = record.finding.outcome == Outcome::Fail;
        self.still += usize::from(is_failure && before == Some(new));
        let Some(change) = Change::between(before, Some(new)) else {
            return false;
        };
        *self.counts.entry(change).or_default() += 1;
        if change == Change::Fixed {
            let what = what(&record.finding.check, place);
            *self.fixed.entry(what).or_default() += 1;
        }
        is_failure
    }

    /// What changed, when all results have been added.
    #[must_use]
    pub fn changes(&self) -> Changes {
        let mut lost: BTreeMap<u32, usize> = BTreeMap::new();
        let mut not_run = 0;
        let ran: Vec<bool> = self
            .places
            .iter()
            .map(|place| self.seen.contains(&place_hash(place, &place.compiler)))
            .collect();
        for old in self.old.values().filter(|old| !old.is_found) {
            if !ran.get(old.place as usize).copied().unwrap_or(false) {
                not_run += 1;
            } else if Change::between(Some(old.verdict), None) == Some(Change::Lost) {
                *lost.entry(old.place).or_default() += 1;
            }
        }
        let count = |change: Change| self.counts.get(&change).copied().unwrap_or(0);
        let mut lost: Vec<Changed> = lost
            .into_iter()
            .filter_map(|(place, count)| {
                let what = where_(self.places.get(place as usize)?);
                Some(Changed { what, count })
            })
            .collect();
        if count(Change::Lost) > 0 {
            let what = "skipped now, see the reasons".to_owned();
            let count = count(Change::Lost);
            lost.push(Changed { what, count });
        }
        Changes {
            name: self.name.clone(),
            new: count(Change::Broken) + count(Change::Unexpected),
            fixed: list(&self.fixed),
            lost,
            known: count(Change::Known),
            gained: count(Change::Gained),
            still: self.still,
            unchanged: self.compared,
            not_run,
        }
    }
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Skip => 0,
        Verdict::Pass => 1,
        Verdict::ExpectedFail => 2,
        Verdict::Fail | Verdict::UnexpectedPass => 3,
    }
}

fn list(counts: &BTreeMap<String, usize>) -> Vec<Changed> {
    let list = counts.iter().map(|(what, count)| Changed {
        what: what.clone(),
        count: *count,
    });
    list.collect()
}

fn device_names(device: &crate::devices::Device) -> (&str, &str) {
    (device.backend.as_str(), &device.name)
}

/// The label of the earlier compiler for that of each newer one: the same; or the only one, if both
/// runs have one.
fn compilers(old: &Header, new: &Header) -> HashMap<String, String> {
    let labels = |header: &Header| -> Vec<String> {
        let compilers = header.compilers.iter();
        compilers.map(|compiler| compiler.label.clone()).collect()
    };
    let (olds, news) = (labels(old), labels(new));
    if let ([old], [new]) = (olds.as_slice(), news.as_slice()) {
        return HashMap::from([(new.clone(), old.clone())]);
    }
    let both = news.into_iter().filter(|label| olds.contains(label));
    both.map(|label| (label.clone(), label)).collect()
}

fn key(record: &Record, compiler: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    place_hash(&record.place, compiler).hash(&mut hasher);
    record.finding.check.hash(&mut hasher);
    record.finding.case.hash(&mut hasher);
    hasher.finish()
}

fn place_hash(place: &Place, compiler: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&place.program, &place.backend, &place.device, compiler).hash(&mut hasher);
    hasher.finish()
}

fn what(check: &str, place: &Place) -> String {
    format!("{check} of {}", where_(place))
}

/// `PROGRAM on BACKEND (DEVICE), COMPILER`
fn where_(place: &Place) -> String {
    let device = match place.device.as_str() {
        "" | crate::devices::HOST => String::new(),
        device => format!(" ({})", groups::first_line(device)),
    };
    format!(
        "{} on {}{device}, {}",
        place.program, place.backend, place.compiler
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::json::JsonReport;
    use crate::report::tests::{header, record};

    fn changes(old: &[Record], new: &[Record]) -> (Changes, Vec<bool>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.jsonl");
        let mut report = JsonReport::create(&path, &header()).unwrap();
        old.iter().for_each(|record| report.add(record).unwrap());
        report.end().unwrap();
        report.close().unwrap();
        let mut baseline = Baseline::read(&path, &header()).unwrap();
        let new: Vec<bool> = new.iter().map(|record| baseline.add(record)).collect();
        (baseline.changes(), new)
    }

    fn case(program: &str, case: &str, outcome: Outcome) -> Record {
        let mut record = record(program, "c", outcome);
        record.finding.case = case.into();
        record
    }

    #[test]
    fn results_are_compared_with_the_earlier_run() {
        use Outcome::{Fail, Pass, Skip};
        let (changes, new) = changes(
            &[
                case("a.fut", "one", Pass),
                case("a.fut", "two", Fail),
                case("a.fut", "three", Fail),
                case("a.fut", "three", Skip),
                case("a.fut", "gone", Pass),
                case("a.fut", "four", Pass),
                case("b.fut", "one", Pass),
            ],
            &[
                case("a.fut", "one", Fail),
                case("a.fut", "two", Pass),
                case("a.fut", "three", Fail),
                case("a.fut", "four", Pass),
                case("a.fut", "five", Fail),
                case("a.fut", "six", Skip),
            ],
        );
        assert_eq!(new, [true, false, false, false, true, false]);
        assert_eq!((changes.new, changes.still, changes.unchanged), (2, 1, 2));
        assert_eq!(
            changes.fixed,
            [Changed {
                what: "blocks of a.fut on c, 1".into(),
                count: 1
            }]
        );
        assert_eq!(
            changes.lost,
            [Changed {
                what: "a.fut on c, 1".into(),
                count: 1
            }]
        );
        assert_eq!(changes.not_run, 1, "b.fut was not selected");
        let text = changes.to_string();
        assert!(
            text.contains("2 new failures, 1 fixed, 2 unchanged, 1 still failing"),
            "{text}"
        );
    }

    #[test]
    fn results_of_an_unknown_compiler_are_not_new() {
        let mut other = header();
        other
            .compilers
            .push(crate::record::CompilerInfo::new("2", "/x/futhark-2"));
        let map = compilers(&header(), &other);
        assert_eq!(map.len(), 1);
        other.compilers.remove(0);
        // One compiler each: a new version is compared with the old one.
        assert_eq!(compilers(&header(), &other)["2"], "1");
    }
}
