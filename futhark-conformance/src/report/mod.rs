//! Reports, computed from files of records: `json` writes the file while the jobs run, and reads it. A [`Report`]
//! joins the files of one run, `difference` compares two runs, and a `Summary` is written in each other format.

pub mod difference;
pub mod escape;
pub mod files;
pub mod groups;
mod html;
pub mod json;
mod junit;
pub mod progress;
mod results;
pub mod summary;
mod text;

pub use escape::{quoted, shown, shown_lines};
pub use groups::repeat;
pub use results::Report;
pub use summary::Counts;

/// A duration in a unit that fits, such as `0.3 s`, `42 s`, `5 min` or `1.7 h`.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        ..10.0 => format!("{seconds:.1} s"),
        ..90.0 => format!("{seconds:.0} s"),
        ..5400.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

/// A duration for people, such as `about 40 s` or `about 12 min`.
pub(crate) fn about(seconds: f64) -> String {
    format!("about {}", duration(seconds.round()).replace(".0 ", " "))
}

/// A count with its noun, such as `1 job` or `2 jobs`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::Device;
    use crate::record::{CaseResult, Cause, CompilerInfo, Header, JobId, Outcome, Record};
    use crate::report::files::Target;
    use crate::report::json::JsonReport;
    use futhark_manifest::Backend;
    use std::path::Path;

    /// A record for the tests of all reports.
    pub(super) fn record(program: &str, backend: &str, outcome: Outcome) -> Record {
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

    /// The header that goes with it.
    pub(super) fn header() -> Header {
        Header {
            schema: json::SCHEMA,
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

    /// Writes the results of a run.
    pub(super) fn write(path: &Path, header: &Header, records: &[Record]) {
        let target = Target::new(path).unwrap();
        let mut report = JsonReport::create(target, header).unwrap();
        records
            .iter()
            .for_each(|record| report.add(record).unwrap());
        report.close(true).unwrap();
    }

    /// The report of a run with this header and these records.
    pub(super) fn report_with(header: &Header, records: &[Record]) -> Report {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        write(&path, header, records);
        Report::read([path]).unwrap()
    }

    /// The report of a run with these records.
    pub(super) fn report(records: &[Record]) -> Report {
        report_with(&header(), records)
    }

    /// The report of records, each of which is a new failure or not.
    pub(super) fn compared(records: &[(Record, bool)]) -> Report {
        let new: Vec<Record> = records.iter().map(|(record, _)| record.clone()).collect();
        let old = records.iter().filter(|(_, is_new)| !is_new);
        let old: Vec<Record> = old.map(|(record, _)| record.clone()).collect();
        let mut report = report(&new);
        report.baseline = Some(Box::new(self::report(&old)));
        report
    }

    #[test]
    fn durations_are_rounded() {
        assert_eq!(duration(0.25), "0.2 s");
        assert_eq!(about(0.0), "about 0 s");
        assert_eq!(about(89.4), "about 89 s");
        assert_eq!(about(100.0), "about 2 min");
        assert_eq!(about(6000.0), "about 1.7 h");
    }
}
