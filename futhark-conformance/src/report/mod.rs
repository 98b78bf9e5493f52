//! What a run found: a [`Report`] reads the records of a run, or of the parts of one, from files, and writes them in
//! each format.
//!
//! On the terminal, a passed case has no line of its own: it is only counted. Each record is in the JSON file.

pub mod difference;
pub mod escape;
pub mod files;
pub mod groups;
mod html;
pub mod json;
mod junit;
pub mod progress;
pub mod summary;
mod text;

pub use escape::{quoted, shown, shown_lines};
pub use groups::command_to_repeat;
pub use summary::Counts;

use crate::devices::Device;
use crate::record::{Header, JobId, NOWHERE, Record};
use files::{Format, Target, failed};
use groups::{Group, title};
use json::{JsonReport, Line, Lines, read_error};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use summary::Summary;

/// What a run found.
///
/// [`run`](crate::run()) returns it, and [`Report::read`] reads the JSON Lines of earlier runs.
///
/// ```standalone_crate
/// use futhark_conformance::Report;
///
/// # let folder = tempfile::tempdir()?;
/// # let at = |name: &str| folder.path().join(name);
/// # let schema = futhark_conformance::report::json::SCHEMA;
/// # let header = |part: u8| format!(
/// #     r#"{{"schema":{schema},"generator":"g","seed":1,"shard":"{part}/2","compilers":[],"devices":[]}}"#
/// # );
/// # let record = |name: &str, outcome: &str| format!(
/// #     r#"{{"program":"{name}","backend":"c","device":"cpu","compiler":"1","check":"blocks","case":"main #0","outcome":"{outcome}","cause":null,"message":"","seconds":0.1}}"#
/// # );
/// # for (part, outcome) in [(1, "pass"), (2, "fail")] {
/// #     let record = record(&format!("{part}.fut"), outcome);
/// #     let text = format!("{}\n{record}\n{{\"records\":1}}\n", header(part));
/// #     std::fs::write(at(&format!("part-{part}.jsonl")), text)?;
/// # }
/// # std::env::set_current_dir(&folder)?;
/// let report = Report::read(["part-1.jsonl", "part-2.jsonl"])?;
/// assert!(report.missing.is_empty());
/// assert_eq!((report.counts().passed, report.counts().failed), (1, 1));
/// for record in report.records() {
///     println!("{}: {:?}", record.job.program, record.result.outcome);
/// }
/// for group in report.failures() {
///     println!("{} of {}: {}", group.members.len(), group.heading(), group.headline());
/// }
/// report.write_html("results.html")?;
/// # assert!(at("results.html").is_file());
/// # report.write_json("all.jsonl")?;
/// # assert_eq!(Report::read(["all.jsonl"])?.counts(), report.counts());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Report {
    pub(crate) header: Header,
    records: Vec<Record>,
    /// The first file.
    pub(super) file: PathBuf,
    /// The results to compare with.
    pub baseline: Option<Box<Report>>,
    /// What the budget left out, as text.
    pub left_out: Option<String>,
    /// The missing parts and ends of reports that were read; empty if the report is complete.
    pub missing: Vec<String>,
    /// The reports to write, which `finish` does.
    pub(crate) targets: Vec<(Format, Target)>,
    /// Why the records were not written, which `finish` returns.
    pub(crate) failed: Option<io::Error>,
}

impl Report {
    /// Reads the JSON Lines that a run wrote, or those of all parts of a run, which are merged.
    ///
    /// # Errors
    /// If a file cannot be read or is damaged; if the files are not of one run, or contain the same case.
    /// A missing part or end is not an error: [`missing`](Report::missing) lists it.
    pub fn read<P: Into<PathBuf>>(files: impl IntoIterator<Item = P>) -> io::Result<Report> {
        let mut report: Option<Report> = None;
        let mut parts = Vec::new();
        for file in files {
            let file = file.into();
            let part = Report::read_one(&file)?;
            parts.extend(part.header.shard);
            match &mut report {
                None => report = Some(part),
                Some(whole) => {
                    let joined = whole.join(part);
                    joined.map_err(|why| read_error(&file, 0, why))?;
                }
            }
        }
        let no_file = || read_error(Path::new(""), 0, "no file was given");
        let mut report = report.ok_or_else(no_file)?;
        let count = report.header.shard.take().map_or(0, |shard| shard.count);
        let is_missing = |index: &usize| parts.iter().all(|part| part.index != *index);
        let missing = (1..=count).filter(is_missing);
        let missing = missing.map(|index| format!("part {index}/{count}"));
        report.missing.extend(missing);
        Ok(report)
    }

    fn read_one(file: &Path) -> io::Result<Report> {
        let Lines {
            header,
            lines,
            is_whole,
        } = Lines::read(file)?;
        let mut jobs: HashSet<Arc<JobId>> = HashSet::new();
        let records = lines.into_iter().filter_map(|line| {
            let Line::Record(mut record) = line else {
                return None;
            };
            match jobs.get(&record.job) {
                Some(job) => record.job = Arc::clone(job),
                None => drop(jobs.insert(Arc::clone(&record.job))),
            }
            Some(record)
        });
        let end = (!is_whole).then(|| format!("the end of {}", file.display()));
        Ok(Report {
            header,
            records: records.collect(),
            file: file.to_owned(),
            baseline: None,
            left_out: None,
            missing: end.into_iter().collect(),
            targets: Vec::new(),
            failed: None,
        })
    }

