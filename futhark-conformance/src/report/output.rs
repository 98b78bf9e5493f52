//! Passes records to the table for the terminal and to the report files.

pub use super::aside::part_of;

use super::aside::Target;
use super::html;
use super::json::JsonReport;
use super::junit::Junit;
use super::matrix::Matrix;
use super::{repeat_with, shown};
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
}

/// The reports of one run.
pub struct Output {
    /// The table for the terminal.
    pub matrix: Matrix,
    header: Header,
    json: Option<(JsonReport, PathBuf)>,
    junit: Option<(Junit, Target)>,
    html: Option<Target>,
    failed: Option<OutputError>,
}

/// A report file that cannot be written.
#[derive(Debug)]
pub struct OutputError {
    path: PathBuf,
    source: io::Error,
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(f, "failed to write the report {path}")
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl Files {
    /// The files to write, with their options.
    fn targets(&self) -> Result<Vec<(&'static str, Target)>, OutputError> {
        let files = [
            ("--json", &self.json),
            ("--junit", &self.junit),
            ("--html", &self.html),
        ];
        let files = files
            .into_iter()
            .filter_map(|(option, path)| Some((option, path.as_ref()?)));
        let target = |(option, path): (&'static str, &PathBuf)| {
            if is_source(path) {
                let message = "its name is that of a program";
                return Err(failed(path)(io::Error::other(message)));
            }
            let target = Target::new(path).map_err(failed(path))?;
            Ok((option, target))
        };
        files.map(target).collect()
    }

    /// Verifies that no two options name one file, by any path.
    fn must_differ(&self) -> Result<(), OutputError> {
        let targets = self.targets()?;
        for (number, (option, target)) in targets.iter().enumerate() {
            let same = |(_, other): &&(&str, Target)| {
                let is_part = self.json.is_some() && other.path() == part_of(targets[0].1.path());
                target.is_file() && (other.path() == target.path() || is_part)
            };
            if let Some((other, _)) = targets[number + 1..].iter().find(same) {
                let message = format!("{option} and {other} name the same file");
                return Err(failed(target.path())(io::Error::other(message)));
            }
        }
        Ok(())
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> OutputError + use<> {
    let path = path.to_owned();
    move |source| OutputError { path, source }
}

impl Output {
    /// Begins the JSON report. The other reports are written at the end, but an unusable path is
    /// reported now, before the run begins.
    ///
    /// # Errors
    /// If a file cannot be written, or two are the same.
    pub fn create(files: &Files, header: Header, matrix: Matrix) -> Result<Output, OutputError> {
        files.must_differ()?;
        let target = |path: &PathBuf| {
            let target = Target::new(path).and_then(|target| target.check().map(|()| target));
            target.map_err(failed(path))
        };
        let junit = files.junit.as_ref().map(target).transpose()?;
        let html = files.html.as_ref().map(target).transpose()?;
        let json = files.json.as_ref().map(|path| {
            let report = JsonReport::create(path, &header).map_err(failed(path))?;
            Ok((report, path.clone()))
        });
        Ok(Output {
            json: json.transpose()?,
            junit: junit.map(|target| (Junit::default(), target)),
            html,
            matrix,
            header,
            failed: None,
        })
    }

    /// Adds a record to all reports. Warns of the first write error, which [`Output::finish`]
    /// returns.
    pub fn add(&mut self, record: &Record) {
        self.matrix.add(record);
        if let Some((junit, ..)) = &mut self.junit {
            junit.add(record);
        }
        // After an error, the last line may be incomplete, and none may follow it.
        if let Some((json, path)) = self.json.as_mut().filter(|_| self.failed.is_none())
            && let Err(error) = json.add(record)
        {
            let error = failed(path)(error);
            errln!("warning: {}", shown(&format!("{error}: {}", error.source)));
            self.failed = Some(error);
        }
    }

    /// Adds the line that ends a job to the JSON report.
    pub fn finished(&mut self, job: &Finished) {
        // After an error, the records of the job can be incomplete.
        if let Some((json, path)) = self.json.as_mut().filter(|_| self.failed.is_none())
            && let Err(source) = json.finished(job)
        {
            let path = path.clone();
            self.failed = Some(OutputError { path, source });
        }
    }

    /// The table and the failures, as text for the terminal.
    #[must_use]
    pub fn render(&self) -> String {
        self.matrix
            .render(|record| repeat_with(&self.header, record))
    }

    /// Completes the JSON report, with its last line if the run is `whole`, and writes the JUnit and
    /// HTML reports.
    ///
    /// # Errors
    /// The first write error, of this or an earlier call.
    pub fn finish(mut self, whole: bool) -> Result<(), OutputError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if let Some((mut json, path)) = self.json.take() {
            let ended = if whole { json.end() } else { Ok(()) };
            let closed = ended.and_then(|()| json.close());
            closed.map_err(failed(&path))?;
        }
        let repeat = |record: &Record| repeat_with(&self.header, record);
        if let Some((junit, target)) = &self.junit {
            let written = target.write(|out| junit.write(out, &repeat));
            written.map_err(failed(target.path()))?;
        }
        if let Some(target) = &self.html {
            let written = target.write(|out| html::write(out, &self.header, &self.matrix));
            written.map_err(failed(target.path()))?;
        }
        Ok(())
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
