//! Reports, which are functions of files of records: `json` writes and reads them, `merge` joins those
//! of one run, `difference` compares two runs, and a `Summary` is written in each format.

pub mod annotations;
pub(crate) mod aside;
pub mod difference;
pub mod escape;
pub mod excerpt;
pub mod groups;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub(crate) mod merge;
pub mod output;
pub mod progress;
mod results;
pub mod summary;
mod table;
pub mod text;

pub use escape::{quoted, quoted_os, shown, shown_lines};
pub use merge::Records;
pub use results::Report;
pub use summary::Counts;

use crate::checks::device_code;
use crate::corpus::name;
use crate::devices::HOST;
use crate::record::{Header, NOWHERE, Record};
use std::path::Path;

/// The command that repeats this finding only.
#[must_use]
pub fn repeat(record: &Record, compiler: &str, seed: u64) -> String {
    let place = &record.place;
    let finding = &record.finding;
    let check = if finding.case.is_empty() {
        finding.check.clone()
    } else {
        format!("{}:{}", finding.check, finding.case)
    };
    let mut program = name::path(&place.program);
    if program.as_os_str().as_encoded_bytes().starts_with(b"-") {
        // It is not an option.
        program = Path::new(".").join(program);
    }
    let program = quoted_os(program.as_os_str());
    let mut command = format!("futhark-conformance run {program}");
    if place.backend == NOWHERE {
        return command;
    }
    let mut words = vec!["--backend", &place.backend];
    // All backends on the host use the same device; the name is empty if there is no device.
    if !matches!(place.device.as_str(), "" | HOST) {
        words.extend(["--device", &place.device]);
    }
    words.extend(["--futhark", compiler, "--check", &check]);
    for word in words {
        command.push_str(&format!(" {}", quoted(word)));
    }
    if seed != 1 {
        command.push_str(&format!(" --seed {seed}"));
    }
    command
}

/// The command that repeats a finding of a run with this header.
#[must_use]
pub fn repeat_with(header: &Header, record: &Record) -> String {
    let compiler = header
        .compilers
        .iter()
        .find(|compiler| compiler.label == record.place.compiler);
    if record.place.backend == NOWHERE {
        return repeat(record, "", header.seed);
    }
    let path = compiler.map_or("futhark", |compiler| compiler.path.as_str());
    let mut command = repeat(record, path, header.seed);
    // On backend c, `differential` compares compilers, so the command must name the others.
    let others = header.compilers.iter().chain(&header.against);
    if record.finding.check == "differential" && record.place.backend == "c" {
        for other in others.filter(|other| other.label != record.place.compiler) {
            command.push_str(&format!(" --against {}", quoted(&other.path)));
        }
    }
    if record.finding.check == device_code::NAME {
        // It is the case.
        command.push_str(&format!(
            " --architectures {}",
            quoted(&record.finding.case)
        ));
    }
    let is_emulated = matches!(record.place.backend.as_str(), "cuda" | "hip");
    let mut options = header.options.iter();
    while let Some(option) = options.next() {
        if option == "--emulated" && !is_emulated {
            // Other backends refuse it.
            options.next();
            continue;
        }
        command.push_str(&format!(" {}", quoted(option)));
    }
    command
}

/// A duration in a unit that fits, such as `0.3 s`, `42 s` or `5 min 3 s`.
pub(crate) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..10 => format!("{seconds:.1} s"),
        10..120 => format!("{whole} s"),
        120..7200 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// The devices that programs of the compilers do not work on, each with the reason.
fn unfit(header: &Header) -> Vec<String> {
    let devices = header.devices.iter().filter(|device| device.is_unfit());
    devices.map(|device| device.described()).collect()
}

