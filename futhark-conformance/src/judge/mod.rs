//! The command `judge`: compares the verdicts of this program and `futhark test` on every test
//! case.
//!
//! Both run one copy of the programs, in which every test case has a unique name. If everything
//! passes, agreement proves little, so the copy can have a second version of each case, with a
//! mistake in it.

mod alter;
mod copy;
mod second;
mod verdict;

use crate::cli::JudgeArgs;
use crate::corpus::{Corpus, CorpusError, Program};
use crate::devices::Device;
use crate::jobs::{self, Job, Queue, Settings, Update};
use crate::pattern::CheckPattern;
use crate::record::{CompilerInfo, Finding, Place};
use crate::report::shown_lines;
use crate::say::outln;
use anyhow::{Context as _, Result};
use copy::Copied;
use futhark_manifest::Backend;
use std::path::Path;
use verdict::Tally;

/// Runs both on the programs, with one compiler, and prints the differences. Returns whether there
/// are none.
///
/// # Errors
/// If the copies cannot be written, or `futhark test` cannot be run.
pub fn run(
    args: &JudgeArgs,
    programs: &[Program],
    compiler: &CompilerInfo,
    settings: &Settings,
    threads: usize,
) -> Result<bool> {
    // Always the same folder, so that builds are found again; hidden, because it may be within the
    // folder of the programs.
    let folder = settings.run.build_dir.join(".judge").join(&compiler.label);
    let copies = copy::all(programs, args, &settings.run.build_dir, &folder)
        .with_context(|| format!("failed to copy the programs to {}", folder.display()))?;
    let mut settings = settings.clone();
    // As for `futhark test`.
    settings.run.data_folders = None;
    let theirs = second::ask(&copies, &compiler.path, threads)?;
    let ours = ask_ourselves(&copies, compiler, &settings, threads);
    let mut tally = Tally::default();
    for ((copied, theirs), ours) in copies.iter().zip(&theirs).zip(&ours) {
        tally.add(copied, theirs, ours);
    }
    for difference in tally.differences() {
        outln!("{}", shown_lines(&difference.to_string(), ""));
    }
    outln!("Futhark {}: {tally}", compiler.label);
    Ok(tally.differences().is_empty())
}

/// The programs to judge: all except libraries.
///
/// # Errors
/// As [`Corpus::find`], and if a program cannot be read.
pub fn programs(paths: &[std::path::PathBuf]) -> Result<Vec<Program>, CorpusError> {
    let corpus = Corpus::find(paths)?;
    corpus.must_be_readable()?;
    Ok(corpus.programs().cloned().collect())
}

/// The results of this program, for each copy.
fn ask_ourselves(
    copies: &[Copied],
    compiler: &CompilerInfo,
    settings: &Settings,
    threads: usize,
) -> Vec<Vec<Finding>> {
    let jobs: Vec<Job> = copies
        .iter()
        .map(|copied| job(&copied.path, compiler))
        .collect();
    let mut findings = vec![Vec::new(); jobs.len()];
    let queue = Queue::new((0..jobs.len()).collect(), (0..jobs.len()).collect());
    jobs::run(&jobs, &queue, settings, threads, |number, update| {
        if let Update::Found(finding) = update {
            findings[number].push(finding);
        }
    });
    findings
}

fn job(program: &Path, compiler: &CompilerInfo) -> Job {
    let device = Device::host(Backend::C);
    Job {
        program: program.to_owned(),
        place: Place::new(
            &device,
            program.display().to_string(),
            compiler.label.clone(),
        ),
        device,
        compiler: compiler.clone(),
        checks: ["compile", "blocks"]
            .map(|check| CheckPattern::from(check.to_owned()))
            .to_vec(),
    }
}
