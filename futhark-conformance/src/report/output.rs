//! The files of reports.

pub use super::aside::part_of;

use super::aside::Target;
use super::json::ReadError;
use crate::cli::ReportFiles;
use crate::corpus::is_source;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Junit,
    Html,
    Markdown,
}

/// A report file that cannot be written, or results that cannot be read.
#[derive(Debug)]
pub enum OutputError {
    /// The report cannot be written.
    Write {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The results cannot be read.
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

impl ReportFiles {
    /// Where to write. None is the file of a program, or that of two options, by any path, and each can be
    /// written.
    pub(crate) fn targets(&self) -> Result<Vec<(Format, Target)>, OutputError> {
        let files = [
            ("--json", Format::Json, &self.json),
            ("--junit", Format::Junit, &self.junit),
            ("--html", Format::Html, &self.html),
            ("--summary", Format::Markdown, &self.summary),
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
                if format == Format::Json {
                    used.push((option, part_of(target.path())));
                }
            }
            target.check().map_err(failed(path))?;
            targets.push((format, target));
        }
        Ok(targets)
    }
}

pub(crate) fn failed(path: &Path) -> impl FnOnce(io::Error) -> OutputError + use<> {
    let path = path.to_owned();
    move |source| OutputError::Write { path, source }
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
