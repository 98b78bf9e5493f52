//! How a run checks a corpus: the options of `run`, and the interface for programs.

use crate::cli::{
    Cli, Command, InputArgs, LIMITS, MACHINE, MOST_JOBS, MachineArgs, REPORTS, SELECTION, WorkArgs,
    architecture,
};
use crate::corpus::Corpus;
use crate::devices::Emulate;
use crate::jobs::Shard;
use crate::pattern::CheckPattern;
use clap::{Args, Parser as _};
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
#[derive(Clone, Debug, Args)]
pub struct Config {
    /// CHECK or CHECK:CASE, where `*` matches any text; may be repeated
    #[arg(long = "check", value_name = "PATTERN", help_heading = SELECTION)]
    pub checks: Vec<CheckPattern>,

    /// Everything, not only a part that has each construct of constructs.jsonl
    #[arg(long, help_heading = SELECTION)]
    pub all: bool,

    /// Only jobs that probably end within this time, such as 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, help_heading = SELECTION)]
    pub budget: Option<Duration>,

    /// Part I of N parts, counted from 1
    #[arg(long, value_name = "I/N", help_heading = SELECTION)]
    pub shard: Option<Shard>,

    /// Expected failures [default: expectations.toml in or above PATH]
    #[arg(long, value_name = "FILE", help_heading = SELECTION)]
    pub expectations: Option<PathBuf>,

    /// Let test blocks read files outside of the folders PATH
    #[arg(long, help_heading = SELECTION)]
    pub allow_outside_data: bool,

    /// Compilers and backends.
    #[command(flatten)]
    pub machine: MachineArgs,

    /// A compiler to compare with, but not to check; may be repeated
    #[arg(long, value_name = "PATH", help_heading = MACHINE)]
    pub against: Vec<PathBuf>,

    /// Compile kernels by NVRTC and hiprtc for these, such as sm_90,gfx90a
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = architecture, help_heading = MACHINE)]
    pub architectures: Vec<String>,

    /// Seed of generated inputs
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = LIMITS)]
    pub seed: u64,

    /// Generated inputs.
    #[command(flatten)]
    pub inputs: InputArgs,

    /// Jobs at a time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_JOBS), help_heading = LIMITS)]
    pub jobs: Option<u16>,

    /// Limits and build options of child processes.
    #[command(flatten)]
    pub work: WorkArgs,

    /// Write each result as JSON Lines, for `report` and `diff`
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub json: Option<PathBuf>,

    /// Continue the interrupted run that has written the --json FILE
    #[arg(long, requires = "json", help_heading = REPORTS)]
    pub resume: bool,

    /// Show what changed since an earlier --json FILE, and use its times
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    pub baseline: Option<PathBuf>,
}

const OUTSIDE_DATA: &str = "--allow-outside-data";

impl Default for Config {
    /// The options of `run --all`.
    fn default() -> Config {
        match Cli::parse_from(["futhark-conformance", "run", "--all"]).command {
            Command::Run(args) => args.config,
            _ => unreachable!("the subcommand is `run`"),
        }
    }
}

impl Config {
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
        let flags = [
            ("--optimise", self.work.optimise),
            (OUTSIDE_DATA, self.allow_outside_data),
            ("--all", self.all),
        ];
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set);
        words.extend(flags.map(|(flag, _)| flag.to_owned()));
        words
    }

    /// The further options of a command that repeats one result of this run.
    ///
    /// Program, backend, device, compiler, check and seed come from the result and the header of
    /// the report. The further options select the generated inputs, the emulated device, and the
    /// build folder.
    #[must_use]
    pub fn options_to_repeat(&self) -> Vec<String> {
        let shown = |path: &PathBuf| path.display().to_string();
        let is_emulated = self.machine.emulate == Emulate::Always;
        let options = [
            ("--emulate", is_emulated.then(|| "always".to_owned())),
            ("--cases", self.inputs.cases.map(|cases| cases.to_string())),
            ("--input", self.inputs.input.as_ref().map(shown)),
            ("--build-dir", self.work.build_dir.as_ref().map(shown)),
        ];
        let options = options.into_iter();
        let options = options.filter_map(|(option, value)| Some([option.to_owned(), value?]));
        let outside = self.allow_outside_data.then(|| OUTSIDE_DATA.to_owned());
        options.flatten().chain(outside).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(options: &[&str]) -> Config {
        let cli = Cli::try_parse_from(["x", "run"].iter().chain(options)).unwrap();
        let Command::Run(args) = cli.command else {
            panic!()
        };
        args.config
    }

    #[test]
    fn options_to_repeat_are_options_of_run() {
        let options = [
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
