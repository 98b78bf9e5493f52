//! The parent's side: runs jobs on threads, each in child processes.
//!
//! [`run`] starts worker threads that take jobs from a [`Queue`]. `supervise` decides what a job does
//! next, `process` waits for one child, and `environment` lists the variables that a child gets.

mod environment;
mod process;
mod queue;
mod supervise;

pub use queue::{Queue, groups};

use crate::devices::{self, Device};
use crate::pattern::CheckPattern;
use crate::protocol::RunSpec;
use crate::record::{CompilerInfo, Finding, Place};
use crate::scratch::Scratch;
use anyhow::Context as _;
use futhark_manifest::Version;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread;
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
    pub place: Place,
    /// The checks to run; all checks if empty.
    pub checks: Vec<CheckPattern>,
    /// The estimated time in seconds.
    pub seconds: f64,
}

/// The settings that all jobs of a run share.
#[derive(Clone, Debug)]
pub struct Settings {
    /// This program, for starting child processes.
    pub executable: PathBuf,
    /// The time limit of a case.
    pub timeout: Duration,
    /// The folder for temporary files of child processes.
    pub scratch: Arc<Scratch>,
    /// The settings that are passed to child processes.
    pub run: RunSpec,
}

/// A message about a job.
#[derive(Clone, Debug)]
pub enum Update {
    /// The job begins.
    Started,
    /// A case begins.
    Case {
        /// The check.
        check: String,
        /// The case.
        case: String,
    },
    /// A case has ended with a result.
    Found(Finding),
    /// Something that is neither a result nor a failure.
    Remark(String),
    /// The job has ended; this is its last message.
    Finished,
}

/// Runs the jobs of the queue, `threads` at a time, and blocks until they have ended. Calls `on_update`
/// with the index of the job, on the calling thread.
pub fn run(
    queue: &Queue<'_>,
    settings: &Settings,
    threads: usize,
    mut on_update: impl FnMut(usize, Update),
) {
    let (sender, updates) = mpsc::channel();
    thread::scope(|scope| {
        for worker_number in 0..threads.min(queue.len()) {
            let sender = sender.clone();
            let worker = move || {
                while let Some(number) = queue.take() {
                    // The receiver outlives this scope's threads.
                    let mut send = |update| drop(sender.send((number, update)));
                    send(Update::Started);
                    supervise::job(&queue.jobs[number], settings, &mut send);
                    queue.finished(number);
                    send(Update::Finished);
                }
            };
            // The other threads do the work of one that cannot be started.
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, worker) {
                assert!(worker_number > 0, "failed to start a thread: {error}");
                break;
            }
        }
        drop(sender);
        for (number, update) in updates {
            on_update(number, update);
        }
    });
}

/// Runs a small program on each device with the newest compiler. Where it fails, the older ones tell
/// whether the machine lacks the device or the compiler does not work with it.
#[must_use]
pub fn probe(
    candidates: &[Device],
    compilers: &[CompilerInfo],
    settings: &Settings,
) -> Vec<Device> {
    let mut compilers: Vec<&CompilerInfo> = compilers.iter().collect();
    compilers.sort_by_key(|compiler| Version::new(&compiler.version));
    let Some((newest, older)) = compilers.split_last() else {
        return Vec::new();
    };
    let mut tried = probe_with(candidates, newest, settings);
    for (candidate, tried) in candidates.iter().zip(&mut tried) {
        let with_options = match tried.usable {
            true => None,
            false => devices::for_newer_compilers(candidate, &tried.name),
        };
        let again = with_options.map(|device| supervise::probe(&device, newest, settings));
        if let Some(again) = again.filter(|device| device.usable) {
            *tried = again;
        }
    }
    for compiler in older.iter().rev() {
        // A device after the first need not exist.
        let failed = |&n: &usize| !tried[n].usable && candidates[n].choice.is_none();
        let failed: Vec<usize> = (0..tried.len()).filter(failed).collect();
        let again: Vec<Device> = failed.iter().map(|&n| candidates[n].clone()).collect();
        let again = probe_with(&again, compiler, settings);
        for (n, older) in failed.into_iter().zip(again) {
            if older.usable {
                let failure = format!(
                    "works with Futhark {}, fails with {}: {}",
                    compiler.version, newest.version, tried[n].reason
                );
                tried[n] = Device { failure, ..older };
            }
        }
    }
    tried
}

/// Runs a small program on each device, at the same time.
fn probe_with(devices: &[Device], compiler: &CompilerInfo, settings: &Settings) -> Vec<Device> {
    thread::scope(|scope| {
        let probe = |device| scope.spawn(move || supervise::probe(device, compiler, settings));
        let probes: Vec<_> = devices.iter().map(probe).collect();
        let ended = probes.into_iter().zip(devices).map(|(probe, device)| {
            probe.join().unwrap_or_else(|_| Device {
                reason: "the probe failed".to_owned(),
                ..device.clone()
            })
        });
        ended.collect()
    })
}

/// The folder for compiled programs, which later runs use again: below `target` in a Rust project,
/// otherwise in the user's cache, where only the user has access.
///
/// # Errors
/// If the user's cache cannot be used.
pub fn default_build_dir() -> anyhow::Result<PathBuf> {
    let name = "futhark-conformance";
    if let Some(target) = std::env::var_os("CARGO_TARGET_DIR").filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(target).join(name));
    }
    if PathBuf::from("Cargo.toml").is_file() {
        return Ok(PathBuf::from("target").join(name));
    }
    futhark_safe::compile::cache_folder(name)
        .context("no folder for compiled programs; choose one with --build-dir")
}
