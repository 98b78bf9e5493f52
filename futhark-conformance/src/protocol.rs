//! What a run, the parent, and its child processes tell each other.
//!
//! The parent passes one [`JobSpec`] as a line of JSON; the child answers with a stream of [`Event`]s on its
//! standard output, to which the compiled program and the driver may write as well.
//!
//! Each event is a line that begins with the control character "record separator", as in JSON text
//! sequences. A line end before it terminates an unfinished line of other output.

use crate::devices::Device;
use crate::pattern::CheckPattern;
use crate::record::{CaseResult, CompilerInfo, name};
use crate::toolchain::Seen;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

/// The work of one child process: one program, on one device, with one compiler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// The program to check. Without a program the child only tries the device.
    pub program: Option<PathBuf>,
    pub device: Device,
    pub compiler: CompilerInfo,
    pub checks: Vec<CheckPattern>,
    /// What earlier processes of this job have done.
    pub earlier: Earlier,
    pub run: RunSpec,
}

/// What earlier processes of a job have done. Cases are known by their names
/// ([`name`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Earlier {
    /// The cases that have ended. They are not reported again.
    pub ended: HashSet<String>,
    /// Those of them that ended a process. They are not run again, even if later cases need them.
    pub fatal: HashSet<String>,
    /// The number of those that exceeded their budgets, which is not a failure.
    pub overruns: usize,
    /// Whether the last process ended because a case exceeded its budget.
    pub last_was_slow: bool,
}

/// The settings of all jobs of a run that child processes need.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    pub build_dir: PathBuf,
    pub seed: u64,
    /// The number of inputs to generate per entry point, if the user chose one.
    pub cases: Option<u32>,
    /// The folder for inputs that showed a failure.
    pub regressions: PathBuf,
    /// The only input to try, if the user chose one.
    pub input: Option<PathBuf>,
    /// The folders with files for test blocks, besides that of each program; any folder if there is none.
    pub data_folders: Option<Vec<PathBuf>>,
    /// The compilers that the run checks, then those that it only compares with. Named compilers keep the order of
    /// the command line; those that the run found itself are sorted, oldest first.
    pub compilers: Vec<CompilerInfo>,
    /// The compilers as the parent has found them.
    pub seen: Vec<Seen>,
    pub architectures: Vec<String>,
    /// The shell command of the driver of a bridge, which the check `bridge` runs.
    pub bridge: Option<String>,
    /// The memory limit of the child in MiB; 0 for no limit.
    pub memory: u64,
    /// Whether the C compiler optimises, as for users.
    pub optimise: bool,
}

/// A message from a child process, one JSON text per line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A case begins, or something that later cases need.
    Begin(CaseStart),
    /// The current case has ended with a result: outcome, cause, message, seconds. The parent judges it by the expected
    /// failures and writes it to the reports.
    End(CaseResult),
    /// The current case has ended, and there is nothing to report: an earlier process has reported it, or it was run
    /// only for later cases and has not failed.
    EndQuietly,
    /// The process waits for another run that builds the same library. It sends this event again and
    /// again while it waits.
    Waiting,
    /// Something that is neither a result nor a failure.
    Remark {
        /// One sentence.
        text: String,
    },
    /// The probed device, whether or not it works.
    Device {
        /// The device's name; empty if it is not known.
        name: String,
        known_bad: bool,
    },
    /// All cases have ended.
    Done,
}

/// A case that begins, or something that later cases need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseStart {
    pub check: String,
    pub case: String,
    /// The case's own time limit. A case that takes longer has not failed, but is skipped.
    pub budget: Option<Duration>,
    /// Whether later cases need it. Then each process of the job runs it, and it is not reported if it exceeds its
    /// budget.
    pub is_needed: bool,
    /// Why a failure does not count: it is reported as a skip with this reason.
    pub excuse: Option<String>,
}

impl CaseStart {
    /// A case without a budget, which no later case needs.
    #[must_use]
    pub fn new(check: &str, case: &str) -> CaseStart {
        CaseStart {
            check: check.to_owned(),
            case: case.to_owned(),
            budget: None,
            is_needed: false,
            excuse: None,
        }
    }

    /// The name of the case in its job.
    #[must_use]
    pub fn name(&self) -> String {
        name(&self.check, &self.case)
    }
}

const SEPARATOR: u8 = 0x1e;

impl Event {
    /// Writes the event in a single call.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = vec![b'\n', SEPARATOR];
        serde_json::to_writer(&mut line, self)?;
        line.push(b'\n');
        out.write_all(&line)?;
        out.flush()
    }

    /// The event in a line, if there is one.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<Event> {
        let start = line.iter().rposition(|&byte| byte == SEPARATOR)?;
        serde_json::from_slice(&line[start + 1..]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_events_are_ignored() {
        assert_eq!(Event::read(b"{\"event\":\"done\"}"), None);
        assert_eq!(Event::read(b"\x1enonsense"), None);
        assert_eq!(Event::read(b""), None);
    }
}
