//! Which jobs a run has, and in which order they begin, by their times in an earlier run.

use super::setup::threads;
use super::{Ended, usage};
use crate::checks::{self, Check, bridge, device_code};
use crate::cli::Config;
use crate::corpus::Corpus;
use crate::cover::{self, Constructs};
use crate::devices;
use crate::expect::Expectations;
use crate::jobs::{self, Job};
use crate::pattern::CheckPattern;
use crate::record::{JobId, Record};
use crate::report::{Report, about, counted};
use crate::say::errln;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

/// What a choice of jobs depends on.
pub struct Choice<'a> {
    pub corpus: &'a Corpus,
    pub config: &'a Config,
    pub times: &'a Times,
    pub expectations: &'a Expectations,
}

impl Choice<'_> {
    /// Chooses among all jobs, and prints how many are left out. Returns them in the order in which they begin.
    /// The jobs of a program that PATH names as a file are never left out, except by `--shard`.
    pub fn choose(&self, jobs: Vec<Job>) -> Result<Vec<Job>, Ended> {
        let config = self.config;
        let constructs = Constructs::read_for(self.corpus.paths()).map_err(usage)?;
        // Most of what a device that is known to compute wrong results shows is known.
        let leaves_out_known_bad = config.all && config.machine.devices.is_empty();
        let is_quick = !config.all && config.budget.is_none();
        let (kept, reducible) = self.partition(jobs, |job| {
            !constructs.has(&job.program)
                || !(is_quick || leaves_out_known_bad && job.device.known_bad)
        });
        let mut jobs = self.reduced(kept, reducible, &constructs);
        for job in &mut jobs {
            job.seconds = self.times.estimate(job);
        }
        if let Some(shard) = config.shard {
            jobs = jobs::of_shard(jobs, shard);
        }
        // The longest first, so that the workers end at about the same time; or, if perhaps not all end, the fastest.
        jobs.sort_by(|one, other| match config.budget.is_some() {
            true => one.seconds.total_cmp(&other.seconds),
            false => other.seconds.total_cmp(&one.seconds),
        });
        Ok(jobs)
    }

    /// The jobs of programs that are named, or that meet the condition; and the others.
    fn partition(&self, jobs: Vec<Job>, is_kept: impl Fn(&Job) -> bool) -> (Vec<Job>, Vec<Job>) {
        let files = self.corpus.paths().iter().filter(|path| path.is_file());
        let named: HashSet<PathBuf> = files.filter_map(|file| file.canonicalize().ok()).collect();
        // A folder can contain them by another path.
        let is_named = |job: &Job| {
            let file = job.program.canonicalize();
            !named.is_empty() && file.is_ok_and(|file| named.contains(&file))
        };
        let jobs = jobs.into_iter();
        jobs.partition(|job| is_kept(job) || is_named(job))
    }

    /// The kept jobs, and those of the others that together cover every construct. Prints what is left out.
    fn reduced(&self, mut kept: Vec<Job>, others: Vec<Job>, constructs: &Constructs) -> Vec<Job> {
        if others.is_empty() {
            return kept;
        }
        let config = self.config;
        let wanted = config.wanted_checks();
        let is_selected = |check: &&Check| {
            let is_possible = match check.name {
                device_code::NAME => !config.architectures.is_empty(),
                bridge::NAME => config.bridge.is_some(),
                _ => true,
            };
            let named = |pattern: &CheckPattern| pattern.may_match(check.name);
            is_possible && (wanted.is_empty() || wanted.iter().any(named))
        };
        let checks: Vec<&'static Check> = checks::ALL.iter().filter(is_selected).collect();
        // Every machine chooses the same jobs.
        let cost = |job: &Job| {
            let size = fs::metadata(&job.program).map_or(0, |data| data.len());
            (FIXED_COST + size) * u64::from(job.device.slowness())
        };
        let selection = cover::choose(&others, &checks, constructs, self.expectations, cost);
        // Each job with only the checks, or the cases that --check names, for which it was chosen.
        let mut chosen: HashMap<usize, Vec<CheckPattern>> = selection.jobs.into_iter().collect();
        let (count, all) = (chosen.len(), counted(others.len(), "job"));
        let mut left_out = Vec::new();
        for (number, job) in others.into_iter().enumerate() {
            match chosen.remove(&number) {
                Some(checks) => kept.push(Job { checks, ..job }),
                None => left_out.push(job),
            }
        }
        let seconds: f64 = left_out.iter().map(|job| self.times.estimate(job)).sum();
        let seconds = about(seconds / threads(config.jobs) as f64);
        let jobs = counted(left_out.len(), "job");
        if !config.all {
            errln!(
                "quick run: {count} of {all} cover every kind of construct:\n  {}, {}\n  \
                 left out (--all runs all): {jobs}, {seconds}",
                counted(selection.constructs, "construct"),
                counted(selection.checks, "check"),
            );
        } else if !left_out.is_empty() {
            errln!(
                "on devices known to compute wrong results:\n  {jobs} left out, --device '*' runs all"
            );
        }
        kept
    }
}

