//! Reads reports, and merges those of the parts of one run.

use super::json::{End, LONGEST, SCHEMA, is_unknown, too_long};
use super::output::part_of;
use super::part::Part;
use crate::devices::Device;
use crate::key::key;
use crate::record::{Finished, Header, NOWHERE, Place, Record};
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
/// If a file cannot be read or has a malformed line; if a report was given before, under any name;
/// if two files are of runs with different seeds or compilers, of the same part, or contain the same
/// case.
pub fn merge(files: &[PathBuf]) -> Result<Merged, MergeError> {
    let mut merged: Option<Merged> = None;
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut cases: HashMap<Case, &Path> = HashMap::new();
    let mut interrupted = Vec::new();
    for path in files {
        let fail = |line: Option<usize>, message: String| MergeError {
            path: path.clone(),
            line,
            message,
        };
        let Contents {
            header,
            records,
            whole,
            text,
        } = read(path)?;
        if !whole {
            interrupted.push(format!("the end of {}", path.display()));
        }
        let part = Part {
            path,
            text,
            run: header.run.clone(),
            seed: header.seed,
            shard: header.shard,
            compilers: header.compilers.clone(),
        };
        for other in &parts {
            part.must_go_with(other).map_err(|why| fail(Some(1), why))?;
        }
        parts.push(part);
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
            Some(merged) => join(merged, header, records),
        }
    }
    let mut merged = merged.ok_or_else(|| MergeError {
        path: PathBuf::new(),
        line: None,
        message: "no file was given".to_owned(),
    })?;
    let shards: Vec<Shard> = parts.iter().filter_map(|part| part.shard).collect();
    merged.missing = missing(&shards);
    merged.missing.extend(interrupted);
    merged.header.shard = None;
    let runs: Vec<&[u8]> = parts.iter().map(|part| part.run.as_bytes()).collect();
    if runs.len() > 1 && runs.iter().all(|run| !run.is_empty()) {
        merged.header.run = key(&runs);
    }
    Ok(merged)
}

/// The file to read: an interrupted run leaves only the part.
pub(super) fn file_of(path: &Path) -> PathBuf {
    let part = part_of(path);
    match !path.exists() && part.is_file() {
        true => part,
        false => path.to_owned(),
    }
}

/// The contents of one file.
struct Contents {
    header: Header,
    records: Vec<Record>,
    /// Whether the report is complete.
    whole: bool,
    /// The hash of the text.
    text: String,
}

fn read(path: &Path) -> Result<Contents, MergeError> {
    let fail = |line: Option<usize>, message: String| MergeError {
        path: path.to_owned(),
        line,
        message,
    };
    let file = file_of(path);
    if file.metadata().is_ok_and(|data| !data.is_file()) {
        return Err(fail(None, "not a regular file".to_owned()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| fail(None, error.to_string()))?;
    let long = text.lines().position(|line| line.len() > LONGEST);
    if let Some(line) = long {
        return Err(fail(Some(line + 1), too_long()));
    }
    let hash = key(&[text.as_bytes()]);
    // A run that is killed, or a full disk, leaves a part of a line.
    let cut = !text.ends_with('\n');
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
        let is_last = lines.peek().is_none();
        if is_last && let Ok(end) = serde_json::from_str::<End>(line) {
            if end.records != records.len() {
                let message = format!("expected {} records, got {}", end.records, records.len());
                return Err(fail(Some(number), message));
            }
            whole = true;
            break;
        }
        if Finished::read(line).is_some() {
            continue;
        }
        match serde_json::from_str(line) {
            Ok(record) => records.push(record),
            Err(_) if is_last && cut => {}
            Err(_) if is_unknown(line) => {}
            Err(error) => return Err(fail(Some(number), format!("invalid record: {error}"))),
        }
    }
    Ok(Contents {
        header,
        records,
        whole,
        text: hash,
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
    for (known, further) in [
        (&mut merged.header.compilers, header.compilers),
        (&mut merged.header.against, header.against),
    ] {
        for compiler in further {
            if known.iter().all(|other| other.label != compiler.label) {
                known.push(compiler);
            }
        }
    }
    let is_missing = |device: &Device| !device.usable && device.name.is_empty();
    for device in header.devices {
        let known = &mut merged.header.devices;
        let same = known.iter_mut().find(|other| {
            other.backend == device.backend
                && (other.name == device.name || is_missing(other) || is_missing(&device))
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
    use crate::record::{CompilerInfo, Outcome};
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
            report.close().unwrap();
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
        let text = format!("{}\n", &text[..text.len() - 5]);
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
            error.contains("line 1: expected schema 3, got 4"),
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
        // A part of a line, as a full disk leaves it.
        let cut = lines[..3].join("\n");
        std::fs::write(&path, &cut[..cut.len() - 5]).unwrap();
        let merged = merge(std::slice::from_ref(&path)).unwrap();
        assert_eq!(merged.records, records[..1]);
        assert_eq!(merged.missing.len(), 1);
        // Under the name that the whole report would have.
        std::fs::rename(&path, part_of(&path)).unwrap();
        assert_eq!(
            merge(std::slice::from_ref(&path)).unwrap().records,
            records[..1]
        );
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

    #[test]
    fn a_report_that_is_given_twice_is_refused() {
        let parts = Parts::new();
        let one = parts.write("one", &header(), &[record("a.fut", "c", Outcome::Pass)]);
        let copy = parts.0.path().join("copy");
        std::fs::copy(&one, &copy).unwrap();
        for other in [&one, &copy] {
            let error = error(&[one.clone(), other.clone()]);
            assert!(error.contains("one is a report of the same run"), "{error}");
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
        let merged = merge(&[early, other]).unwrap();
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
        let merges = |other: PathBuf| merge(&[first.clone(), other]).map(|merged| merged.header);
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
