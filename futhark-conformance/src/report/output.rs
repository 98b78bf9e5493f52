//! Passes records to the report for the terminal and to the report files.

pub use super::aside::part_of;

use super::annotations::{self, Annotations};
use super::aside::Target;
use super::baseline::{Baseline, Changes};
use super::json::{JsonReport, ReadError};
use super::summary::Summary;
use super::{html, junit, markdown, shown, text};
use crate::corpus::is_source;
use crate::record::{Finished, Header, Record};
use crate::say::errln;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The files to write reports to.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// JSON Lines.
    pub json: Option<PathBuf>,
    /// JUnit XML.
    pub junit: Option<PathBuf>,
    /// One HTML page.
    pub html: Option<PathBuf>,
    /// Markdown for the page of a CI job.
    pub summary: Option<PathBuf>,
    /// The JSON Lines of an earlier run, to compare with.
    pub baseline: Option<PathBuf>,
    /// Print annotations for this CI system.
    pub annotations: Option<Annotations>,
}

/// A format that is written at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Junit,
    Html,
    Markdown,
}

/// The reports of one run.
pub struct Output {
    /// The results.
    pub summary: Summary,
    /// The first line of the JSON report.
    pub header: Header,
    json: Option<(JsonReport, PathBuf)>,
    others: Vec<(Format, Target)>,
    baseline: Option<Baseline>,
    annotations: Option<Annotations>,
    failed: Option<OutputError>,
}

/// A report file that cannot be written, or a baseline that cannot be read.
#[derive(Debug)]
pub enum OutputError {
    /// The report cannot be written.
    Write {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The baseline cannot be read.
    Read(ReadError),
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputError::Write { path, .. } => {
                write!(f, "failed to write the report {}", path.display())
            }
            OutputError::Read(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OutputError::Write { source, .. } => Some(source),
            OutputError::Read(_) => None,
        }
    }
}

impl Files {
    /// The files of formats that are written at the end. None is that of a program, or that of two
    /// options, by any path.
    fn targets(&self) -> Result<Vec<(Format, Target)>, OutputError> {
        let files = [
            ("--json", None, &self.json),
            ("--junit", Some(Format::Junit), &self.junit),
            ("--html", Some(Format::Html), &self.html),
            ("--summary", Some(Format::Markdown), &self.summary),
        ];
        let mut used: Vec<(&str, PathBuf)> = Vec::new();
        let mut targets = Vec::new();
        for (option, format, path) in files {
            let Some(path) = path else { continue };
            if is_source(path) {
                let message = "its name is that of a program";
                return Err(failed(path)(io::Error::other(message)));
            }
            let target = Target::new(path).map_err(failed(path))?;
            if let Some((other, _)) = used.iter().find(|(_, used)| used == target.path()) {
                let message = format!("{other} and {option} name the same file");
                return Err(failed(path)(io::Error::other(message)));
            }
            if target.is_file() {
                used.push((option, target.path().to_owned()));
                if format.is_none() {
                    used.push((option, part_of(target.path())));
                }
            }
            targets.extend(format.map(|format| (format, target)));
        }
        Ok(targets)
    }
}

pub(super) fn failed(path: &Path) -> impl FnOnce(io::Error) -> OutputError + use<> {
    let path = path.to_owned();
    move |source| OutputError::Write { path, source }
}

impl Output {
    /// Counts records, and writes no file.
    pub(super) fn new(header: Header, summary: Summary) -> Output {
        Output {
            summary,
            header,
            json: None,
            others: Vec::new(),
            baseline: None,
            annotations: None,
            failed: None,
        }
    }

