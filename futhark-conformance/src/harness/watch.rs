//! The misuse reports of the emulated device.

use super::steps::{StepResult, Stop};
use crate::emulated::FINDINGS;
use crate::record::Cause;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// The number of different reports to show; repeated lines count once.
const MOST_LINES: usize = 5;

/// The file that the device writes its reports to. Each report is read once.
#[derive(Debug)]
pub struct Watch {
    file: File,
}

impl Watch {
    /// Opens the file at its end, if this process uses an emulated device.
    #[must_use]
    pub fn from_env() -> Option<Watch> {
        let mut file = File::open(std::env::var_os(FINDINGS)?).ok()?;
        file.seek(SeekFrom::End(0)).ok()?;
        Some(Watch { file })
    }

    /// The result of a step, which fails if the device has reported misuse since the last step.
    pub(super) fn judge(&mut self, result: StepResult) -> StepResult {
        let mut reports = String::new();
        if let Err(error) = self.file.read_to_string(&mut reports) {
            reports = format!("failed to read the reports of the device: {error}");
        }
        let mut lines: Vec<&str> = reports.lines().collect();
        lines.dedup();
        if lines.is_empty() {
            return result;
        }
        lines.truncate(MOST_LINES);
        let reports = format!("the emulated device: {}", lines.join("\n"));
        // Misuse is the cause in the report, because it may explain any other failure.
        Err(Stop::Fail {
            cause: Cause::Misuse,
            message: match result {
                Err(Stop::Fail { message, .. }) => format!("{message}\n{reports}"),
                Ok(()) | Err(Stop::Skip { .. }) => reports,
            },
        })
    }
}
