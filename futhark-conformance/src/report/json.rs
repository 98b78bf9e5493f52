//! The report for machines: JSON Lines.
//!
//! The first line is the header:
//!
//! | key | value |
//! |---|---|
//! | `schema` | [`SCHEMA`]; it grows when a key changes its meaning or goes |
//! | `generator` | the program's name and version |
//! | `seed` | the seed of generated inputs |
//! | `shard` | which part of a run this is, as `I/N`; only if it is one |
//! | `compilers` | `[{version, path}]` |
//! | `devices` | `[{backend, device, kind, usable, reason}]`; kinds are `real`, `simulated` and `emulated`; `choice` is what the backend calls it if it is not its first |
//!
//! Every other line is a record of one case of one check:
//!
//! | key | value |
//! |---|---|
//! | `program` | the path as given or found |
//! | `backend`, `device`, `compiler` | where it ran; `-` for a file that is no program |
//! | `check`, `case` | what was asked; the case may be empty |
//! | `outcome` | `pass`, `fail`, `skip`, `expected-fail` |
//! | `cause` | `mismatch`, `error`, `crash`, `timeout`, `leak`, `unexpected-pass`; null unless it failed |
//! | `message` | the details, or the reason for a skip |
//! | `seconds` | the time it took |
//!
//! The last line is `{"records": N}`: how many there are. Each line is written as soon as it is
//! known, so that an interrupted run leaves a report that can be read, and without its last
//! line nobody takes it for a whole one.

use crate::record::{Header, Record};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The version of the report's form.
pub const SCHEMA: u32 = 2;

/// The last line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// How many records stand before it.
    pub records: usize,
}

/// A report that is being written.
pub struct JsonReport {
    file: File,
    records: usize,
}

impl JsonReport {
    /// Creates the file, which replaces one that is there.
    ///
    /// # Errors
    /// If the file cannot be created or written.
    pub fn create(path: &Path, header: &Header) -> io::Result<JsonReport> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut report = JsonReport {
            file: File::create(path)?,
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

    /// Says that nothing more will come.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn end(&mut self) -> io::Result<()> {
        let records = self.records;
        self.line(&End { records })
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}
