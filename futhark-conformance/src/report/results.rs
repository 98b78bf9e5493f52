//! What a run found: the records of a run or of reports, counted and grouped.

use super::aside::Target;
use super::difference::{self, Comparison};
use super::groups::Group;
use super::json::{JsonReport, ReadError};
use super::merge::{Merged, Records, name};
use super::output::{Format, OutputError, failed};
use super::summary::Summary;
use super::{Counts, html, junit, markdown, repeat_with, text};
use crate::expect::Expectation;
use crate::record::{Header, Record};
use crate::report::annotations::{self, Annotations};
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
    pub(crate) header: Header,
    summary: Summary,
    /// What changed since the baseline.
    changes: Option<Comparison>,
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
    /// The annotations to print for a CI system.
    pub(crate) annotations: Option<Annotations>,
    /// The reports to write, which `finish` does.
    pub(crate) targets: Vec<(Format, Target)>,
    /// Why the records were not written, which `finish` returns.
    pub(crate) failed: Option<OutputError>,
    /// The folder of the file of records, if it is temporary.
    pub(crate) _scratch: Option<Arc<Scratch>>,
}

impl Report {
    /// Reads the JSON Lines that a run wrote, or those of all parts of a run, which are merged. Instead of
    /// a file that does not exist, its `FILE.part` of an interrupted run is read.
    ///
    /// # Errors
    /// If a file cannot be read or is damaged; if the files are not of one run, or a file is given twice.
    /// A missing part or end is not an error: [`missing`](Report::missing) lists it.
    pub fn read<P: Into<PathBuf>>(files: impl IntoIterator<Item = P>) -> Result<Report, ReadError> {
        let files: Vec<PathBuf> = files.into_iter().map(Into::into).collect();
        Report::of(Merged::read(&files)?, None)
    }

    /// The report of these results, with what changed since the baseline.
    pub(crate) fn of(results: Merged, baseline: Option<&Merged>) -> Result<Report, ReadError> {
        let changes = baseline.map(|old| difference::since(old, &results));
        let new = changes.iter().flat_map(Comparison::new_failures);
        let new: HashSet<_> = new.collect();
        let mut summary = Summary::new(results.columns());
        for record in Records::open(&results.files)? {
            let record = record?;
            let is_new = !new.is_empty() && new.contains(&(&record.place, &*name(&record.finding)));
            summary.add(&record, is_new);
        }
        Ok(Report {
            header: results.header,
            summary,
            changes,
            comparisons: Vec::new(),
            unmatched: Vec::new(),
            left_out: None,
            missing: results.missing,
            files: results.files,
            annotations: None,
            targets: Vec::new(),
            failed: None,
            _scratch: None,
        })
    }

    /// The compilers, devices and options of the run.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Reads the records from their file, each part in the order in which they were found.
    ///
    /// # Errors
    /// If a file cannot be opened, for example because it was deleted after the run. An item is an error
    /// if its line cannot be read; it is the last one.
    pub fn records(&self) -> Result<Records, ReadError> {
        Records::open(&self.files)
    }

    /// The number of records of each outcome.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.summary.total()
    }

    /// The failures, grouped by cause: new ones first, if there is a baseline, then the most frequent.
    #[must_use]
    pub fn failures(&self) -> Vec<&Group> {
        self.summary.failures()
    }

    /// The results by program, backend, device, compiler and check; expected failures and skips by
    /// reason.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The command that repeats one finding.
    #[must_use]
    pub fn repeat(&self, record: &Record) -> String {
        repeat_with(&self.header, record)
    }

    /// Writes one HTML page, which needs no other file. Replaces the file at once.
    ///
    /// # Errors
    /// If the file cannot be written; then it is as it was.
    pub fn write_html(&self, file: impl AsRef<Path>) -> Result<(), OutputError> {
        self.write_to(Format::Html, file.as_ref())
    }

    /// Writes JUnit XML, with a case per check of a program. Replaces the file at once.
    ///
    /// # Errors
    /// If the file cannot be written; then it is as it was.
    pub fn write_junit(&self, file: impl AsRef<Path>) -> Result<(), OutputError> {
        self.write_to(Format::Junit, file.as_ref())
    }

    /// Writes a summary as Markdown, for the page of a CI job. Replaces the file at once.
    ///
    /// # Errors
    /// If the file cannot be written; then it is as it was.
    pub fn write_summary(&self, file: impl AsRef<Path>) -> Result<(), OutputError> {
        self.write_to(Format::Markdown, file.as_ref())
    }

    /// Writes all records as JSON Lines, which [`Report::read`] and the program read. Replaces the file at
    /// once.
    ///
    /// # Errors
    /// If the records cannot be read ([`Report::records`]), or the file cannot be written.
    pub fn write_json(&self, file: impl AsRef<Path>) -> Result<(), OutputError> {
        self.write_to(Format::Json, file.as_ref())
    }

    fn write_to(&self, format: Format, file: &Path) -> Result<(), OutputError> {
        let target = Target::new(file).map_err(failed(file))?;
        self.write(&[(format, target)])
    }

    /// Writes the reports, if the records were written.
    pub(crate) fn finish(&mut self) -> Result<(), OutputError> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.write(&self.targets),
        }
    }

    /// Writes each report to its file, which it replaces at once.
    fn write(&self, targets: &[(Format, Target)]) -> Result<(), OutputError> {
        let (header, summary) = (&self.header, &self.summary);
        let changes = self.changes.as_ref();
        for (format, target) in targets {
            let written = match format {
                Format::Json => {
                    // Opened first: a file of them can be the one that is written.
                    let records = self.records().map_err(OutputError::Read)?;
                    let mut report = JsonReport::create(target.clone(), header)
                        .and_then(|mut report| report.publish().map(|()| report))
                        .map_err(failed(target.path()))?;
                    for record in records {
                        let record = record.map_err(OutputError::Read)?;
                        report.add(&record).map_err(failed(target.path()))?;
                    }
                    report.close(self.missing.is_empty())
                }
                Format::Junit => target.write(|out| junit::write(out, header, summary)),
                Format::Html => target.write(|out| html::write(out, header, summary, changes)),
                Format::Markdown => {
                    let text = markdown::markdown(header, summary, changes);
                    target.write(|out| out.write_all(text.as_bytes()))
                }
            };
            written.map_err(failed(target.path()))?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (header, summary) = (&self.header, &self.summary);
        f.write_str(&text::render(
            header,
            summary,
            self.changes.as_ref(),
            text::width(),
        ))?;
        match self.annotations {
            Some(Annotations::Github) => {
                let has_baseline = self.changes.is_some();
                f.write_str(&annotations::github(header, summary, has_baseline))
            }
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report")
            .field("header", &self.header)
            .field("counts", &self.counts())
            .field("missing", &self.missing)
            .finish_non_exhaustive()
    }
}