    /// Begins the JSON report. The other reports are written at the end, but an unusable path is
    /// reported now, before the run begins. Reads the baseline.
    ///
    /// # Errors
    /// If a file cannot be written, two are the same, or the baseline cannot be read.
    pub fn create(files: &Files, header: Header, summary: Summary) -> Result<Output, OutputError> {
        let others = files.targets()?;
        for (_, target) in &others {
            target.check().map_err(failed(target.path()))?;
        }
        let baseline = files.baseline.as_ref();
        let baseline = baseline.map(|path| Baseline::read(path, &header));
        let baseline = baseline.transpose().map_err(OutputError::Read)?;
        let json = files.json.as_ref().map(|path| {
            let report = JsonReport::create(path, &header).map_err(failed(path))?;
            Ok((report, path.clone()))
        });
        Ok(Output {
            baseline,
            json: json.transpose()?,
            others,
            annotations: files.annotations,
            ..Output::new(header, summary)
        })
    }

    /// Adds a record to all reports. Warns of the first write error, which [`Output::finish`]
    /// returns.
    pub fn add(&mut self, record: &Record) {
        let baseline = self.baseline.as_mut();
        let is_new = baseline.is_some_and(|baseline| baseline.add(record));
        self.summary.add(record, is_new);
        // After an error, the last line may be incomplete, and none may follow it.
        if let Some((json, path)) = self.json.as_mut().filter(|_| self.failed.is_none())
            && let Err(error) = json.add(record)
        {
            let why = error.to_string();
            let error = failed(path)(error);
            errln!("warning: {}", shown(&format!("{error}: {why}")));
            self.failed = Some(error);
        }
    }

    /// Adds the line that ends a job to the JSON report.
    pub fn finished(&mut self, job: &Finished) {
        // After an error, the records of the job can be incomplete.
        if let Some((json, path)) = self.json.as_mut().filter(|_| self.failed.is_none())
            && let Err(error) = json.finished(job)
        {
            self.failed = Some(failed(path)(error));
        }
    }

    /// Verifies that every line so far is in the JSON report, also after a power failure.
    ///
    /// # Errors
    /// The first write error, which [`Output::finish`] does not return again.
    pub fn must_be_written(&mut self) -> Result<(), OutputError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        match &self.json {
            Some((json, path)) => json.sync().map_err(failed(path)),
            None => Ok(()),
        }
    }

    /// What changed since the baseline.
    pub(super) fn changes(&self) -> Option<Changes> {
        self.baseline.as_ref().map(Baseline::changes)
    }

    /// The report for the terminal, followed by annotations.
    #[must_use]
    pub fn render(&self) -> String {
        let (header, summary) = (&self.header, &self.summary);
        let changes = self.changes();
        let mut text = text::render(header, summary, changes.as_ref(), text::width());
        if let Some(Annotations::Github) = self.annotations {
            text += &annotations::github(header, summary, changes.is_some());
        }
        text
    }

    /// Completes the JSON report, with its last line if the run is `whole`, and writes the other
    /// reports.
    ///
    /// # Errors
    /// The first write error, of this or an earlier call.
    pub fn finish(&mut self, whole: bool) -> Result<(), OutputError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if let Some((mut json, path)) = self.json.take() {
            let ended = if whole { json.end() } else { Ok(()) };
            let closed = ended.and_then(|()| json.close());
            closed.map_err(failed(&path))?;
        }
        let mut others = self.others.iter();
        others.try_for_each(|(format, target)| self.write(*format, target))
    }

    /// Writes a report to a file, which it replaces at once.
    ///
    /// # Errors
    /// If the file cannot be written; then it is as it was.
    pub(super) fn write(&self, format: Format, target: &Target) -> Result<(), OutputError> {
        let (header, summary) = (&self.header, &self.summary);
        let changes = self.changes();
        let changes = changes.as_ref();
        let written = target.write(|out| match format {
            Format::Junit => junit::write(out, header, summary),
            Format::Html => html::write(out, header, summary, changes),
            Format::Markdown => {
                let text = markdown::markdown(header, summary, changes);
                out.write_all(text.as_bytes())
            }
        });
        written.map_err(failed(target.path()))
    }
}

/// Writes a page that replaces the file at once.
///
/// # Errors
/// If the file cannot be written; then it is as it was.
pub fn write_at_once(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    let target = Target::new(path);
    let written = target.and_then(|target| target.write(content));
    written.map_err(failed(path))
}
