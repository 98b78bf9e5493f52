//! The results of a run, from its file or from those of its parts.

use super::difference::Verdict;
use super::groups::Texts;
use super::json::{Line, Lines, ReadError};
use super::summary::Column;
use crate::devices::Device;
use crate::key::key;
use crate::record::{CompilerInfo, Finding, Header, NOWHERE, Place, Record};
use crate::shard::Shard;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The results of a run. In memory is only what comparisons need, and each text once; the
/// [`records`](Merged::records) are read from the files.
#[derive(Debug)]
pub(crate) struct Merged {
    /// The header for all parts.
    pub(crate) header: Header,
    /// Descriptions of missing parts (`part I/N`) and missing ends of reports.
    pub(crate) missing: Vec<String>,
    pub(crate) files: Vec<PathBuf>,
    /// The results of programs at each place.
    pub(super) places: BTreeMap<Place, Cases>,
}

/// Results by `CHECK` or `CHECK:CASE`.
pub(super) type Cases = HashMap<Arc<str>, Case>;

/// A result.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) verdict: Verdict,
    /// The first line of the message.
    pub(super) message: Arc<str>,
    /// The number of the file.
    file: usize,
}

/// What a finding is about: `CHECK` or `CHECK:CASE`.
pub(super) fn name(finding: &Finding) -> String {
    match finding.case.as_str() {
        "" => finding.check.clone(),
        case => format!("{}:{case}", finding.check),
    }
}

impl Merged {
    /// Reads the file of a run, or those of its parts.
    ///
    /// # Errors
    /// If a file cannot be read or has a malformed line; if two files are of runs with different seeds or
    /// compilers, of the same part, or contain the same case.
    pub(crate) fn read(files: &[PathBuf]) -> Result<Merged, ReadError> {
        let mut headers: Vec<Header> = Vec::new();
        let mut places: BTreeMap<Place, Cases> = BTreeMap::new();
        let mut texts = Texts::default();
        let mut interrupted = Vec::new();
        for (file, path) in files.iter().enumerate() {
            let mut lines = Lines::open(path)?;
            for (other, header) in files.iter().zip(&headers) {
                must_be_of_one_run(&lines.header, header, other)
                    .map_err(|why| ReadError::new(path, 1, why))?;
            }
            while let Some(line) = lines.next_line()? {
                let Line::Record(Record { place, finding }) = line else {
                    continue;
                };
                // Every part reports the files that are not programs.
                if place.backend == NOWHERE {
                    continue;
                }
                let new = Case {
                    verdict: Verdict::of(&finding),
                    message: texts.shared(finding.message.lines().next().unwrap_or_default()),
                    file,
                };
                let cases = places.entry(place).or_default();
                match cases.get_mut(name(&finding).as_str()) {
                    Some(known) if known.file != file => {
                        let other = files[known.file].display();
                        let message =
                            format!("the same case is also in {other}; give each report once");
                        return Err(ReadError::new(path, lines.number, message));
                    }
                    // A case that died can also have a skip. The failure counts.
                    Some(known) if new.verdict > known.verdict => *known = new,
                    Some(_) => {}
                    None => {
                        cases.insert(texts.shared(&name(&finding)), new);
                    }
                }
            }
            if !lines.is_whole {
                interrupted.push(format!("the end of {}", path.display()));
            }
            headers.push(lines.header);
        }
        let shards: Vec<Shard> = headers.iter().filter_map(|header| header.shard).collect();
        let mut missing = missing(&shards);
        missing.extend(interrupted);
        let header = headers.into_iter().reduce(join);
        let header = header.ok_or_else(|| ReadError::new(Path::new(""), 0, "no file was given"))?;
        Ok(Merged {
            header: Header {
                shard: None,
                ..header
            },
            missing,
            files: files.to_vec(),
            places,
        })
    }

    /// The columns of the results, in the order of backends and then of compilers.
    pub(super) fn columns(&self) -> Vec<Column> {
        let columns: BTreeSet<Column> = self.places.keys().filter_map(Column::of).collect();
        columns.into_iter().collect()
    }
}

