//! The differences between the compilers of one run.

use super::{Comparison, compare};
use crate::identity::version_of;
use crate::record::{Place, Record};
use futhark_manifest::Version;
use std::collections::HashMap;

/// Program, backend and device.
type Target = (String, String, String);

/// Compares each compiler with the next newer one, while the run goes on: the results for a target
/// are dropped when all compilers have them.
#[derive(Debug, Default)]
pub struct Compilers {
    /// Their labels, oldest first.
    versions: Vec<String>,
    open: HashMap<Target, Results>,
    comparisons: Vec<Comparison>,
}

#[derive(Debug, Default)]
struct Results {
    records: Vec<Record>,
    finished: usize,
}

impl Compilers {
    /// Compares the compilers with these labels. Compilers of one version are compared in the given
    /// order.
    #[must_use]
    pub fn new<'v>(versions: impl IntoIterator<Item = &'v str>) -> Compilers {
        let mut versions: Vec<&str> = versions.into_iter().collect();
        versions.sort_by_key(|label| Version::new(version_of(label)));
        versions.dedup();
        let names = |pair: &[&str]| [pair[0], pair[1]].map(|version| format!("Futhark {version}"));
        let comparison = |pair: &[&str]| Comparison {
            names: names(pair),
            ..Comparison::default()
        };
        Compilers {
            comparisons: versions.windows(2).map(comparison).collect(),
            versions: versions.into_iter().map(str::to_owned).collect(),
            open: HashMap::new(),
        }
    }

    /// Adds a result.
    pub fn add(&mut self, record: &Record) {
        if !self.comparisons.is_empty() && self.versions.contains(&record.place.compiler) {
            let results = self.open.entry(target(&record.place)).or_default();
            results.records.push(record.clone());
        }
    }

    /// All results of a place have been added.
    pub fn finished(&mut self, place: &Place) {
        if self.comparisons.is_empty() {
            return;
        }
        let target = target(place);
        let results = self.open.entry(target.clone()).or_default();
        results.finished += 1;
        if results.finished == self.versions.len()
            && let Some(results) = self.open.remove(&target)
        {
            self.compare(&results.records);
        }
    }

    /// The differences between each version and the next, if there are several.
    #[must_use]
    pub fn end(mut self) -> Vec<Comparison> {
        for comparison in &mut self.comparisons {
            comparison.sort();
        }
        self.comparisons
    }

    fn compare(&mut self, records: &[Record]) {
        let of = |version: &String| -> Vec<&Record> {
            let records = records.iter();
            records.filter(|r| r.place.compiler == *version).collect()
        };
        for (pair, sum) in self.versions.windows(2).zip(&mut self.comparisons) {
            let found = compare(sum.names.clone(), &of(&pair[0]), &of(&pair[1]));
            sum.common += found.common;
            sum.differences.extend(found.differences);
        }
    }
}

/// The same for the records of a report.
#[must_use]
pub fn of_report<'v>(
    versions: impl IntoIterator<Item = &'v str>,
    records: &[Record],
) -> Vec<Comparison> {
    let mut compilers = Compilers::new(versions);
    compilers.compare(records);
    compilers.end()
}

fn target(place: &Place) -> Target {
    (
        place.program.clone(),
        place.backend.clone(),
        place.device.clone(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::Change;
    use super::*;
    use crate::record::Outcome;
    use crate::report::tests::record;

    fn by(version: &str, program: &str, outcome: Outcome) -> Record {
        let mut record = record(program, "c", outcome);
        record.place.compiler = version.to_owned();
        record
    }

    #[test]
    fn each_compiler_is_compared_with_the_next() {
        let records = [
            by("0.10.0", "a", Outcome::Fail),
            by("0.9.0", "a", Outcome::Pass),
            by("0.11.0", "a", Outcome::Skip),
            by("0.9.0", "b", Outcome::Pass),
            by("0.11.0", "b", Outcome::Pass),
            by("0.10.0", "b", Outcome::Skip),
        ];
        let versions = ["0.10.0", "0.9.0", "0.11.0"];
        let mut compilers = Compilers::new(versions);
        for record in &records {
            compilers.add(record);
            compilers.finished(&record.place);
        }
        assert!(compilers.open.is_empty());
        for comparisons in [compilers.end(), of_report(versions, &records)] {
            let [first, second] = &comparisons[..] else {
                panic!("{comparisons:?}")
            };
            assert_eq!(first.names, ["Futhark 0.9.0", "Futhark 0.10.0"]);
            let changes =
                |c: &Comparison| c.differences.iter().map(|d| d.change).collect::<Vec<_>>();
            assert_eq!(changes(first), [Change::Broken, Change::Lost]);
            assert_eq!(changes(second), [Change::Gained]);
            assert_eq!((first.common, second.common), (2, 2));
        }
    }

    #[test]
    fn one_compiler_is_compared_with_none() {
        let mut compilers = Compilers::new(["1"]);
        compilers.add(&by("1", "a", Outcome::Pass));
        assert!(compilers.open.is_empty() && compilers.end().is_empty());
    }
}