/// A count with its noun, such as `1 job` or `2 jobs`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// A duration for people, such as `about 40 s` or `about 12 min`.
pub(crate) fn about(seconds: f64) -> String {
    // The sum of no numbers is -0.0.
    let seconds = seconds + 0.0;
    match seconds.round() {
        ..=90.0 => format!("about {seconds:.0} s"),
        ..=5400.0 => format!("about {:.0} min", seconds / 60.0),
        _ => format!("about {:.1} h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::Device;
    use crate::record::{Cause, CompilerInfo, Finding, Outcome, Place};
    use crate::report::aside::Target;
    use crate::report::json::JsonReport;
    use crate::report::merge::Merged;
    use crate::report::summary::{Column, Summary};
    use futhark_manifest::Backend;
    use std::collections::BTreeSet;
    use std::slice;

    /// A record for the tests of all reports.
    pub(super) fn record(program: &str, backend: &str, outcome: Outcome) -> Record {
        let place = Place {
            program: program.into(),
            backend: backend.into(),
            device: "cpu".into(),
            compiler: "1".into(),
        };
        let finding = Finding {
            check: "blocks".into(),
            case: "main #0".into(),
            outcome,
            cause: (outcome == Outcome::Fail).then_some(Cause::Mismatch),
            message: "first line\nsecond line".into(),
            seconds: 0.0,
        };
        Record { place, finding }
    }

    /// The summary of records, none of which is new.
    pub(super) fn summary(records: &[Record]) -> Summary {
        let old = records.iter().map(|record| (record.clone(), false));
        compared(&old.collect::<Vec<_>>())
    }

    /// The summary of records, each of which is a new failure or not.
    pub(super) fn compared(records: &[(Record, bool)]) -> Summary {
        let places = records.iter().map(|(record, _)| &record.place);
        let columns: BTreeSet<Column> = places.filter_map(Column::of).collect();
        let mut summary = Summary::new(columns.into_iter().collect());
        for (record, is_new) in records {
            summary.add(record, *is_new);
        }
        summary
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

    /// The results of a run with these records.
    pub(super) fn merged(header: &Header, records: &[Record]) -> Merged {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        write(&path, header, records);
        Merged::read(slice::from_ref(&path)).unwrap()
    }

    /// The header that goes with it.
    pub(super) fn header() -> Header {
        Header {
            schema: json::SCHEMA,
            generator: "futhark-conformance 1".into(),
            run: String::new(),
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

    #[test]
    fn durations_are_rounded() {
        let nothing: f64 = [].iter().sum();
        assert_eq!(about(nothing), "about 0 s");
        assert_eq!(about(90.4), "about 90 s");
        assert_eq!(about(100.0), "about 2 min");
        assert_eq!(about(6000.0), "about 1.7 h");
    }

    #[test]
    fn the_command_repeats_exactly_one_case() {
        let mut record = record("programs/a b.fut", "c", Outcome::Fail);
        record.finding.case = "f' #0".into();
        assert_eq!(
            repeat(&record, "/x/futhark", 1),
            r"futhark-conformance run 'programs/a b.fut' --backend c --futhark /x/futhark --check 'blocks:f'\'' #0'"
        );
        assert!(repeat(&record, "futhark", 7).ends_with(" --seed 7"));
        record.place.device = "A: b".into();
        assert!(repeat(&record, "futhark", 1).contains(" --backend c --device 'A: b' "));
        assert!(repeat_with(&header(), &record).contains("--futhark /x/futhark-1 "));
        record.place.compiler = "2".into();
        assert!(repeat_with(&header(), &record).contains("--futhark futhark "));
    }

    #[test]
    fn options_of_the_emulated_device_are_repeated_only_for_it() {
        let options = ["--emulated", "delayed", "--cases", "3"]
            .map(str::to_owned)
            .to_vec();
        let header = Header {
            options,
            ..header()
        };
        let command = |record: &Record| repeat_with(&header, record);
        let mut found = record("a.fut", "cuda", Outcome::Fail);
        assert!(command(&found).ends_with(" --emulated delayed --cases 3"));
        found.finding.check = device_code::NAME.into();
        found.finding.case = "sm_90".into();
        assert!(command(&found).contains(" --architectures sm_90 --emulated"));
        let host = record("a.fut", "c", Outcome::Fail);
        assert!(command(&host).ends_with("'blocks:main #0' --cases 3"));
        let unread = record("a.fut", NOWHERE, Outcome::Fail);
        assert_eq!(command(&unread), "futhark-conformance run a.fut");
    }

    #[test]
    fn commands_for_unusual_names_are_shell_words() {
        let command = |name: &str| repeat(&record(name, "c", Outcome::Fail), "futhark", 1);
        for (name, word) in [
            ("-x.fut", "./-x.fut"),
            ("it's.fut", r"'it'\''s.fut'"),
            (r"a\nb\xff\\.fut", r"$'a\nb\377\\.fut'"),
        ] {
            let expected = format!("futhark-conformance run {word} --backend c ");
            assert!(command(name).starts_with(&expected), "{}", command(name));
        }
        // Nothing selects a file that was not compiled, but its path.
        let unread = repeat(&record("a.fut", NOWHERE, Outcome::Fail), "futhark", 1);
        assert_eq!(unread, "futhark-conformance run a.fut");
    }
}
