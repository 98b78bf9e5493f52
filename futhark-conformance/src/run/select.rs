//! Which jobs a run has, and in which order they begin.

use super::config::Config;
use super::order;
use super::setup::threads;
use super::times::Times;
use super::{Ended, usage};
use crate::checks::{self, Check, device_code};
use crate::corpus::Corpus;
use crate::cover::{self, Part, Sources};
use crate::devices;
use crate::expect::Expectations;
use crate::jobs::{Job, Settings};
use crate::pattern::CheckPattern;
use crate::report::{about, counted, shown, shown_lines};
use crate::say::errln;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name of the file of constructs, in or above a folder of programs, and in the build folder.
const CONSTRUCTS: &str = "constructs.jsonl";

/// The variable that names another file of constructs to update, such as that of a corpus.
const UPDATED: &str = "FUTHARK_CONFORMANCE_CONSTRUCTS";

/// The jobs of a run.
pub struct Selected {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// The estimated seconds of each.
    pub estimates: Vec<f64>,
    /// The order in which they begin, by their numbers.
    pub order: Vec<usize>,
    /// The devices that have only a part of their jobs.
    pub spared: BTreeSet<String>,
}

/// What a choice of jobs depends on.
pub struct Choice<'a> {
    pub corpus: &'a Corpus,
    pub config: &'a Config,
    pub times: &'a Times,
    pub expectations: &'a Expectations,
    pub settings: &'a Settings,
}

impl Choice<'_> {
    /// Chooses among all jobs, and prints which part that is.
    pub fn of(&self, jobs: Vec<Job>) -> Result<Selected, Ended> {
        let config = self.config;
        let begun = Instant::now();
        let mut in_order = false;
        let (jobs, spared) = match config.all && config.machine.devices.is_empty() {
            true => self.spare_known_bad(jobs)?,
            false => (jobs, BTreeSet::new()),
        };
        let jobs = match config.budget {
            // The runners of the parts of a run can have different numbers of processors, and must agree.
            Some(budget)
                if config.shard.is_some() || self.seconds(&jobs) > budget.as_secs_f64() =>
            {
                in_order = true;
                self.by_information(jobs, begun + budget / 5)?
            }
            None if !config.all => self.quick(jobs)?,
            _ => jobs,
        };
        let estimates: Vec<f64> = jobs.iter().map(|job| self.times.estimate(job)).collect();
        let (jobs, estimates) = match config.shard {
            None => (jobs, estimates),
            Some(shard) => {
                let mine = order::part(&jobs, &estimates, shard);
                let mine = jobs.into_iter().zip(estimates).zip(mine);
                let mine = mine.filter(|(_, mine)| *mine);
                mine.map(|(job, _)| job).unzip()
            }
        };
        let order = match in_order {
            true => (0..jobs.len()).collect(),
            false => order::longest_first(&jobs, &estimates),
        };
        Ok(Selected {
            jobs,
            estimates,
            order,
            spared,
        })
    }

    /// The estimated time of jobs that run at the same time.
    fn seconds<'j>(&self, jobs: impl IntoIterator<Item = &'j Job>) -> f64 {
        let seconds: f64 = jobs.into_iter().map(|job| self.times.estimate(job)).sum();
        seconds / threads(self.config.jobs) as f64
    }

    /// The jobs of programs that are named, or meet the condition; and the others.
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

    /// The jobs of named programs, and those of others that together cover every construct.
    fn quick(&self, jobs: Vec<Job>) -> Result<Vec<Job>, Ended> {
        let (mut kept, found) = self.partition(jobs, |_| false);
        if found.is_empty() {
            return Ok(kept);
        }
        let part = self.cover(&found, None)?;
        let is_chosen: HashSet<usize> = part.jobs.iter().map(|(number, _)| *number).collect();
        let left_out = found.iter().enumerate();
        let left_out = left_out.filter(|(number, _)| !is_chosen.contains(number));
        let left = about(self.seconds(left_out.map(|(_, job)| job)));
        let text = format!("{}, {left}", part.plan);
        errln!("{}", shown_lines(&text, ""));
        kept.extend(chosen(found, part));
        Ok(kept)
    }

    /// All jobs, except that devices which are known to compute wrong results get only those that together
    /// cover every construct: most of what the others show is known. Also the names of these devices.
    fn spare_known_bad(&self, jobs: Vec<Job>) -> Result<(Vec<Job>, BTreeSet<String>), Ended> {
        let (mut kept, bad) = self.partition(jobs, |job| !job.device.known_bad);
        if bad.is_empty() {
            return Ok((kept, BTreeSet::new()));
        }
        let part = self.cover(&bad, None)?;
        let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
        for job in &bad {
            *left_out.entry(job.device.name.clone()).or_default() += 1;
        }
        for job in chosen(bad, part) {
            if let Some(count) = left_out.get_mut(&job.device.name) {
                *count -= 1;
            }
            kept.push(job);
        }
        for (name, &count) in left_out.iter().filter(|(_, count)| **count > 0) {
            errln!(
                "{}: known to compute wrong results;\n  {} left out, --device '{0}*' runs all",
                shown(devices::parts(name).0),
                counted(count, "job")
            );
        }
        Ok((kept, left_out.into_keys().collect()))
    }

    /// All jobs, in the order in which they give the most information per time: those of named programs;
    /// those that cover new constructs; the others, each program's fastest first. Programs are compiled for
    /// their constructs only until then.
    fn by_information(&self, jobs: Vec<Job>, until: Instant) -> Result<Vec<Job>, Ended> {
        let (mut ranked, found) = self.partition(jobs, |_| false);
        let part = self.cover(&found, Some(until))?;
        let mut found: Vec<Option<Job>> = found.into_iter().map(Some).collect();
        let mut started: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for (number, checks) in part.jobs {
            if let Some(job) = found[number].take() {
                *started.entry(job.program.clone()).or_default() += 1;
                ranked.push(Job { checks, ..job });
            }
        }
        let rest = found.into_iter().flatten();
        let mut rest: Vec<(f64, Job)> = rest.map(|job| (self.times.estimate(&job), job)).collect();
        rest.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let with_turn = rest.into_iter().map(|(_, job)| {
            let turn = started.entry(job.program.clone()).or_default();
            *turn += 1;
            (*turn, job)
        });
        let mut rest: Vec<(usize, Job)> = with_turn.collect();
        rest.sort_by_key(|(turn, _)| *turn);
        ranked.extend(rest.into_iter().map(|(_, job)| job));
        Ok(ranked)
    }

    /// The jobs that together cover every construct with the selected checks: in the time until then, by
    /// their estimated times.
    fn cover(&self, jobs: &[Job], until: Option<Instant>) -> Result<Part, Ended> {
        let config = self.config;
        let is_selected = |check: &&Check| {
            let is_possible = !config.architectures.is_empty() || check.name != device_code::NAME;
            let named = |pattern: &CheckPattern| pattern.concerns(check.name);
            is_possible && (config.checks.is_empty() || config.checks.iter().any(named))
        };
        let checks: Vec<&Check> = checks::ALL.iter().filter(is_selected).collect();
        let updated = std::env::var_os(UPDATED).map(PathBuf::from);
        let of_corpus: Vec<PathBuf> = match updated {
            Some(_) => Vec::new(),
            None => {
                let paths = self.corpus.paths().iter();
                let mut files: Vec<PathBuf> = paths.filter_map(|path| nearest(path)).collect();
                files.dedup();
                files
            }
        };
        let of_build_dir = || self.settings.run.build_dir.join(CONSTRUCTS);
        let sources = Sources {
            read: &of_corpus,
            updated: &updated.unwrap_or_else(of_build_dir),
            threads: threads(config.jobs),
            until,
        };
        let estimate = |job: &Job| self.times.estimate(job);
        let seconds = until.map(|_| &estimate as &dyn Fn(&Job) -> f64);
        cover::of_jobs(jobs, &checks, self.expectations, &sources, seconds).map_err(usage)
    }
}

