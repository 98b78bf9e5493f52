//! Reads reports, and merges those of the parts of one run.

use super::json::{End, SCHEMA};
use crate::record::{Header, NOWHERE, Place, Record};
use crate::shard::Shard;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// The merged report of a run.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The header for all parts.
    pub header: Header,
    /// The records, in the order of the files and of the lines in each.
    pub records: Vec<Record>,
    /// Descriptions of missing parts (`part I/N`) and missing ends of reports.
    pub missing: Vec<String>,
}

/// A file that is not a report, or not of the same run as the others.
#[derive(Debug)]
pub struct MergeError {
    path: PathBuf,
    line: Option<usize>,
    message: String,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed to read {}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for MergeError {}

/// Reads the reports of the parts of one run.
///
/// # Errors
/// If a file cannot be read or has a malformed line; if two files are of runs with different seeds,
/// of the same part, or contain the same case.
pub fn merge(files: &[PathBuf]) -> Result<Merged, MergeError> {
    let mut merged: Option<Merged> = None;
    let mut shards: Vec<Shard> = Vec::new();
    let mut cases: HashMap<Case, &Path> = HashMap::new();
    let mut interrupted = Vec::new();
    for path in files {
        let fail = |line: Option<usize>, message: String| MergeError {
            path: path.clone(),
            line,
            message,
        };
        let Report {
            header,
            records,
            whole,
        } = read(path)?;
        if !whole {
            interrupted.push(format!("the end of {}", path.display()));
        }
        if let Some(shard) = header.shard {
            if shards.contains(&shard) {
                return Err(fail(Some(1), format!("part {shard} was already given")));
            }
            if let Some(other) = shards.iter().find(|other| other.count != shard.count) {
                let message = format!("part {shard} and part {other} are not of the same run");
                return Err(fail(Some(1), message));
            }
            shards.push(shard);
        }
        for (number, record) in records.iter().enumerate() {
            if let Some(other) = cases.insert(case(record), path)
                && other != path.as_path()
                // Every part reports the files that are not programs.
                && record.place.backend != NOWHERE
            {
                let message = format!("the same case is also in {}", other.display());
                return Err(fail(Some(number + 2), message));
            }
        }
        match &mut merged {
            None => {
                merged = Some(Merged {
                    header,
                    records,
                    missing: Vec::new(),
                });
            }
            Some(merged) => {
                if header.seed != merged.header.seed {
                    let message = format!(
                        "expected seed {}, got {}: these are not parts of one run",
                        merged.header.seed, header.seed
                    );
                    return Err(fail(Some(1), message));
                }
                join(merged, header, records);
            }
        }
    }
    let mut merged = merged.ok_or_else(|| MergeError {
        path: PathBuf::new(),
        line: None,
        message: "no file was given".to_owned(),
    })?;
    merged.missing = missing(&shards);
    merged.missing.extend(interrupted);
    merged.header.shard = None;
    Ok(merged)
}

/// The contents of one file.
struct Report {
    header: Header,
    records: Vec<Record>,
    /// Whether the report is complete.
    whole: bool,
}

fn read(path: &Path) -> Result<Report, MergeError> {
    let fail = |line: Option<usize>, message: String| MergeError {
        path: path.to_owned(),
        line,
        message,
    };
    let text = std::fs::read_to_string(path).map_err(|error| fail(None, error.to_string()))?;
    let mut lines = text.lines().peekable();
    let first = lines
        .next()
        .ok_or_else(|| fail(None, "the file is empty".to_owned()))?;
    let header: Header = serde_json::from_str(first)
        .map_err(|error| fail(Some(1), format!("invalid header: {error}")))?;
    if header.schema != SCHEMA {
        let message = format!("expected schema {SCHEMA}, got {}", header.schema);
        return Err(fail(Some(1), message));
    }
    let mut records: Vec<Record> = Vec::new();
    let mut whole = false;
    let mut number = 1;
    while let Some(line) = lines.next() {
        number += 1;
        if lines.peek().is_none()
            && let Ok(end) = serde_json::from_str::<End>(line)
        {
            if end.records != records.len() {
                let message = format!("expected {} records, got {}", end.records, records.len());
                return Err(fail(Some(number), message));
            }
            whole = true;
            break;
        }
        let record = serde_json::from_str(line)
            .map_err(|error| fail(Some(number), format!("invalid record: {error}")))?;
        records.push(record);
    }
    Ok(Report {
        header,
        records,
        whole,
    })
}

/// The identity of a case.
type Case = (Place, String, String);

fn case(record: &Record) -> Case {
    let finding = &record.finding;
    (
        record.place.clone(),
        finding.check.clone(),
        finding.case.clone(),
    )
}

/// Adds another part to the merged report.
fn join(merged: &mut Merged, header: Header, records: Vec<Record>) {
    for compiler in header.compilers {
        let known = &mut merged.header.compilers;
        if known.iter().all(|other| other.version != compiler.version) {
            known.push(compiler);
        }
    }
    for device in header.devices {
        let known = &mut merged.header.devices;
        let same = known.iter_mut().find(|other| {
            other.backend == device.backend
                && (other.name == device.name || !other.usable || !device.usable)
        });
        match same {
            // A backend is usable if any of the machines can run it.
            Some(other) if !other.usable && device.usable => *other = device,
            Some(_) => {}
            None => known.push(device),
        }
    }
    // Keep one record for each file that is not a program.
    let reported: HashSet<String> = merged
        .records
        .iter()
        .filter(|record| record.place.backend == NOWHERE)
        .map(|record| record.place.program.clone())
        .collect();
    let fresh = records.into_iter().filter(|record| {
        record.place.backend != NOWHERE || !reported.contains(&record.place.program)
    });
    merged.records.extend(fresh);
}

fn missing(shards: &[Shard]) -> Vec<String> {
    let Some(count) = shards.first().map(|shard| shard.count) else {
        return Vec::new();
    };
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
    use crate::report::json::JsonReport;
    use crate::report::tests::{header, record};

    struct Parts(tempfile::TempDir);

    impl Parts {
        fn new() -> Parts {
            Parts(tempfile::tempdir().unwrap())
        }

        fn write(&self, name: &str, header: &Header, records: &[Record]) -> PathBuf {
            let path = self.0.path().join(name);
            let mut report = JsonReport::create(&path, header).unwrap();
            for record in records {
                report.add(record).unwrap();
            }
            report.end().unwrap();
            path
        }
    }

    fn part(text: &str) -> Header {
        Header {
            shard: Some(text.parse().unwrap()),
            ..header()
        }
    }

    fn error(files: &[PathBuf]) -> String {
        merge(files).unwrap_err().to_string()
    }

    #[test]
    fn parts_are_merged() {
        let parts = Parts::new();
        let library = record("lib.fut", "-", Outcome::Skip);
        let a = record("a.fut", "c", Outcome::Pass);
        let b = record("b.fut", "c", Outcome::Fail);
        let first = parts.write("1", &part("1/3"), &[library.clone(), a.clone()]);
        let last = parts.write("3", &part("3/3"), &[library.clone(), b.clone()]);
        let merged = merge(&[first, last]).unwrap();
        assert_eq!(merged.records, [library, a, b]);
        assert_eq!(merged.missing, ["part 2/3"]);
        assert_eq!(merged.header, header());
    }

    #[test]
    fn damage_is_reported_with_its_line() {
        let parts = Parts::new();
        let good = parts.write("good", &header(), &[record("a.fut", "c", Outcome::Pass)]);
        let whole = std::fs::read_to_string(&good).unwrap();
        let (text, _) = whole.trim_end().rsplit_once('\n').unwrap();
        let mut text = text.to_owned();
        text.truncate(text.len() - 5);
        let bad = parts.0.path().join("bad");
        for (text, words) in [
            (text.as_str(), "bad, line 2: invalid record"),
            ("", "bad: the file is empty"),
            ("{}\n", "bad, line 1: invalid header"),
        ] {
            std::fs::write(&bad, text).unwrap();
            let error = error(std::slice::from_ref(&bad));
            assert!(error.contains(words), "{error}");
        }
        let other = Header {
            schema: SCHEMA + 1,
            ..header()
        };
        let error = error(&[parts.write("other", &other, &[])]);
        assert!(
            error.contains("line 1: expected schema 2, got 3"),
            "{error}"
        );
        assert!(merge(&[parts.0.path().join("nowhere")]).is_err());
    }

    #[test]
    fn an_interrupted_report_is_incomplete() {
        let parts = Parts::new();
        let records = [
            record("a.fut", "c", Outcome::Pass),
            record("b.fut", "c", Outcome::Pass),
        ];
        let path = parts.write("whole", &header(), &records);
        assert!(
            merge(std::slice::from_ref(&path))
                .unwrap()
                .missing
                .is_empty()
        );
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        // First without the last line, then without a record before it.
        std::fs::write(&path, lines[..3].join("\n")).unwrap();
        let merged = merge(std::slice::from_ref(&path)).unwrap();
        assert_eq!(merged.records, records);
        assert_eq!(merged.missing, [format!("the end of {}", path.display())]);
        std::fs::write(&path, [lines[0], lines[1], lines[3]].join("\n")).unwrap();
        let error = error(std::slice::from_ref(&path));
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
}