/// The records of a run, from its files.
#[derive(Debug)]
pub struct Records {
    /// The files that are left, the next one last.
    lines: Vec<Lines>,
    /// The files that are not programs, which each part reports.
    skipped: HashSet<String>,
}

impl Records {
    pub(crate) fn open(files: &[PathBuf]) -> Result<Records, ReadError> {
        let lines: Result<Vec<Lines>, ReadError> =
            files.iter().rev().map(|file| Lines::open(file)).collect();
        Ok(Records {
            lines: lines?,
            skipped: HashSet::new(),
        })
    }
}

impl Iterator for Records {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.lines.last_mut()?.next_line() {
                Ok(Some(Line::Record(record))) => {
                    let place = &record.place;
                    if place.backend != NOWHERE || self.skipped.insert(place.program.clone()) {
                        return Some(Ok(record));
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.lines.pop();
                }
                Err(error) => {
                    self.lines.clear();
                    return Some(Err(error));
                }
            }
        }
    }
}

/// Fails with the reason if the two are not different parts of one run.
fn must_be_of_one_run(new: &Header, other: &Header, path: &Path) -> Result<(), String> {
    let name = path.display();
    if !new.run.is_empty() && new.run == other.run {
        return Err(format!(
            "{name} is a report of the same run; give each report once"
        ));
    }
    if let (Some(shard), Some(other)) = (new.shard, other.shard) {
        if shard == other {
            return Err(format!("part {shard} was already given"));
        }
        if shard.count != other.count {
            return Err(format!(
                "part {shard} and part {other} are not of the same run"
            ));
        }
    }
    if new.seed != other.seed {
        return Err(format!(
            "expected seed {}, got {}: these are not parts of one run",
            other.seed, new.seed
        ));
    }
    // Each version that both have must be by the same compilers, whatever their paths; the shards of
    // a run have the same versions.
    let are_shards = new.shard.is_some() && other.shard.is_some();
    let both = || new.compilers.iter().chain(&other.compilers);
    // Reports of older versions have none.
    let have_hashes = both().all(|one| !one.hash.is_empty());
    let described = |one: &CompilerInfo| match have_hashes {
        true => format!("{} (SHA-256 {:.12}...)", one.label, one.hash),
        false => one.label.clone(),
    };
    let common = |own: &Header, other: &Header| -> BTreeSet<String> {
        let is_common = |one: &&CompilerInfo| {
            let mut others = other.compilers.iter();
            are_shards || others.any(|other| other.version == one.version)
        };
        let compilers = own.compilers.iter().filter(is_common);
        compilers.map(described).collect()
    };
    let (own, others) = (common(new, other), common(other, new));
    let listed = |list: BTreeSet<String>| list.into_iter().collect::<Vec<_>>().join(", ");
    match own == others {
        true => Ok(()),
        false => Err(format!(
            "expected the compilers of {name}, {}, got {}: these are not parts of one run",
            listed(others),
            listed(own)
        )),
    }
}

/// The header of a report of both parts.
fn join(mut header: Header, part: Header) -> Header {
    if !header.run.is_empty() && !part.run.is_empty() {
        header.run = key(&[header.run.as_bytes(), part.run.as_bytes()]);
    }
    for (known, further) in [
        (&mut header.compilers, part.compilers),
        (&mut header.against, part.against),
    ] {
        for compiler in further {
            if known.iter().all(|other| other.label != compiler.label) {
                known.push(compiler);
            }
        }
    }
    let is_missing = |device: &Device| !device.usable && device.name.is_empty();
    for device in part.devices {
        let same = header.devices.iter_mut().find(|other| {
            other.backend == device.backend
                && (other.name == device.name || is_missing(other) || is_missing(&device))
        });
        match same {
            // A backend is usable if any of the machines can run it.
            Some(other) if !other.usable && device.usable => *other = device,
            Some(_) => {}
            None => header.devices.push(device),
        }
    }
    header
}

