//! The options of `run` as words of a command line, for reports, and their defaults for programs.

use crate::checks::bridge;
use crate::cli::{Cli, Command, Config};
use crate::corpus::Corpus;
use crate::devices::Emulate;
use crate::pattern::CheckPattern;
use clap::Parser as _;
use std::path::PathBuf;

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
    /// The checks to run; all if empty. With a bridge, only its check is run, unless others are named.
    #[must_use]
    pub(super) fn wanted_checks(&self) -> Vec<CheckPattern> {
        match self.bridge.is_some() && self.checks.is_empty() {
            true => vec![bridge::NAME.to_owned().into()],
            false => self.checks.clone(),
        }
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
            ("--bridge", self.bridge.clone()),
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
        let options = "--emulate always --bridge ./driver --cases 3 --input i --build-dir b --allow-outside-data";
        let options: Vec<&str> = options.split(' ').collect();
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