/// Starting the compilers costs as much as some kilobytes of source. With a lower cost, the selection has more
/// programs.
const FIXED_COST: u64 = 16_000;

/// The seconds of each check in an earlier run.
#[derive(Debug, Default)]
pub struct Times {
    jobs: HashMap<(JobId, String), f64>,
}

impl Times {
    #[must_use]
    pub fn in_report(results: &Report) -> Times {
        let mut times = Times::default();
        for Record { job, result } in results.records() {
            let check = (on_any_machine(job), result.check.clone());
            *times.jobs.entry(check).or_default() += result.seconds;
        }
        times
    }

    /// The estimated seconds of a job: of each selected check those of the earlier run, otherwise a guess by
    /// the kind of the device.
    #[must_use]
    pub fn estimate(&self, job: &Job) -> f64 {
        let id = on_any_machine(&job.id);
        let slowness = f64::from(job.device.slowness());
        let is_selected = |check: &&Check| {
            job.checks.is_empty() || job.checks.iter().any(|it| it.may_match(check.name))
        };
        let of_check = |check: &Check| {
            let known = self.jobs.get(&(id.clone(), check.name.to_owned()));
            known.copied().unwrap_or(match check.name {
                "compile" => COMPILE,
                _ => CHECK * slowness,
            })
        };
        let checks = checks::ALL.iter().filter(is_selected);
        REST * slowness + checks.map(of_check).sum::<f64>()
    }
}

/// The guessed seconds of the compilers, which do not depend on the device. This and the others are means of
/// all jobs of `programs/`.
const COMPILE: f64 = 0.65;

/// The guessed seconds of a check on the host.
const CHECK: f64 = 0.015;

/// The guessed seconds between the checks of a job on the host.
const REST: f64 = 0.05;

/// The job with only the platform of the device, whose full name can contain that of the machine's
/// processor.
fn on_any_machine(job: &JobId) -> JobId {
    JobId {
        device: devices::platform(&job.device).to_owned(),
        ..job.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::tests;
    use crate::pattern::CheckPattern;

    fn job(program: &str, checks: &[&str]) -> Job {
        let mut job = tests::job(program, "1");
        job.checks = (checks.iter().map(|c| CheckPattern::from((*c).to_owned()))).collect();
        job
    }

    #[test]
    fn estimates_are_the_times_of_the_selected_checks_in_the_earlier_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("last.jsonl");
        let of = |check: &str, seconds: f64| {
            format!(
                r#"{{"program":"a.fut","backend":"c","device":"cpu","compiler":"1","check":"{check}","case":"","outcome":"pass","cause":null,"message":"","seconds":{seconds}}}"#
            )
        };
        let header = r#"{"schema":3,"generator":"g","seed":1,"compilers":[],"devices":[]}"#;
        let checks = checks::ALL.iter().map(|check| of(check.name, 0.5));
        // With a further case of a check.
        let lines: Vec<String> = [header.to_owned(), of("blocks", 2.0)]
            .into_iter()
            .chain(checks)
            .collect();
        fs::write(&file, lines.join("\n") + "\n").unwrap();
        let times = Times::in_report(&Report::read([&file]).unwrap());
        let is = |job: &Job, expected: f64| (times.estimate(job) - expected - REST).abs() < 0.001;
        let whole = 0.5 * checks::ALL.len() as f64 + 2.0;
        assert!(is(&job("a.fut", &[]), whole));
        assert!(is(&job("a.fut", &["compile", "blocks:f *"]), 3.0));
        let guess = Times::default().estimate(&job("b.fut", &["compile"]));
        assert!((guess - COMPILE - REST).abs() < 0.001);
    }
}
