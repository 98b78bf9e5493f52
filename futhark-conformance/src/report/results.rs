//! What a run found: the records of a run or of reports, counted and grouped.

use super::Counts;
use super::aside::Target;
use super::groups::Group;
use super::json::{JsonReport, Line, Lines, ReadError};
use super::merge::{MergeError, Merged, file_of, merge};
use super::output::{Files, Format, Output, OutputError, failed};
use super::repeat_with;
use super::summary::Summary;
use crate::expect::Expectation;
use crate::record::{Header, NOWHERE, Record};
use crate::report::difference::Comparison;
use crate::scratch::Scratch;
use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a run found.
///
/// [`run`](crate::run()) returns it, and [`Report::read`] reads the JSON Lines of earlier runs. It has
/// counts, failures and reasons in memory, and reads passes from the file in which they are, so that the
/// memory depends on the number of jobs and failures, not of cases.
///
/// As text (`{report}`) it is the table and the failures that the program prints.
///
/// ```
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
/// for record in report.records()? {
///     let record = record?;
///     println!("{}: {:?}", record.place.program, record.finding.outcome);
/// }
/// for group in report.failures() {
///     println!("{} of {}: {}", group.members.len(), group.check, group.headline());
/// }
/// report.write_html("results.html")?;
/// # assert!(at("results.html").is_file());
/// # report.write_json("all.jsonl")?;
/// # assert_eq!(Report::read(["all.jsonl"])?.counts(), report.counts());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Report {
    pub(crate) output: Output,
    /// The differences between the compilers of a whole run, oldest first.
    pub comparisons: Vec<Comparison>,
    /// The expectations about the checked programs that nothing matched, if the run can tell.
    pub unmatched: Vec<Expectation>,
    /// What the budget left out, as text.
    pub left_out: Option<String>,
    /// The missing parts and ends of reports that were read; empty if the report is complete.
    pub missing: Vec<String>,
    /// Where the records are.
    files: Vec<PathBuf>,
    /// The folder of that file, if it is temporary.
    _scratch: Option<Arc<Scratch>>,
}

impl Report {
    /// The report of a run that has ended, whose records are in the file.
    pub(crate) fn new(
        output: Output,
        file: Option<PathBuf>,
        scratch: Option<Arc<Scratch>>,
    ) -> Report {
        Report {
            output,
            comparisons: Vec::new(),
            unmatched: Vec::new(),
            left_out: None,
            missing: Vec::new(),
            files: file.into_iter().collect(),
            _scratch: scratch,
        }
    }

    /// Reads the JSON Lines that a run wrote, or those of all parts of a run, which are merged. Instead of
    /// a file that does not exist, its `FILE.part` of an interrupted run is read.
    ///
    /// # Errors
    /// If a file cannot be read or is damaged; if the files are not of one run, or a file is given twice.
    /// A missing part or end is not an error: [`missing`](Report::missing) lists it.
    pub fn read<P: Into<PathBuf>>(
        files: impl IntoIterator<Item = P>,
    ) -> Result<Report, MergeError> {
        let files: Vec<PathBuf> = files.into_iter().map(Into::into).collect();
        let merged = merge(&files)?;
        let summary = Summary::of(&merged.records);
        Ok(Report::of(
            &files,
            Output::new(merged.header.clone(), summary),
            merged,
        ))
    }

    /// As [`Report::read`], and writes reports to files.
    pub(crate) fn read_to(files: &[PathBuf], reports: &Files) -> anyhow::Result<Report> {
        let merged = merge(files)?;
        let summary = Summary::of(&merged.records);
        let output = Output::create(reports, merged.header.clone(), summary)?;
        Ok(Report::of(files, output, merged))
    }

    fn of(files: &[PathBuf], mut output: Output, merged: Merged) -> Report {
        for record in &merged.records {
            output.add(record);
        }
        Report {
            missing: merged.missing,
            files: files.iter().map(|file| file_of(file)).collect(),
            ..Report::new(output, None, None)
        }
    }

    /// The compilers, devices and options of the run.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.output.header
    }

    /// Reads the records from their file, each part in the order in which they were found.
    ///
    /// # Errors
    /// If a file cannot be opened, for example because it was deleted after the run. An item is an error
    /// if its line cannot be read; it is the last one.
    pub fn records(&self) -> Result<Records, ReadError> {
        let lines: Result<Vec<Lines>, ReadError> =
            self.files.iter().map(|file| Lines::open(file)).collect();
        let mut lines = lines?;
        lines.reverse();
        Ok(Records {
            lines,
            skipped: HashSet::new(),
        })
    }

    /// The number of records of each outcome.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.summary().total()
    }

    /// The failures, grouped by cause: new ones first, if there is a baseline, then the most frequent.
    #[must_use]
    pub fn failures(&self) -> Vec<&Group> {
        self.summary().failures()
    }

    /// The results by program, backend, device, compiler and check; expected failures and skips by
    /// reason.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.output.summary
    }

    /// The command that repeats one finding.
    #[must_use]
    pub fn repeat(&self, record: &Record) -> String {
        repeat_with(self.header(), record)
    }

    /// Writes one HTML page, which needs no other file. Replaces the file at once.
    ///
    /// # Errors
    /// If the file cannot be written; then it is as it was.
    pub fn write_html(&self, file: impl AsRef<Path>) -> Result<(), OutputError> {
        self.write(Format::Html, file.as_ref())
    }

    /// Writes JUnit XML, with a case per check of a program. Replaces the file at once.
    ///
    /// # Errors
    /// If the file cannot be written; then it is as it was.
    pub fn write_junit(&self, file: impl AsRef<Path>) -> Result<(), OutputError> {
        self.write(Format::Junit, file.as_ref())
    }

    /// Writes a summary as Markdown, for the page of a CI job. Replaces the file at once.
    ///
    /// # Errors
    /// If the file cannot be written; then it is as it was.
    pub fn write_summary(&self, file: impl AsRef<Path>) -> Result<(), OutputError> {
        self.write(Format::Markdown, file.as_ref())
    }

    fn write(&self, format: Format, file: &Path) -> Result<(), OutputError> {
        let target = Target::new(file).map_err(failed(file))?;
        self.output.write(format, &target)
    }

    /// Writes all records as JSON Lines, which [`Report::read`] and the program read. Replaces the file at
    /// once.
    ///
    /// # Errors
    /// If the records cannot be read ([`Report::records`]), or the file cannot be written.
    pub fn write_json(&self, file: impl AsRef<Path>) -> Result<(), OutputError> {
        let file = file.as_ref();
        let records = self.records().map_err(OutputError::Read)?;
        let mut report = JsonReport::create(file, self.header()).map_err(failed(file))?;
        for record in records {
            report
                .add(&record.map_err(OutputError::Read)?)
                .map_err(failed(file))?;
        }
        if self.missing.is_empty() {
            report.end().map_err(failed(file))?;
        }
        report.close().map_err(failed(file))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.output.render())
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report")
            .field("header", self.header())
            .field("counts", &self.counts())
            .field("missing", &self.missing)
            .finish_non_exhaustive()
    }
}

/// The records of a [`Report`].
#[derive(Debug)]
pub struct Records {
    /// The files that are left, the next one last.
    lines: Vec<Lines>,
    /// The files that are not programs, which each part reports.
    skipped: HashSet<String>,
}

impl Iterator for Records {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.lines.last_mut()?.next_line() {
                Ok(Some(Line::Record(record))) => {
                    let place = &record.place;
                    if place.backend != NOWHERE || self.skipped.insert(place.program.clone()) {
                        return Some(Ok(*record));
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
