//! The report for machines: JSON Lines.
//!
//! `docs/reports.md` describes the lines, and what a reader may rely on while `schema` has the same value; the JSON
//! Schema of a line, `schema/results.schema.json`, describes every key.
//!
//! Each line is written at once, so an interrupted run leaves its results, which `report` reads. They are incomplete,
//! because they have no last line; a line that was written in part is ignored. `run --resume` continues such a run,
//! and keeps the results of the jobs that have the line of their end.

use super::files::Target;
use crate::record::{Finished, Header, Record};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use tempfile::TempPath;

/// The version of the report's format.
pub const SCHEMA: u32 = 5;

/// The versions that can be read. Those of version 3 have further keys, those before 5 escapes in names.
const READABLE: std::ops::RangeInclusive<u32> = 3..=SCHEMA;

/// A line after the header.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Line {
    Record(Record),
    /// The end of a job.
    Finished(Finished),
    /// A line of a kind that this version does not know.
    Other {
        kind: String,
    },
    /// The last line, with the number of records before it.
    End {
        records: usize,
    },
}

pub(crate) struct JsonReport {
    target: Target,
    file: File,
    /// The file before it has its name.
    unnamed: Option<TempPath>,
    records: usize,
}

impl JsonReport {
    /// Begins the report in a file without its name: the old one stays until
    /// [`publish`](JsonReport::publish) or [`close`](JsonReport::close).
    pub(crate) fn create(target: Target, header: &Header) -> io::Result<JsonReport> {
        let (file, unnamed) = target.begin()?;
        let mut report = JsonReport {
            target,
            file,
            unnamed,
            records: 0,
        };
        report.line(header)?;
        Ok(report)
    }

    /// Gives the report its name, when the lines so far are on the disk. Later lines are appended.
    pub(crate) fn publish(&mut self) -> io::Result<()> {
        let Some(unnamed) = self.unnamed.take() else {
            return Ok(());
        };
        self.file.sync_all()?;
        unnamed.persist(&self.target.path)?;
        Ok(())
    }

    pub(crate) fn add(&mut self, record: &Record) -> io::Result<()> {
        self.records += 1;
        self.line(record)
    }

    /// Ends the report, with a last line if it is `whole`. Fails if the file has lost its name, as by another run that began
    /// at the same time.
    pub(crate) fn close(mut self, whole: bool) -> io::Result<()> {
        let records = self.records;
        if whole {
            self.line(&Line::End { records })?;
        }
        self.publish()?;
        let [ours, named] = [self.file.metadata()?, fs::metadata(&self.target.path)?];
        match self.target.is_special || (ours.dev(), ours.ino()) == (named.dev(), named.ino()) {
            true => Ok(()),
            false => Err(io::Error::other("another run has replaced it")),
        }
    }

    /// Writes a line of any kind.
    pub(crate) fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

/// The content of a report.
pub(crate) struct Lines {
    pub(crate) header: Header,
    /// The records and the ends of jobs.
    pub(crate) lines: Vec<Line>,
    /// Whether it has its last line, without which it is incomplete.
    pub(crate) is_whole: bool,
}

impl Lines {
    /// Reads a report. Ignores a line of which only a part was written.
    pub(crate) fn read(path: &Path) -> io::Result<Lines> {
        let fail = |line: usize, message: String| read_error(path, line, message);
        let file = File::open(path).map_err(|error| fail(0, error.to_string()))?;
        if file.metadata().is_ok_and(|data| !data.is_file()) {
            return Err(fail(0, "not a regular file".to_owned()));
        }
        let mut reader = BufReader::new(file);
        let mut text = String::new();
        let mut read = |text: &mut String, number: usize| {
            text.clear();
            let read = (&mut reader).take(LONGEST as u64 + 1).read_line(text);
            match read.map_err(|error| fail(number, error.to_string()))? {
                ..=LONGEST => Ok(!text.is_empty()),
                _ => Err(fail(
                    number,
                    format!("the line is longer than {LONGEST} bytes, which no run writes"),
                )),
            }
        };
        if !read(&mut text, 1)? {
            return Err(fail(0, "the file is empty".to_owned()));
        }
        let header: Header = serde_json::from_str(&text)
            .map_err(|error| fail(1, format!("invalid header: {error}")))?;
        if !READABLE.contains(&header.schema) {
            let message = format!("expected schema {SCHEMA}, got {}", header.schema);
            return Err(fail(1, message));
        }
        let (mut lines, mut count, mut is_whole) = (Vec::new(), 0, false);
        let mut number = 2;
        while read(&mut text, number)? {
            match serde_json::from_str(&text) {
                Ok(Line::End { records }) if records != count => {
                    return Err(fail(
                        number,
                        format!("expected {records} records, got {count}"),
                    ));
                }
                Ok(Line::End { .. }) => is_whole = true,
                Ok(line) => {
                    count += usize::from(matches!(line, Line::Record(_)));
                    lines.push(line);
                }
                // A run that is killed, or a full disk, leaves a part of a line.
                Err(_) if !text.ends_with('\n') => {}
                Err(_) => {
                    let error = serde_json::from_str::<Record>(&text).err();
                    let error = error.map(|error| error.to_string()).unwrap_or_default();
                    return Err(fail(number, format!("invalid record: {error}")));
                }
            }
            number += 1;
        }
        Ok(Lines {
            header,
            lines,
            is_whole,
        })
    }
}

/// The longest line in bytes. A run shortens the texts in its records.
const LONGEST: usize = 1 << 20;

/// What is wrong with a line of a file; with the whole file if that is 0.
pub(super) fn read_error(path: &Path, line: usize, message: impl fmt::Display) -> io::Error {
    let path = path.display();
    io::Error::other(match line {
        0 => format!("failed to read {path}: {message}"),
        line => format!("failed to read {path}, line {line}: {message}"),
    })
}