/// The jobs of a part, with the checks that they are chosen for.
fn chosen(jobs: Vec<Job>, part: Part) -> impl Iterator<Item = Job> {
    let mut chosen: HashMap<usize, Vec<CheckPattern>> = part.jobs.into_iter().collect();
    let jobs = jobs.into_iter().enumerate();
    jobs.filter_map(move |(number, job)| {
        let checks = chosen.remove(&number)?;
        Some(Job { checks, ..job })
    })
}

/// The file of constructs in a folder of programs, or in the nearest folder above.
fn nearest(path: &Path) -> Option<PathBuf> {
    let mut files = path.ancestors().map(|folder| folder.join(CONSTRUCTS));
    files.find(|file| file.is_file())
}

/// What a budget left out, in lines of less than 80 characters; none if every job began.
pub fn left_out(budget: Duration, all: usize, waiting: &[&Job], seconds: f64) -> Option<String> {
    if waiting.is_empty() {
        return None;
    }
    let text = format!(
        "--budget {} left out {} of {} ({}):",
        humantime::format_duration(budget),
        waiting.len(),
        counted(all, "job"),
        about(seconds)
    );
    let mut backends: BTreeMap<&str, usize> = BTreeMap::new();
    for job in waiting {
        *backends.entry(&job.place.backend).or_default() += 1;
    }
    let items = backends
        .iter()
        // A break only between backends.
        .map(|(backend, count)| format!("{backend}\u{a0}{count}"))
        .collect::<Vec<_>>();
    let items = textwrap::fill(&items.join(", "), 75).replace('\n', "\n  ");
    Some(format!("{text}\n  {}", items.replace('\u{a0}', " ")))
}
