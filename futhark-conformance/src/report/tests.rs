use super::json::SCHEMA;
use super::*;
use crate::record::{CaseResult, Cause, CompilerInfo, Outcome};
use futhark_manifest::Backend;
use std::slice::from_ref;

/// A record for the tests of all reports.
pub(crate) fn record(program: &str, backend: &str, outcome: Outcome) -> Record {
    let job = JobId {
        program: program.into(),
        backend: backend.into(),
        device: "cpu".into(),
        compiler: "1".into(),
    };
    let result = CaseResult {
        check: "blocks".into(),
        case: "main #0".into(),
        outcome,
        cause: (outcome == Outcome::Fail).then_some(Cause::Mismatch),
        message: "first line\nsecond line".into(),
        seconds: 0.0,
    };
    Record {
        job: job.into(),
        result,
    }
}

pub(super) fn header() -> Header {
    Header {
        schema: SCHEMA,
        generator: "futhark-conformance 1".into(),
        seed: 1,
        shard: None,
        against: Vec::new(),
        options: Vec::new(),
        expectations: String::new(),
        selection: Vec::new(),
        compilers: vec![CompilerInfo::new("1", "/x/futhark-1")],
        devices: vec![Device::host(Backend::C)],
    }
}

pub(super) fn write(path: &Path, header: &Header, records: &[Record]) {
    let target = Target::new(path).unwrap();
    let mut report = JsonReport::create(target, header).unwrap();
    records
        .iter()
        .for_each(|record| report.add(record).unwrap());
    report.close(true).unwrap();
}

pub(super) fn report_with(header: &Header, records: &[Record]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    write(&path, header, records);
    Report::read([path]).unwrap()
}

#[track_caller]
pub(super) fn assert_has(text: &str, words: &str) {
    assert!(text.contains(words), "{words:?} is not in\n{text}");
}

pub(super) fn report(records: &[Record]) -> Report {
    report_with(&header(), records)
}

#[test]
fn each_part_of_a_run_may_report_the_same_device_that_fails() {
    let folder = tempfile::tempdir().unwrap();
    let failing = record(NOWHERE, "opencl", Outcome::Fail);
    let parts = ["a.fut", "b.fut"].map(|program| {
        let path = folder.path().join(program);
        let passed = record(program, "c", Outcome::Pass);
        write(&path, &header(), &[failing.clone(), passed]);
        path
    });
    let counts = Report::read(parts).unwrap().counts();
    assert_eq!((counts.passed, counts.failed), (2, 1));
}

#[test]
fn of_two_runs_that_begin_one_report_at_the_same_time_one_fails() {
    let folder = tempfile::tempdir().unwrap();
    let [mut one, two] = [0, 1].map(|_| {
        let target = Target::new(&folder.path().join("results.jsonl")).unwrap();
        JsonReport::create(target, &header()).unwrap()
    });
    one.publish().unwrap();
    two.close(true).unwrap();
    let error = one.close(true).unwrap_err().to_string();
    assert_has(&error, "another run has replaced it");
}

#[test]
fn durations_are_rounded() {
    assert_eq!(duration(0.25), "0.2 s");
    assert_eq!(about(0.0), "about 0 s");
    assert_eq!(about(89.4), "about 89 s");
    assert_eq!(about(100.0), "about 2 min");
    assert_eq!(about(6000.0), "about 1.7 h");
}

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

fn read(path: &Path) -> Report {
    Report::read([path]).unwrap()
}

fn error(files: &[PathBuf]) -> String {
    Report::read(files).unwrap_err().to_string()
}

#[test]
fn parts_are_merged() {
    let parts = Parts::new();
    let library = record("lib.fut", "-", Outcome::Skip);
    let a = record("a.fut", "c", Outcome::Pass);
    let b = record("b.fut", "c", Outcome::Fail);
    let first = parts.write("1", &part("1/3"), &[library.clone(), a.clone()]);
    let last = parts.write("3", &part("3/3"), &[library.clone(), b.clone()]);
    let merged = Report::read([first, last]).unwrap();
    assert_eq!(merged.records(), [library, a, b]);
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
        let error = error(from_ref(&bad));
        assert_has(&error, words);
    }
    let other = Header {
        schema: SCHEMA + 1,
        ..header()
    };
    let error = error(&[parts.write("other", &other, &[])]);
    assert_has(&error, "line 1: expected schema 5, got 6");
    assert!(Report::read([parts.0.path().join("nowhere")]).is_err());
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
    assert_eq!(merged.records(), all);
    assert_eq!(merged.missing, [format!("the end of {}", path.display())]);
    // A part of a line, as a full disk leaves it.
    let cut = lines[..3].join("\n");
    std::fs::write(&path, &cut[..cut.len() - 5]).unwrap();
    let merged = read(&path);
    assert_eq!(merged.records(), &all[..1]);
    assert_eq!(merged.missing.len(), 1);
    std::fs::write(&path, [lines[0], lines[1], lines[3]].join("\n")).unwrap();
    let error = error(from_ref(&path));
    assert_has(&error, "line 3: expected 2 records, got 1");
}

#[test]
fn parts_of_different_runs_are_refused() {
    let parts = Parts::new();
    let records = [record("a.fut", "c", Outcome::Pass)];
    let first = parts.write("1", &part("1/2"), &records);
    let of_three = parts.write("of-three", &part("2/3"), &[]);
    assert!(error(&[first.clone(), of_three]).contains("are not of the same run"));
    let same_case = parts.write("2", &part("2/2"), &records);
    assert!(
        error(&[first.clone(), same_case])
            .contains("has a result of a.fut [c, cpu, 1] blocks main #0, too")
    );
    let seed = Header {
        seed: 9,
        ..part("2/2")
    };
    let seed = parts.write("seed", &seed, &[]);
    assert!(error(&[first.clone(), seed]).contains("got 9"));
    let by = |name: &str, label: &str, hash: &str| {
        let compiler = CompilerInfo {
            hash: hash.to_owned(),
            ..CompilerInfo::new(label, format!("/{name}/futhark"))
        };
        let header = Header {
            compilers: vec![compiler],
            ..header()
        };
        parts.write(name, &header, &[])
    };
    let first = by("first", "1", "aaaa");
    // The path may differ, and machines of one matrix can have different versions.
    let merged =
        |other: PathBuf| Report::read([first.clone(), other]).map(|all| all.header.compilers.len());
    assert_eq!(merged(by("same", "1", "aaaa")).unwrap(), 1);
    assert_eq!(merged(by("other", "2", "bbbb")).unwrap(), 2);
    let patched = merged(by("patched", "1", "bbbb")).unwrap_err().to_string();
    assert_has(&patched, "expected the compiler 1 as in");
}
