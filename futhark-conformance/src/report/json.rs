//! The report for machines: JSON Lines.
//!
//! The format is published as a JSON Schema for one line, `schema/results.schema.json`, which
//! describes every key. A reader tells the kinds of lines apart by their keys:
//!
//! | line | how to recognise it |
//! |---|---|
//! | the first: the header | has `schema` |
//! | a record: one case of one check | has `outcome` |
//! | the end of a job, after its records; `run --resume` keeps the results of these jobs | `kind` is `finished` |
//! | the last: the end | has only `records`, the number of records |
//!
//! Each line is written at once, to `FILE.part`, which becomes `FILE` at the end. So an interrupted run
//! leaves `FILE.part`, which `report` reads, and `FILE` as it was. Such a report is incomplete, because
//! it has no last line; a line that was written in part is ignored.
//!
//! A reader may rely on this while `schema` has the same value:
//!
//! * No key is removed, renamed or changed in its meaning.
//! * The keys that the schema requires are there.
//! * New keys, new values of `cause`, new checks and new kinds of lines may be added. A reader
//!   ignores keys that it does not know, and lines without a key of the table.
//! * The order of the records is not part of the format, and neither are the texts of messages.

use super::aside::{Target, part_of};
use super::shown;
use crate::record::{Finished, Header, Record};
use crate::say::errln;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};

/// The version of the report's format.
pub const SCHEMA: u32 = 3;

/// The last line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The number of records before it.
    pub records: usize,
}

/// Writes a report.
pub struct JsonReport {
    target: Target,
    file: File,
    records: usize,
}

impl JsonReport {
    /// Begins the report in [`part_of`] `path`, and replaces the one of an interrupted run.
    ///
    /// # Errors
    /// If the file cannot be created or written, or another run is writing it.
    pub fn create(path: &Path, header: &Header) -> io::Result<JsonReport> {
        let target = Target::new(path)?;
        let (file, is_left) = target.part()?;
        if is_left {
            let part = part_of(path);
            let part = part.to_string_lossy();
            errln!("note: {} of an interrupted run is replaced", shown(&part));
        }
        let mut report = JsonReport {
            target,
            file,
            records: 0,
        };
        report.line(header)?;
        Ok(report)
    }

    /// Adds a record.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, record: &Record) -> io::Result<()> {
        self.records += 1;
        self.line(record)
    }

    /// Adds the line that ends a job.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finished(&mut self, job: &Finished) -> io::Result<()> {
        self.line(job)
    }

    /// Waits until the lines are on the disk.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Writes the last line.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn end(&mut self) -> io::Result<()> {
        let records = self.records;
        self.line(&End { records })
    }

    /// Gives the report its name, with or without a last line.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub fn close(self) -> io::Result<()> {
        self.target.complete()
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

/// A line after the header.
#[derive(Clone, Debug)]
pub enum Line {
    /// A result.
    Record(Box<Record>),
    /// The last line.
    End(End),
    /// A line of a kind that this version does not know.
    Other,
}

/// Reads a report line by line.
#[derive(Debug)]
pub struct Lines {
    header: Header,
    reader: BufReader<File>,
    path: PathBuf,
    number: usize,
    line: String,
}

/// A file that cannot be read or is not a report.
#[derive(Debug)]
pub struct ReadError {
    path: PathBuf,
    line: usize,
    message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed to read {}", self.path.display())?;
        if self.line > 0 {
            write!(f, ", line {}", self.line)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ReadError {}

impl Lines {
    /// Opens a report and reads its header.
    ///
    /// # Errors
    /// If the file cannot be read, or its first line is not a header of this version.
    pub fn open(path: &Path) -> Result<Lines, ReadError> {
        let fail = |line: usize, message: String| ReadError {
            path: path.to_owned(),
            line,
            message,
        };
        let file = File::open(path).map_err(|error| fail(0, error.to_string()))?;
        if file.metadata().is_ok_and(|data| !data.is_file()) {
            return Err(fail(0, "not a regular file".to_owned()));
        }
        let mut reader = BufReader::new(file);
        let mut line = String::new();
        let read = read_line(&mut reader, &mut line);
        if read.map_err(|error| fail(1, error.to_string()))? == 0 {
            return Err(fail(0, "the file is empty".to_owned()));
        }
        let header: Header = serde_json::from_str(&line)
            .map_err(|error| fail(1, format!("invalid header: {error}")))?;
        if header.schema != SCHEMA {
            let message = format!("expected schema {SCHEMA}, got {}", header.schema);
            return Err(fail(1, message));
        }
        Ok(Lines {
            header,
            reader,
            path: path.to_owned(),
            number: 1,
            line,
        })
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Reads the next line; returns `None` at the end of the file, also if its last line is incomplete.
    ///
    /// # Errors
    /// If the file cannot be read, or the line is neither a record nor the last line.
    pub fn next_line(&mut self) -> Result<Option<Line>, ReadError> {
        self.line.clear();
        self.number += 1;
        let fail = |message: String| ReadError {
            path: self.path.clone(),
            line: self.number,
            message,
        };
        let read = read_line(&mut self.reader, &mut self.line);
        if read.map_err(|error| fail(error.to_string()))? == 0 {
            return Ok(None);
        }
        let line = match serde_json::from_str(&self.line) {
            Ok(record) => Line::Record(Box::new(record)),
            Err(error) => match serde_json::from_str(&self.line) {
                Ok(end) => Line::End(end),
                // A run that is killed, or a full disk, leaves a part of a line.
                Err(_) if !self.line.ends_with('\n') => return Ok(None),
                Err(_) if is_unknown(&self.line) => Line::Other,
                Err(_) => return Err(fail(format!("invalid record: {error}"))),
            },
        };
        Ok(Some(line))
    }
}

/// The longest line in bytes. A run shortens the texts in its records.
pub(super) const LONGEST: usize = 1 << 20;

pub(super) fn too_long() -> String {
    format!("the line is longer than {LONGEST} bytes, which no run writes")
}

fn read_line(reader: &mut impl BufRead, line: &mut String) -> io::Result<usize> {
    let read = reader.take(LONGEST as u64 + 1).read_line(line)?;
    match read > LONGEST {
        true => Err(io::Error::other(too_long())),
        false => Ok(read),
    }
}

/// Whether a line is an object of a kind that this version does not know.
pub(super) fn is_unknown(line: &str) -> bool {
    let object: Option<Map<String, Value>> = serde_json::from_str(line).ok();
    object.is_some_and(|object| !object.contains_key("outcome") && !object.contains_key("records"))
}
