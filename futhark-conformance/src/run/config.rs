//! What a run checks, and how: the arguments of `run` without the command line.

use crate::cli::{InputArgs, MachineArgs, RunArgs, WorkArgs};
use crate::devices::Emulate;
use crate::pattern::{CheckPattern, Pattern};
use crate::report::output::Files;
use crate::shard::Shard;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a run checks, and how.
#[derive(Clone, Debug)]
pub struct Config {
    /// Programs, which are checked whole, and folders of programs.
    pub paths: Vec<PathBuf>,
    /// Programs to leave out, by their paths as given or relative to a given folder.
    pub exclude: Vec<Pattern>,
    /// The checks to run; all checks if empty.
    pub checks: Vec<CheckPattern>,
    /// Whether programs in folders are checked whole, too; otherwise a part of them is chosen.
    pub all: bool,
    /// The time in which the jobs should end; others do not start.
    pub budget: Option<Duration>,
    /// The file of constructs to update.
    pub constructs: Option<PathBuf>,
    /// The part of the jobs to run.
    pub shard: Option<Shard>,
    /// The number of jobs to run at a time; one per processor by default.
    pub jobs: Option<u16>,
    /// The file of past times; in the build folder by default.
    pub times: Option<PathBuf>,
    /// The seed of generated inputs.
    pub seed: u64,
    /// Where expected failures are listed.
    pub expected: Expected,
    /// The architectures to compile kernels for.
    pub architectures: Vec<String>,
    /// Compilers to compare results with.
    pub against: Vec<PathBuf>,
    /// Compilers and backends.
    pub machine: MachineArgs,
    /// Generated inputs.
    pub inputs: InputArgs,
    /// Limits and build options of child processes.
    pub work: WorkArgs,
    /// The files to write reports to.
    pub reports: Files,
    /// Whether results in the JSON report of an interrupted run are kept.
    pub resume: bool,
}

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
        let default = || match &args.default_path {
            Some(path) => path.clone(),
            None => PathBuf::from("programs"),
        };
        Config {
            paths: match args.paths.as_slice() {
                [] => vec![default()],
                paths => paths.to_vec(),
            },
            exclude: args.exclude.clone(),
            checks: args.checks.clone(),
            all: args.all,
            budget: args.budget.map(Duration::from),
            constructs: args.constructs.clone(),
            shard: args.shard,
            jobs: args.jobs,
            times: args.times.clone(),
            seed: args.seed,
            expected: match &args.expectations {
                Some(file) => Expected::In(file.clone()),
                None => Expected::Nearest,
            },
            architectures: args.architectures.clone(),
            against: args.against.clone(),
            machine: args.machine.clone(),
            inputs: args.inputs.clone(),
            work: args.work.clone(),
            reports: Files {
                json: args.reports.json.clone().or(args.default_json.clone()),
                ..super::setup::files(&args.reports)
            },
            resume: args.resume,
        }
    }
}

impl Config {
    /// All checks of these programs, and of all programs in these folders, with every compiler, on every
    /// backend and device of this machine; no reports.
    ///
    /// ```no_run
    /// use futhark_conformance::{Config, check, child_process};
    ///
    /// fn main() {
    ///     child_process();
    ///     let results = check(&Config::new(["programs"])).unwrap_or_else(|error| panic!("{error}"));
    ///     for group in results.output.matrix.failures() {
    ///         println!("{}: {} failures", group.headline(), group.members.len());
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn new(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Config {
        Config {
            paths: paths.into_iter().map(Into::into).collect(),
            all: true,
            ..Config::from(&RunArgs::default())
        }
    }

    /// Whether the run has every job of its programs.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let everything = self.all || self.paths.iter().all(|path| path.is_file());
        everything && self.budget.is_none() && self.shard.is_none()
    }

    /// The pattern that excludes this program, by its name or its path in a given folder.
    #[must_use]
    pub fn excluding(&self, name: &str, program: &Path) -> Option<&Pattern> {
        let in_folders = self.paths.iter();
        let in_folders = in_folders.filter_map(|folder| program.strip_prefix(folder).ok());
        let in_folders: Vec<_> = in_folders.map(Path::to_string_lossy).collect();
        let mut patterns = self.exclude.iter();
        patterns.find(|pattern| {
            pattern.matches(name) || in_folders.iter().any(|path| pattern.matches(path))
        })
    }

    /// The options that select programs, jobs and checks, and those that limit them, as words of a
    /// command line.
    #[must_use]
    pub fn selection(&self) -> Vec<String> {
        let paths = self.paths.iter().map(|path| path.display().to_string());
        let mut words: Vec<String> = paths.collect();
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        for pattern in &self.exclude {
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
            ("--regressions", &self.inputs.regressions),
            ("--input", &self.inputs.input),
            ("--build-dir", &self.work.build_dir),
        ] {
            if let Some(path) = path {
                add(option, path.display().to_string());
            }
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
            "--regressions",
            "r",
            "--input",
            "i",
            "--build-dir",
            "b",
        ];
        assert_eq!(config(&options).options_to_repeat(), options);
    }

    #[test]
    fn the_selection_is_a_command_line_that_selects_the_same() {
        let options = [
            "corpus",
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
            "--all",
        ];
        let selection = config(&options).selection();
        assert_eq!(selection, options);
        assert_eq!(config(&["--budget", "90s"]).budget, config(&options).budget);
    }

    #[test]
    fn defaults_of_a_script_yield_to_arguments() {
        let script = ["--default-path", "p", "--default-json", "j"];
        let defaults = config(&script);
        assert_eq!(defaults.paths, [Path::new("p")]);
        assert_eq!(defaults.reports.json, Some("j".into()));
        let given = config(&[script.as_slice(), &["a.fut", "--json=b"]].concat());
        assert_eq!(given.paths, [Path::new("a.fut")]);
        assert_eq!(given.reports.json, Some("b".into()));
    }

    #[test]
    fn a_program_is_excluded_by_its_name_or_its_path_in_a_folder() {
        let config = config(&["lib", "--exclude", "slow/*", "--exclude", "lib/b.fut"]);
        let excludes = |name: &str| config.excluding(name, Path::new(name)).is_some();
        assert!(excludes("lib/slow/a.fut") && excludes("lib/b.fut"));
        assert!(!excludes("lib/a.fut"));
    }
}
