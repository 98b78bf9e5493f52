//! How a run checks a corpus: the options of `run` without the command line.

use crate::cli::{InputArgs, MachineArgs, RunArgs, WorkArgs};
use crate::corpus::Corpus;
use crate::devices::Emulate;
use crate::pattern::CheckPattern;
use crate::shard::Shard;
use std::path::PathBuf;
use std::time::Duration;

/// How a run checks a corpus. By default: all checks, with every compiler, on every backend and
/// device of this machine.
///
/// ```
/// use futhark_conformance::{Config, manifest::Backend};
///
/// let mut config = Config::default();
/// config.machine.backends = vec![Backend::C, Backend::Multicore];
/// config.checks = vec!["blocks".to_owned().into(), "leaks".to_owned().into()];
/// config.work.timeout = 30;
/// config.json = Some("results.jsonl".into());
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// The checks to run; all checks if empty.
    pub checks: Vec<CheckPattern>,
    /// Whether programs in folders are checked whole; otherwise, a part of them is chosen that has
    /// each construct. A program whose own path is given is always checked whole.
    pub all: bool,
    /// The time in which the jobs should end; others do not start.
    pub budget: Option<Duration>,
    /// The file of constructs to update.
    pub constructs: Option<PathBuf>,
    /// The part of the jobs to run.
    pub shard: Option<Shard>,
    /// The number of jobs to run at a time; one per processor by default.
    pub jobs: Option<u16>,
    /// The seed of generated inputs.
    pub seed: u64,
    /// Where expected failures are listed.
    pub expected: Expected,
    /// The architectures to compile kernels for.
    pub architectures: Vec<String>,
    /// Whether test blocks may read files that are outside of their program's folder and of the
    /// folders of the corpus.
    pub allow_outside_data: bool,
    /// Compilers to compare results with.
    pub against: Vec<PathBuf>,
    /// Compilers and backends.
    pub machine: MachineArgs,
    /// Generated inputs.
    pub inputs: InputArgs,
    /// Limits and build options of child processes.
    pub work: WorkArgs,
    /// The file to write the records to, as JSON Lines. Until the run ends, it is called `FILE.part`,
    /// and has each record as soon as it is found.
    pub json: Option<PathBuf>,
    /// Whether the results that an interrupted run left in the file `json` are kept.
    pub resume: bool,
    /// The JSON Lines of an earlier run, to compare with, and to estimate the times of jobs from.
    pub baseline: Option<PathBuf>,
}

const OUTSIDE_DATA: &str = "--allow-outside-data";

/// Where expected failures are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// In the nearest `expectations.toml` in or above each path.
    Nearest,
    /// In this file.
    In(PathBuf),
    /// Nowhere: no failure is expected.
    Nowhere,
}

impl From<&RunArgs> for Config {
    fn from(args: &RunArgs) -> Config {
        Config {
            checks: args.checks.clone(),
            all: args.all,
            budget: args.budget.map(Duration::from),
            constructs: args.constructs.clone(),
            shard: args.shard,
            jobs: args.jobs,
            seed: args.seed,
            expected: match &args.expectations {
                Some(file) => Expected::In(file.clone()),
                None => Expected::Nearest,
            },
            architectures: args.architectures.clone(),
            allow_outside_data: args.allow_outside_data,
            against: args.against.clone(),
            machine: args.machine.clone(),
            inputs: args.inputs.clone(),
            work: args.work.clone(),
            json: args.reports.json.clone(),
            resume: args.resume,
            baseline: args.reports.baseline.clone(),
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            all: true,
            ..Config::from(&RunArgs::default())
        }
    }
}

impl Config {
    /// Whether the run has every job of these programs.
    #[must_use]
    pub fn is_whole(&self, corpus: &Corpus) -> bool {
        let everything = self.all || corpus.paths().iter().all(|path| path.is_file());
        everything && self.budget.is_none() && self.shard.is_none()
    }

    /// The options that select programs, jobs and checks, and those that limit them, as words of a
    /// command line.
    #[must_use]
    pub fn selection(&self, corpus: &Corpus) -> Vec<String> {
        let paths = corpus.paths().iter().map(|path| path.display().to_string());
        let mut words: Vec<String> = paths.collect();
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        for pattern in corpus.excluded() {
            add("--exclude", pattern.to_string());
        }
        for check in &self.checks {
            add("--check", check.to_string());
        }
        if let Some(budget) = self.budget {
            add("--budget", humantime::format_duration(budget).to_string());
        }
        if !self.architectures.is_empty() {
            add("--architectures", self.architectures.join(","));
        }
        add("--timeout", self.work.timeout.to_string());
        add("--memory", self.work.memory.to_string());
        if self.work.optimise {
            words.push("--optimise".to_owned());
        }
        if self.allow_outside_data {
            words.push(OUTSIDE_DATA.to_owned());
        }
        if self.all {
            words.push("--all".to_owned());
        }
        words
    }

    /// The further options of a command that repeats one finding of this run.
    ///
    /// Program, backend, device, compiler, check and seed come from the finding and the header of
    /// the report. The further options select the generated inputs, the behaviour of the emulated
    /// device, and the build folder.
    #[must_use]
    pub fn options_to_repeat(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        if !self.machine.emulated.is_empty() {
            add("--emulated", self.machine.emulated.clone());
        }
        if self.machine.emulate == Emulate::Always {
            add("--emulate", "always".to_owned());
        }
        if let Some(cases) = self.inputs.cases {
            add("--cases", cases.to_string());
        }
        for (option, path) in [
            ("--input", &self.inputs.input),
            ("--build-dir", &self.work.build_dir),
        ] {
            if let Some(path) = path {
                add(option, path.display().to_string());
            }
        }
        if self.allow_outside_data {
            words.push(OUTSIDE_DATA.to_owned());
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser as _;

    fn config(options: &[&str]) -> Config {
        let cli = Cli::try_parse_from(["x", "run"].iter().chain(options)).unwrap();
        let Command::Run(args) = cli.command else {
            panic!()
        };
        Config::from(&*args)
    }

    #[test]
    fn options_to_repeat_are_options_of_run() {
        let options = [
            "--emulated",
            "delayed",
            "--emulate",
            "always",
            "--cases",
            "3",
            "--input",
            "i",
            "--build-dir",
            "b",
            "--allow-outside-data",
        ];
        assert_eq!(config(&options).options_to_repeat(), options);
    }

    #[test]
    fn the_selection_is_a_command_line_that_selects_the_same() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.fut"), "entry f = 1i32").unwrap();
        let mut corpus = Corpus::find([folder.path()]).unwrap();
        corpus.exclude("slow/*");
        let options = [
            folder.path().to_str().unwrap(),
            "--exclude",
            "slow/*",
            "--check",
            "blocks:f *",
            "--budget",
            "1m 30s",
            "--timeout",
            "9",
            "--memory",
            "0",
            "--allow-outside-data",
            "--all",
        ];
        let selection = config(&options).selection(&corpus);
        assert_eq!(selection, options);
        assert_eq!(config(&["--budget", "90s"]).budget, config(&options).budget);
    }
}
