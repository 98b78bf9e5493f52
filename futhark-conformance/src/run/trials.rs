//! Checks of programs as tests of `cargo test`.

use super::{Ended, Plan, child_process, usage};
use crate::cli::Config;
use crate::corpus::Corpus;
use crate::expect::Expectations;
use crate::jobs::{self, Guard, Job, Settings, Update};
use crate::record::{NOWHERE, Outcome, Record};
use crate::report::{shown, shown_lines};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Runs all checks of programs, and of the programs in folders, as tests: one per program, backend,
/// device and compiler of this machine. This is the `main` of a test with `harness = false`, which has
/// the arguments of `cargo test`: a filter, `--list`, `--test-threads`, ...
///
/// ```no_run
/// // tests/conformance.rs
/// fn main() -> std::process::ExitCode {
///     futhark_conformance::test(["src/kernels"])
/// }
/// ```
///
/// Relative paths start at the package. Failures in the nearest `expectations.toml` are expected. Files
/// that cannot be checked, such as libraries without entry points, are ignored tests. Compiled programs
/// are kept below the target folder.
///
/// Blocks until all tests have ended. The result is a failure if a test fails, or if nothing can be
/// run, for example because there is no Futhark compiler. [`Config::test`] has other settings.
#[must_use]
pub fn test(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> ExitCode {
    child_process();
    match Corpus::find(paths) {
        Ok(corpus) => Config::default().test(&corpus),
        Err(error) => usage(error).shown().into(),
    }
}

impl Config {
    /// As [`test()`], for example on fewer backends, or without some programs. Call
    /// [`child_process`] first.
    ///
    /// ```no_run
    /// // tests/conformance.rs
    /// use futhark_conformance::{Config, Corpus, child_process, manifest::Backend};
    ///
    /// fn main() -> Result<std::process::ExitCode, Box<dyn std::error::Error>> {
    ///     child_process();
    ///     let mut corpus = Corpus::find(["src/kernels"])?;
    ///     corpus.exclude("slow/*");
    ///     let mut config = Config::default();
    ///     config.machine.backends = vec![Backend::C, Backend::Multicore];
    ///     Ok(config.test(&corpus))
    /// }
    /// ```
    #[must_use]
    pub fn test(&self, corpus: &Corpus) -> ExitCode {
        let _guard = Guard::start();
        let arguments = Arguments::from_args();
        match trials(corpus, self) {
            Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
            Err(ended) => ended.shown().into(),
        }
    }
}

/// What the tests share.
struct Shared {
    settings: Settings,
    expectations: Expectations,
}

fn trials(corpus: &Corpus, config: &Config) -> Result<Vec<Trial>, Ended> {
    let plan = Plan::make(corpus, config)?;
    let skipped = plan.records_without_job().map(|record| skip(&record));
    let skipped: Vec<Trial> = skipped.collect();
    let shared = Arc::new(Shared {
        settings: plan.settings,
        expectations: plan.expectations,
    });
    let trials = plan.jobs.into_iter().map(|job| {
        let shared = Arc::clone(&shared);
        let name = job.id.to_string();
        Trial::test(shown(&name), move || job_as_test(&job, &shared))
    });
    Ok(trials.chain(skipped).collect())
}

/// A file that is not checked, or cannot be read, or a device that fails.
fn skip(record: &Record) -> Trial {
    let name = match &record.job {
        job if job.program == NOWHERE => job.to_string(),
        job => job.program.clone(),
    };
    let name = shown(&name).into_owned();
    let message = record.result.message.clone();
    let is_failure = record.result.outcome == Outcome::Fail;
    let failure = Failed::from(shown_lines(&message, ""));
    Trial::test(name, move || Err(failure)).with_ignored_flag(!is_failure)
}

/// Runs all checks of one job. The failure has the messages of all that fail unexpectedly.
fn job_as_test(job: &Job, shared: &Shared) -> Result<(), Failed> {
    let mut failures = Vec::new();
    jobs::check_job(job, &shared.settings, &shared.expectations, &mut |update| {
        if let Update::End(result) = update
            && result.outcome == Outcome::Fail
        {
            let check = format!("{} {}", result.check, result.case);
            let cause = result.cause.map(|cause| cause.to_string());
            let cause = cause.unwrap_or_default();
            let message = shown_lines(&result.message, "    ");
            failures.push(format!("{}: {cause}\n{message}", shown(check.trim_end())));
        }
    });
    match failures.is_empty() {
        true => Ok(()),
        false => Err(failures.join("\n").into()),
    }
}
