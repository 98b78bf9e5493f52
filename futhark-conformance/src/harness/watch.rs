//! What the emulated device tells beside the answers of its functions.

use super::steps::{StepResult, Stop};
use crate::emulated::FINDINGS;
use crate::record::Cause;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Lines that say the same are told once, and of many different ones the first few.
const MOST_LINES: usize = 5;

/// The file that the device writes to, read as far as it was looked at.
#[derive(Debug)]
pub struct Watch {
    file: File,
}

impl Watch {
    /// The device's file, from its end on, if this process uses an emulated device.
    #[must_use]
    pub fn from_env() -> Option<Watch> {
        let mut file = File::open(std::env::var_os(FINDINGS)?).ok()?;
        file.seek(SeekFrom::End(0)).ok()?;
        Some(Watch { file })
    }

    /// A step's result, in view of what the device has told since the last one.
    pub(super) fn judge(&mut self, result: StepResult) -> StepResult {
        let mut told = String::new();
        if let Err(error) = self.file.read_to_string(&mut told) {
            told = format!("what the device tells cannot be read: {error}");
        }
        let mut lines: Vec<&str> = told.lines().collect();
        lines.dedup();
        if lines.is_empty() {
            return result;
        }
        lines.truncate(MOST_LINES);
        let told = format!("the emulated device: {}", lines.join("\n"));
        // Whatever else went wrong, this comes first: it may be why.
        Err(Stop::Fail {
            cause: Cause::Misuse,
            message: match result {
                Err(Stop::Fail { message, .. }) => format!("{message}\n{told}"),
                Ok(()) | Err(Stop::Skip { .. }) => told,
            },
        })
    }
}
