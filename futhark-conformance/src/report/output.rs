//! Passes records to the table for the terminal and to the report files.

use super::html;
use super::json::JsonReport;
use super::junit::Junit;
use super::matrix::Matrix;
use super::repeat_with;
use crate::record::{Header, Record};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
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
    junit: Option<(Junit, BufWriter<File>, PathBuf)>,
    html: Option<(BufWriter<File>, PathBuf)>,
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

impl Output {
    /// Creates the files, so that an unusable path is reported before the run begins.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn create(files: &Files, header: Header, matrix: Matrix) -> Result<Output, OutputError> {
        let failed = |path: &PathBuf| {
            let path = path.clone();
            move |source| OutputError { path, source }
        };
        let json = files.json.as_ref().map(|path| {
            let report = JsonReport::create(path, &header).map_err(failed(path))?;
            Ok((report, path.clone()))
        });
        let junit = files.junit.as_ref().map(|path| {
            let file = create(path).map_err(failed(path))?;
            Ok((Junit::default(), file, path.clone()))
        });
        let html = files.html.as_ref().map(|path| {
            let file = create(path).map_err(failed(path))?;
            Ok((file, path.clone()))
        });
        Ok(Output {
            json: json.transpose()?,
            junit: junit.transpose()?,
            html: html.transpose()?,
            matrix,
            header,
            failed: None,
        })
    }

    /// Adds a record to all reports. [`Output::finish`] reports write errors.
    pub fn add(&mut self, record: &Record) {
        self.matrix.add(record);
        if let Some((junit, ..)) = &mut self.junit {
            junit.add(record);
        }
        if let Some((json, path)) = &mut self.json
            && let Err(source) = json.add(record)
        {
            let path = path.clone();
            self.failed.get_or_insert(OutputError { path, source });
        }
    }

    /// The table and the failures, as text for the terminal.
    #[must_use]
    pub fn render(&self) -> String {
        self.matrix
            .render(|record| repeat_with(&self.header, record))
    }

    /// Writes the last line of the JSON report if the run is `whole`, and the JUnit and HTML
    /// reports.
    ///
    /// # Errors
    /// The first write error, of this or an earlier call.
    pub fn finish(mut self, whole: bool) -> Result<(), OutputError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if let Some((json, path)) = self.json.as_mut().filter(|_| whole) {
            let path = path.clone();
            json.end().map_err(|source| OutputError { path, source })?;
        }
        if let Some((junit, file, path)) = &mut self.junit {
            let repeat = |record: &Record| repeat_with(&self.header, record);
            let written = junit.write(file, &repeat).and_then(|()| file.flush());
            written.map_err(|source| OutputError {
                path: path.clone(),
                source,
            })?;
        }
        if let Some((file, path)) = &mut self.html {
            let written = html::write(file, &self.header, &self.matrix);
            let written = written.and_then(|()| file.flush());
            written.map_err(|source| OutputError {
                path: path.clone(),
                source,
            })?;
        }
        Ok(())
    }
}

fn create(path: &Path) -> io::Result<BufWriter<File>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    File::create(path).map(BufWriter::new)
}
