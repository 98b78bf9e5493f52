//! The report for machines: JSON Lines.
//!
//! The first line is the header:
//!
//! | key | value |
//! |---|---|
//! | `schema` | [`SCHEMA`]; increased when a key changes its meaning or is removed |
//! | `generator` | the program's name and version |
//! | `run` | random digits that identify the run; absent in older reports |
//! | `seed` | the seed of generated inputs |
//! | `shard` | the part of the run, as `I/N`; absent for a whole run |
//! | `compilers` | `[{version, path, hash, label}]`: `hash` is the SHA-256 of the executable; `label` is the version, or the version with digits of the hash if the run has several compilers of that version |
//! | `selection` | the options that select programs, jobs and checks, and those that limit them |
//! | `devices` | `[{backend, device, kind, usable, reason}]`; kinds are `real`, `simulated` and `emulated`; `choice` is the backend's name of a device that is not its first |
//!
//! Every other line but the last is a record of one case of one check:
//!
//! | key | value |
//! |---|---|
//! | `program` | the path as given or found, with escapes such as `\n` and `\xff` for what a report cannot show ([`corpus::name`](crate::corpus::name)) |
//! | `backend`, `device`, `compiler` | where it ran, with the label of the compiler; `-` for a file that is not a program |
//! | `check`, `case` | the check and its case, which may be empty |
//! | `outcome` | `pass`, `fail`, `skip`, `expected-fail` |
//! | `cause` | `mismatch`, `error`, `crash`, `timeout`, `leak`, `misuse`, `unexpected-pass`; null unless it failed |
//! | `message` | the details, or the reason for a skip |
//! | `seconds` | the time that the case took |
//!
//! When a job has ended, a line with `"kind": "finished"` follows its records, with the keys `program`,
//! `backend`, `device` and `compiler` of a record, `source`, a hash of the source, and `seconds`, the
//! time of the job. `run --resume` keeps the results of these jobs.
//!
//! The last line is `{"records": N}`, the number of records. Each line is written at once, to
//! `FILE.part`, which becomes `FILE` at the end. So an interrupted run leaves `FILE.part`, which
//! `report` reads, and `FILE` as it was. Such a report is incomplete, because it has no last line; a
//! line that was written in part is ignored.

use super::aside::{Target, part_of};
use super::shown;
use crate::record::{Finished, Header, Record};
use crate::say::errln;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The version of the report's format.
pub const SCHEMA: u32 = 2;

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
