//! The parent's side of the work: which jobs there are, and the threads that
//! see them through.

mod supervise;

use crate::devices::Device;
use crate::protocol::RunSpec;
use crate::record::{CompilerInfo, Finding, Place};
use anyhow::Context as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// One program for one device with one compiler.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program's source.
    pub program: PathBuf,
    /// The device, and with it the backend. If it cannot be used, the program is only
    /// compiled.
    pub device: Device,
    /// The compiler.
    pub compiler: CompilerInfo,
    /// What the reports call it.
    pub place: Place,
}

/// The settings that all jobs of a run share.
#[derive(Clone, Debug)]
pub struct Settings {
    /// This program, for starting child processes.
    pub executable: PathBuf,
    /// The time limit of a step.
    pub timeout: Duration,
    /// The settings that are passed to child processes.
    pub run: RunSpec,
}

/// What happens to the job of a number.
#[derive(Clone, Debug)]
pub enum Update {
    /// It begins.
    Started,
    /// A step of it begins.
    Step {
        /// The check.
        check: String,
        /// The case.
        case: String,
    },
    /// A case of a check has ended.
    Found(Finding),
    /// Nothing more will be said about it.
    Finished,
}

/// Sees all jobs through, `threads` at a time. Updates arrive on the calling
/// thread, one after another.
pub fn run(
    jobs: &[Job],
    settings: &Settings,
    threads: usize,
    mut on_update: impl FnMut(usize, Update),
) {
    let next = AtomicUsize::new(0);
    let (sender, updates) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            let sender = sender.clone();
            let next = &next;
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(number) else { break };
                    // The receiver outlives this scope's threads.
                    let mut send = |update| drop(sender.send((number, update)));
                    send(Update::Started);
                    supervise::job(job, settings, &mut send);
                    send(Update::Finished);
                }
            });
        }
        drop(sender);
        for (number, update) in updates {
            on_update(number, update);
        }
    });
}

/// Runs a small program on each device: its name, or why that did not work.
#[must_use]
pub fn probe(
    candidates: &[Device],
    compiler: &CompilerInfo,
    settings: &Settings,
) -> Vec<Result<String, String>> {
    thread::scope(|scope| {
        let probes: Vec<_> = candidates
            .iter()
            .map(|device| scope.spawn(move || supervise::probe(device, compiler, settings)))
            .collect();
        let answers = probes.into_iter().map(|probe| {
            probe
                .join()
                .unwrap_or_else(|_| Err("the probe failed".to_owned()))
        });
        answers.collect()
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
        .context("no folder for builds; name one with --build-dir")
}
