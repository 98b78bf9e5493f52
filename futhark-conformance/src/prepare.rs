//! Compiling programs for machines with a GPU and without compilers.
//!
//! The rest of a run does not depend on it. It writes one folder per compiler, which `run
//! --futhark` accepts in place of one (see `futhark_safe::compile::Recording`): it returns the
//! libraries compiled here, and the errors of programs that did not compile here. The checks
//! `plain` and `server`, which compile their own programs, are skipped there with that reason, as
//! is `symbols` without `nm`.

use crate::blocks::{Source, TestBlocks};
use crate::cli::PrepareArgs;
use crate::corpus::Program;
use crate::harness::build;
use crate::jobs::Settings;
use crate::parallel;
use crate::record::CompilerInfo;
use crate::report::{counted, shown};
use crate::say::errln;
use crate::values::{self, Generator};
use anyhow::{Context as _, bail};
use futhark_manifest::Backend;
use futhark_safe::compile::{Build, Compiler, Recorded, Recording};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Records every program for every backend and compiler with `threads` threads, and prints the progress on the standard
/// error. If a build cannot be recorded, the others are.
pub fn record_builds(
    args: &PrepareArgs,
    programs: &[Program],
    compilers: &[CompilerInfo],
    settings: &Settings,
    threads: usize,
) -> anyhow::Result<()> {
    let probe = build::write_probe(&settings.run.build_dir);
    let probe = probe.context("failed to write to the build folder")?;
    let checked = programs.iter().filter(|program| program.skip.is_none());
    let sources: Vec<&Path> = checked
        .map(|program| program.path.as_path())
        .chain([probe.as_path()])
        .collect();
    let backends: BTreeSet<Backend> = args.backends.iter().copied().chain([Backend::C]).collect();

    let mut jobs = Vec::new();
    for info in compilers {
        let folder = args.into.join(format!("futhark-{}", info.version));
        let compiler = Compiler::at(&info.path)?;
        let recording = Recording::create(folder, &compiler)?;
        for ty in random_types(&sources) {
            recording.add_dataset(&ty, &compiler.dataset(&ty)?)?;
        }
        for source in &sources {
            jobs.extend(backends.iter().map(|&backend| {
                Job {
                    build: build::build(source, backend, settings.run.optimise)
                        .compiler(compiler.clone())
                        .out_dir(&settings.run.build_dir),
                    recording: recording.clone(),
                    version: &info.version,
                }
            }));
        }
    }
    let refused = record_all(&jobs, threads)?;
    errln!(
        "recorded {} of {} in {}, {} of which cannot be compiled",
        counted(jobs.len(), "build"),
        counted(sources.len(), "program"),
        args.into.display(),
        refused
    );
    Ok(())
}

/// A build, and where to record it.
struct Job<'a> {
    build: Build,
    recording: Recording,
    version: &'a str,
}

/// The number of programs that do not compile, which is recorded too.
fn record_all(jobs: &[Job<'_>], threads: usize) -> anyhow::Result<usize> {
    let recorded = AtomicUsize::new(0);
    let outcomes = parallel::map(jobs, threads, |job| {
        let (source, backend) = (job.build.source().display(), job.build.backend());
        let name = format!("{source} {backend} {}", job.version);
        let name = shown(&name);
        let outcome = job.build.record(&job.recording);
        let what = match &outcome {
            Ok(Recorded::Refusal(_)) => "recorded: it cannot be compiled",
            Ok(_) => "recorded",
            Err(_) => "FAILED",
        };
        let number = recorded.fetch_add(1, Ordering::Relaxed) + 1;
        errln!("[{number}/{}] {name}: {what}", jobs.len());
        outcome
            .map(|recorded| matches!(recorded, Recorded::Refusal(_)))
            .map_err(|error| format!("{name}: {error:#}"))
    });
    let refused = outcomes.iter().filter(|outcome| **outcome == Ok(true));
    let refused = refused.count();
    let failures: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if !failures.is_empty() {
        let count = counted(failures.len(), "build");
        bail!("{count} could not be recorded:\n{}", failures.join("\n"));
    }
    Ok(refused)
}

/// The types of generated values in test blocks. Errors in blocks are reported when the program is
/// checked.
fn random_types(sources: &[&Path]) -> BTreeSet<String> {
    let texts = sources
        .iter()
        .filter_map(|source| std::fs::read_to_string(source).ok());
    let cases = texts.flat_map(|text| TestBlocks::parse(&text).unwrap_or_default().cases);
    let inputs = cases.filter_map(|case| match case.input {
        Source::Random(text) => values::parse_generators(&text).ok(),
        _ => None,
    });
    let types = inputs.flatten().filter_map(|generator| match generator {
        Generator::Type(ty) => Some(ty.to_string()),
        Generator::Value(_) => None,
    });
    types.collect()
}