fn missing(shards: &[Shard]) -> Vec<String> {
    let count = shards.first().map_or(0, |shard| shard.count);
    (1..=count)
        .map(|index| Shard { index, count })
        .filter(|shard| !shards.contains(shard))
        .map(|shard| format!("part {shard}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;
    use crate::report::json::SCHEMA;
    use crate::report::output::part_of;
    use crate::report::tests::{header, record, write};
    use std::slice;

    struct Parts(tempfile::TempDir);

    impl Parts {
        fn new() -> Parts {
            Parts(tempfile::tempdir().unwrap())
        }

        fn write(&self, name: &str, header: &Header, records: &[Record]) -> PathBuf {
            let path = self.0.path().join(name);
            write(&path, header, records);
            path
        }
    }

    fn part(text: &str) -> Header {
        Header {
            shard: Some(text.parse().unwrap()),
            ..header()
        }
    }

    fn read(path: &PathBuf) -> Merged {
        Merged::read(slice::from_ref(path)).unwrap()
    }

    fn records(merged: &Merged) -> Vec<Record> {
        let records = Records::open(&merged.files).unwrap();
        records.map(Result::unwrap).collect()
    }

    fn error(files: &[PathBuf]) -> String {
        Merged::read(files).unwrap_err().to_string()
    }

    #[test]
    fn parts_are_merged() {
        let parts = Parts::new();
        let library = record("lib.fut", "-", Outcome::Skip);
        let a = record("a.fut", "c", Outcome::Pass);
        let b = record("b.fut", "c", Outcome::Fail);
        let first = parts.write("1", &part("1/3"), &[library.clone(), a.clone()]);
        let last = parts.write("3", &part("3/3"), &[library.clone(), b.clone()]);
        let merged = Merged::read(&[first, last]).unwrap();
        assert_eq!(records(&merged), [library, a, b]);
        assert_eq!(merged.missing, ["part 2/3"]);
        assert_eq!(merged.header, header());
    }

    #[test]
    fn damage_is_reported_with_its_line() {
        let parts = Parts::new();
        let good = parts.write("good", &header(), &[record("a.fut", "c", Outcome::Pass)]);
        let whole = std::fs::read_to_string(&good).unwrap();
        let (text, _) = whole.trim_end().rsplit_once('\n').unwrap();
        let text = format!("{}\n", &text[..text.len() - 5]);
        let bad = parts.0.path().join("bad");
        for (text, words) in [
            (text.as_str(), "bad, line 2: invalid record"),
            ("", "bad: the file is empty"),
            ("{}\n", "bad, line 1: invalid header"),
        ] {
            std::fs::write(&bad, text).unwrap();
            let error = error(slice::from_ref(&bad));
            assert!(error.contains(words), "{error}");
        }
        let other = Header {
            schema: SCHEMA + 1,
            ..header()
        };
        let error = error(&[parts.write("other", &other, &[])]);
        assert!(
            error.contains("line 1: expected schema 3, got 4"),
            "{error}"
        );
        assert!(Merged::read(&[parts.0.path().join("nowhere")]).is_err());
    }

    #[test]
    fn an_interrupted_report_is_incomplete() {
        let parts = Parts::new();
        let all = ["a.fut", "b.fut"].map(|name| record(name, "c", Outcome::Pass));
        let path = parts.write("whole", &header(), &all);
        assert!(read(&path).missing.is_empty());
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        // First without the last line, then without a record before it.
        std::fs::write(&path, lines[..3].join("\n")).unwrap();
        let merged = read(&path);
        assert_eq!(records(&merged), all);
        assert_eq!(merged.missing, [format!("the end of {}", path.display())]);
        // A part of a line, as a full disk leaves it.
        let cut = lines[..3].join("\n");
        std::fs::write(&path, &cut[..cut.len() - 5]).unwrap();
        let merged = read(&path);
        assert_eq!(records(&merged), all[..1]);
        assert_eq!(merged.missing.len(), 1);
        // Under the name that the whole report would have.
        std::fs::rename(&path, part_of(&path)).unwrap();
        assert_eq!(records(&read(&path)), all[..1]);
        std::fs::write(&path, [lines[0], lines[1], lines[3]].join("\n")).unwrap();
        let error = error(slice::from_ref(&path));
        assert!(
            error.contains("line 3: expected 2 records, got 1"),
            "{error}"
        );
    }

    #[test]
    fn parts_of_different_runs_are_refused() {
        let parts = Parts::new();
        let records = [record("a.fut", "c", Outcome::Pass)];
        let first = parts.write("1", &part("1/2"), &records);
        let again = parts.write("again", &part("1/2"), &[]);
        assert!(error(&[first.clone(), again]).contains("part 1/2 was already given"));
        let of_three = parts.write("of-three", &part("2/3"), &[]);
        assert!(error(&[first.clone(), of_three]).contains("are not of the same run"));
        let same_case = parts.write("2", &part("2/2"), &records);
        assert!(error(&[first.clone(), same_case]).contains("line 2: the same case"));
        let seed = Header {
            seed: 9,
            ..part("2/2")
        };
        let seed = parts.write("seed", &seed, &[]);
        assert!(error(&[first, seed]).contains("got 9"));
    }

    #[test]
    fn a_report_that_is_given_twice_is_refused() {
        let parts = Parts::new();
        let one = parts.write("one", &header(), &[record("a.fut", "c", Outcome::Pass)]);
        let copy = parts.0.path().join("copy");
        std::fs::copy(&one, &copy).unwrap();
        for other in [&one, &copy] {
            let error = error(&[one.clone(), other.clone()]);
            assert!(error.contains("one; give each report once"), "{error}");
        }
        // Also if one of them is an earlier state.
        let of_run = |run: &str| Header {
            run: run.into(),
            ..header()
        };
        let early = parts.write("early", &of_run("1"), &[]);
        let late = parts.write("late", &of_run("1"), &[record("b.fut", "c", Outcome::Pass)]);
        assert!(error(&[early.clone(), late]).contains("early is a report of the same run"));
        let other = parts.write(
            "other",
            &of_run("2"),
            &[record("b.fut", "c", Outcome::Pass)],
        );
        let merged = Merged::read(&[early, other]).unwrap();
        assert!(!["", "1", "2"].contains(&merged.header.run.as_str()));
    }

    #[test]
    fn parts_by_different_compilers_are_refused() {
        let parts = Parts::new();
        let with = |name: &str, shard: Option<&str>, compilers: &[(&str, &str, &str)]| {
            let compilers = compilers
                .iter()
                .map(|&(version, label, hash)| CompilerInfo {
                    label: label.into(),
                    hash: hash.into(),
                    ..CompilerInfo::new(version, format!("/{name}/futhark"))
                });
            let header = Header {
                compilers: compilers.collect(),
                run: name.to_owned(),
                shard: shard.map(|shard| shard.parse().unwrap()),
                ..header()
            };
            parts.write(name, &header, &[])
        };
        let first = with("first", Some("1/2"), &[("1", "1", "aaaa")]);
        let merges =
            |other: PathBuf| Merged::read(&[first.clone(), other]).map(|merged| merged.header);
        // The path may differ, and older reports have no hash.
        assert_eq!(
            merges(with("same", Some("2/2"), &[("1", "1", "aaaa")]))
                .unwrap()
                .compilers
                .len(),
            1
        );
        assert!(merges(with("older", Some("2/2"), &[("1", "1", "")])).is_ok());
        for (name, shard, compilers) in [
            ("patched", Some("2/2"), &[("1", "1", "bbbb")][..]),
            (
                "both",
                None,
                &[("1", "1-aaaa", "aaaa"), ("1", "1-bbbb", "bbbb")],
            ),
            (
                "further",
                Some("2/2"),
                &[("1", "1", "aaaa"), ("2", "2", "cccc")],
            ),
        ] {
            let error = merges(with(name, shard, compilers))
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("expected the compilers of "),
                "{name}: {error}"
            );
        }
        // Machines of one matrix can have different versions.
        let machine = with("machine", None, &[("1", "1", "aaaa"), ("2", "2", "cccc")]);
        assert_eq!(merges(machine).unwrap().compilers.len(), 2);
    }
}
