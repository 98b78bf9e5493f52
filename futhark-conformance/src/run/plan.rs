//! What a run is about to do: its programs, compilers, devices and jobs.

use super::select::{Choice, Times};
use super::setup::{find_compilers, must_compile, probe, settings, warn};
use super::{Ended, could_not_run, usage};
use crate::checks;
use crate::cli::Config;
use crate::corpus::Corpus;
use crate::devices::{self, Device};
use crate::expect::Expectations;
use crate::jobs::{Job, Settings};
use crate::pattern::CheckPattern;
use crate::record::{CaseResult, Cause, CompilerInfo, Header, JobId, NOWHERE, Outcome, Record};
use crate::report::Report;
use crate::report::json::SCHEMA;
use crate::toolchain;
use anyhow::anyhow;
use std::path::PathBuf;
use std::sync::Arc;

/// What a run is about to do.
pub struct Plan<'c> {
    /// The programs, and files that are skipped.
    pub corpus: &'c Corpus,
    /// The jobs, in the order in which they begin.
    pub jobs: Vec<Job>,
    /// The settings of the jobs.
    pub settings: Settings,
    /// The first line of the report.
    pub header: Header,
    /// The expected failures.
    pub expectations: Expectations,
    /// The results to compare with.
    pub baseline: Option<Report>,
}

impl<'c> Plan<'c> {
    /// Finds programs, compilers and devices, and selects jobs.
    pub fn of(corpus: &'c Corpus, config: &Config) -> Result<Plan<'c>, Ended> {
        checks::must_exist(&config.checks).map_err(|error| usage(anyhow!(error)))?;
        if corpus.files().is_empty() {
            return Err(usage(anyhow!("--exclude leaves no program")));
        }
        let expectations = expectations(corpus, config)?;
        let mut settings = settings(&config.work)?;
        let compilers = find_compilers(&config.machine.futhark, &mut settings)?;
        let mut against = match config.against.as_slice() {
            [] => Vec::new(),
            named => toolchain::compilers(named, &mut settings.run).map_err(usage)?,
        };
        against.retain(|other| compilers.iter().all(|one| one.path != other.path));
        let baseline = config.baseline.clone();
        let baseline = baseline.map(|file| Report::read([file]));
        let baseline = baseline.transpose().map_err(usage)?;
        let times = match (&baseline, &config.json) {
            (Some(results), _) => Times::of(results),
            // Of the last run with the same file. The machines that run the shards of a run must agree.
            (None, Some(file)) if config.shard.is_none() => {
                let results = Report::read([file]);
                results.map_or_else(|_| Times::default(), |results| Times::of(&results))
            }
            (None, _) => Times::default(),
        };
        let devices = probe(&config.machine, &compilers, &settings);
        must_compile(&devices)?;
        warn(&devices);
        let run = &mut settings.run;
        run.seed = config.seed;
        run.cases = config.inputs.cases;
        run.input = config.inputs.input.clone();
        run.data_folders = data_folders(corpus, config);
        run.architectures = config.architectures.clone();
        run.compilers = compilers.iter().chain(&against).cloned().collect();
        devices::insist(config.machine.emulate, &devices).map_err(could_not_run)?;
        let devices = devices::pick(devices, &config.machine.devices).map_err(usage)?;
        let chosen =
            devices::devices_to_run(&devices, &config.machine.backends).map_err(could_not_run)?;
        let jobs = jobs_of(corpus, &chosen, &compilers, &config.checks);
        let choice = Choice {
            corpus,
            config,
            times: &times,
            expectations: &expectations,
        };
        let jobs = choice.of(jobs)?;
        let header = Header {
            schema: SCHEMA,
            generator: concat!("futhark-conformance ", env!("CARGO_PKG_VERSION")).to_owned(),
            seed: config.seed,
            shard: config.shard,
            against,
            options: config.options_to_repeat(),
            expectations: expectations.hash(),
            selection: config.selection(corpus),
            devices,
            compilers,
        };
        Ok(Plan {
            corpus,
            jobs,
            settings,
            header,
            expectations,
            baseline,
        })
    }

    /// One record for each file that is not a program, or cannot be read, with the reason.
    pub fn skipped_files(&self) -> impl Iterator<Item = Record> {
        self.corpus.skipped().map(|(program, reason)| {
            let nowhere = || NOWHERE.to_owned();
            Record {
                job: Arc::new(JobId {
                    program: program.name(),
                    backend: nowhere(),
                    device: nowhere(),
                    compiler: nowhere(),
                }),
                result: CaseResult {
                    check: "compile".to_owned(),
                    case: String::new(),
                    outcome: match program.unreadable {
                        true => Outcome::Fail,
                        false => Outcome::Skip,
                    },
                    cause: program.unreadable.then_some(Cause::Error),
                    message: reason.to_owned(),
                    seconds: 0.0,
                },
            }
        })
    }
}

/// The expected failures.
fn expectations(corpus: &Corpus, config: &Config) -> Result<Expectations, Ended> {
    let mut files: Vec<PathBuf> = match &config.expectations {
        Some(file) => vec![file.clone()],
        None => {
            let found = corpus.paths().iter();
            found.filter_map(|path| Expectations::find(path)).collect()
        }
    };
    files.dedup();
    let mut all = Expectations::default();
    for file in files {
        all.add(&file).map_err(usage)?;
    }
    Ok(all)
}

/// The folders with files for test blocks; any folder if there is none.
fn data_folders(corpus: &Corpus, config: &Config) -> Option<Vec<PathBuf>> {
    let folders = corpus.paths().iter().filter(|path| path.is_dir());
    let folders = folders.filter_map(|path| path.canonicalize().ok());
    (!config.allow_outside_data).then(|| folders.collect())
}

/// One job per program, device and compiler, ordered by program.
fn jobs_of(
    corpus: &Corpus,
    devices: &[Device],
    compilers: &[CompilerInfo],
    checks: &[CheckPattern],
) -> Vec<Job> {
    let mut jobs = Vec::new();
    for program in corpus.programs() {
        for device in devices {
            for compiler in compilers {
                jobs.push(Job {
                    program: program.path.clone(),
                    id: JobId::new(device, program.name(), compiler.version.clone()),
                    device: device.clone(),
                    compiler: compiler.clone(),
                    checks: checks.to_vec(),
                    seconds: 0.0,
                });
            }
        }
    }
    jobs
}