    /// Adds another part of the run; fails with the reason if it is none.
    fn join(&mut self, part: Report) -> Result<(), String> {
        let first = self.file.display();
        if self.header.seed != part.header.seed {
            return Err(format!(
                "expected seed {} as in {first}, got {}: these are not parts of one run",
                self.header.seed, part.header.seed
            ));
        }
        if let (Some(own), Some(other)) = (self.header.shard, part.header.shard)
            && own.count != other.count
        {
            return Err(format!(
                "part {other} and part {own} are not of the same run"
            ));
        }
        for compiler in part.header.compilers {
            let mut known = self.header.compilers.iter();
            match known.find(|known| known.version == compiler.version) {
                None => self.header.compilers.push(compiler),
                // The hash of a recording is not known.
                Some(known) if known.hash == compiler.hash => {}
                Some(known) if known.hash.is_empty() || compiler.hash.is_empty() => {}
                Some(known) => {
                    return Err(format!(
                        "expected the compiler {} as in {first}, with the SHA-256 {:.12}..., got {:.12}...: \
                         these are not parts of one run",
                        known.version, known.hash, compiler.hash
                    ));
                }
            }
        }
        let known: HashSet<_> = self.records.iter().map(Record::id).collect();
        let (again, new): (Vec<Record>, _) =
            (part.records.into_iter()).partition(|record| known.contains(&record.id()));
        // Every part reports the files that are not programs, and the devices that fail.
        let is_of_a_job =
            |record: &&Record| record.job.backend != NOWHERE && record.job.program != NOWHERE;
        if let Some(twice) = again.iter().find(is_of_a_job) {
            return Err(format!(
                "{first} has a result of {}, too; give each report once",
                title(twice)
            ));
        }
        self.records.extend::<Vec<Record>>(new);
        self.missing.extend(part.missing);
        let devices = &mut self.header.devices;
        let is_missing = |device: &Device| !device.usable && device.name.is_empty();
        for device in part.header.devices {
            let same = devices.iter_mut().find(|other| {
                other.backend == device.backend
                    && (other.name == device.name || is_missing(other) || is_missing(&device))
            });
            match same {
                // A backend is usable if any of the machines can run it.
                Some(other) if !other.usable && device.usable => *other = device,
                Some(_) => {}
                None => devices.push(device),
            }
        }
        Ok(())
    }

    /// The compilers, devices and options of the run.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The records, those of each part in the order in which they were found.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The number of records of each outcome.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts::from_records(&self.records)
    }

    /// The failures, grouped by cause: new ones first, if there is a baseline, then those in the most programs.
    #[must_use]
    pub fn failures(&self) -> Vec<Group<'_>> {
        Summary::from_report(self).failures
    }

    /// The command that repeats one result.
    #[must_use]
    pub fn repeat(&self, record: &Record) -> String {
        command_to_repeat(&self.header, record)
    }

    /// The text that the program prints: the totals per column, reasons for skips and expected failures, each cause of
    /// failures in full with a command that repeats its first failure, a line per cause, the changes since the
    /// baseline, and last the sum of all, such as `3 checks: 2 passed, 1 failed`.
    #[must_use]
    pub fn as_text(&self) -> String {
        text::render(&Summary::from_report(self))
    }

    /// Writes one HTML page, which needs no other file. Replaces the file at once.
    ///
    /// # Errors
    /// If the file cannot be written; then it is as it was.
    pub fn write_html(&self, file: impl AsRef<Path>) -> io::Result<()> {
        self.write_to(Format::Html, file.as_ref())
    }

    /// Writes JUnit XML, with a case per check of a program. Replaces the file at once.
    ///
    /// # Errors
    /// If the file cannot be written; then it is as it was.
    pub fn write_junit(&self, file: impl AsRef<Path>) -> io::Result<()> {
        self.write_to(Format::Junit, file.as_ref())
    }

    /// Writes a summary as Markdown, for the page of a CI job. Replaces the file at once.
    ///
    /// # Errors
    /// If the file cannot be written; then it is as it was.
    pub fn write_summary(&self, file: impl AsRef<Path>) -> io::Result<()> {
        self.write_to(Format::Markdown, file.as_ref())
    }

    /// Writes all records as JSON Lines, which [`Report::read`] and the program read. Replaces the file at
    /// once.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_json(&self, file: impl AsRef<Path>) -> io::Result<()> {
        self.write_to(Format::Json, file.as_ref())
    }

    fn write_to(&self, format: Format, file: &Path) -> io::Result<()> {
        let target = Target::new(file).map_err(failed(file))?;
        self.write(format, &target).map_err(failed(file))
    }

    /// Writes the reports, if the records were written.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        for (format, target) in &self.targets {
            self.write(*format, target).map_err(failed(&target.path))?;
        }
        Ok(())
    }

    /// Writes a report to its file, which it replaces at once.
    fn write(&self, format: Format, target: &Target) -> io::Result<()> {
        if format == Format::Json {
            let mut report = JsonReport::create(target.clone(), &self.header)?;
            for record in &self.records {
                report.add(record)?;
            }
            return report.close(self.missing.is_empty());
        }
        let summary = Summary::from_report(self);
        target.write(|out| match format {
            Format::Html => html::write(out, &summary),
            Format::Junit => junit::write(out, &summary),
            _ => out.write_all(text::markdown(&summary).as_bytes()),
        })
    }
}

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
pub(crate) mod tests;
