//! The parent's side: runs jobs on threads, each in child processes.
//!
//! Worker threads take jobs from a [`Queue`], and [`check`] each. `supervise` decides what a job does
//! next, and `process` waits for one child.

mod process;
mod queue;
mod supervise;

pub use process::{GUARD, Guard, end_with_parent, wait_for_end};
pub use queue::{Queue, Shard, of_shard};

use crate::devices::{self, Device};
use crate::expect::Expectations;
use crate::files::TemporaryFolder;
use crate::pattern::CheckPattern;
use crate::protocol::RunSpec;
use crate::record::{CaseResult, CompilerInfo, JobId};
use futhark_manifest::Version;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// One program, on one device, with one compiler.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program's source.
    pub program: PathBuf,
    /// The device, which also selects the backend. On an unusable device the program is only
    /// compiled.
    pub device: Device,
    /// The compiler.
    pub compiler: CompilerInfo,
    /// The job's name in reports.
    pub id: JobId,
    /// The checks to run; all checks if empty.
    pub checks: Vec<CheckPattern>,
    /// The estimated time in seconds.
    pub seconds: f64,
}

impl Job {
    /// What the build of a program depends on. All jobs that share it use the same build for comparison, and those on
    /// two devices of a backend the same library, so one of them would wait for the other.
    #[must_use]
    pub fn build(&self) -> (&str, &str) {
        (&self.id.program, &self.id.compiler)
    }
}

/// The settings of all jobs of a run. The parent needs all of them, its child processes only [`run`](Settings::run).
#[derive(Clone, Debug)]
pub struct Settings {
    /// This program, for starting child processes.
    pub executable: PathBuf,
    /// The time limit of a case.
    pub timeout: Duration,
    /// The folder for temporary files of child processes.
    pub scratch: Arc<TemporaryFolder>,
    /// The settings that are passed to child processes.
    pub run: RunSpec,
}

/// A message about a job.
#[derive(Clone, Debug)]
pub enum Update {
    /// A case begins.
    Case {
        /// The check.
        check: String,
        /// The case.
        case: String,
    },
    /// A case has ended with a result, which the expectations have judged.
    Found(CaseResult),
    /// Something that is neither a result nor a failure.
    Remark(String),
}

/// Checks a job in child processes, and judges its results by the list of expected failures. Blocks until the job
/// has ended.
pub fn check(
    job: &Job,
    settings: &Settings,
    expectations: &Expectations,
    send: &mut dyn FnMut(Update),
) {
    let mut found = Vec::new();
    supervise::job(job, settings, &mut |mut update| {
        if let Update::Found(result) = &mut update {
            expectations.judge(&job.id, result);
            found.push(result.clone());
        }
        send(update);
    });
    // If only some cases of a check ran, a missing failure proves nothing.
    if job.checks.iter().all(CheckPattern::is_whole) {
        let passed = expectations.passed_checks(&job.id, &found);
        passed.into_iter().map(Update::Found).for_each(send);
    }
}

/// Runs a small program on a device with the newest compiler. Where it fails, the older ones tell whether the
/// machine lacks the device or the compiler does not work with it.
#[must_use]
pub fn probe(candidate: &Device, compilers: &[CompilerInfo], settings: &Settings) -> Device {
    let mut compilers: Vec<&CompilerInfo> = compilers.iter().collect();
    compilers.sort_by_key(|compiler| Version::new(&compiler.version));
    let Some((newest, older)) = compilers.split_last() else {
        return candidate.clone();
    };
    let tried = supervise::probe(candidate, newest, settings);
    if tried.usable {
        return tried;
    }
    if let Some(with_options) = devices::for_newer_compilers(candidate, &tried.name) {
        let again = supervise::probe(&with_options, newest, settings);
        if again.usable {
            return again;
        }
    }
    // A device after the first need not exist.
    let older = older.iter().rev().filter(|_| candidate.choice.is_none());
    let mut again = older.map(|one| (one, supervise::probe(candidate, one, settings)));
    match again.find(|(_, device)| device.usable) {
        None => tried,
        Some((compiler, device)) => Device {
            failure: format!(
                "works with Futhark {}, fails with {}: {}",
                compiler.version, newest.version, tried.reason
            ),
            ..device
        },
    }
}
