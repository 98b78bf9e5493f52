//! Which jobs a run has, and in which order they begin.

use super::config::Config;
use super::order;
use super::setup::threads;
use super::times::Times;
use super::{Ended, usage};
use crate::checks::{self, Check, device_code};
use crate::corpus::Corpus;
use crate::cover::{self, Constructs, Part};
use crate::devices;
use crate::expect::Expectations;
use crate::jobs::Job;
use crate::pattern::CheckPattern;
use crate::report::{about, counted, shown};
use crate::say::errln;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

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
    /// Whether these are all jobs, except those of such devices.
    pub is_whole: bool,
}

/// What a choice of jobs depends on.
pub struct Choice<'a> {
    pub corpus: &'a Corpus,
    pub config: &'a Config,
    pub times: &'a Times,
    pub expectations: &'a Expectations,
}

impl Choice<'_> {
    /// Chooses among all jobs, and prints which part that is.
    pub fn of(&self, jobs: Vec<Job>) -> Result<Selected, Ended> {
        let config = self.config;
        let constructs = Constructs::nearest(self.corpus.paths()).map_err(usage)?;
        let mut spared = BTreeSet::new();
        let mut is_whole = config.budget.is_none() && config.shard.is_none();
        let mut in_order = false;
        let jobs = match config.budget {
            _ if config.all && config.machine.devices.is_empty() => {
                let (jobs, devices) = self.spare_known_bad(jobs, &constructs);
                spared = devices;
                jobs
            }
            None if !config.all => {
                let (kept, listed) = self.partition(jobs, |job| !constructs.has(&job.program));
                is_whole &= listed.is_empty();
                self.quick(kept, listed, &constructs)
            }
            _ => jobs,
        };
        let jobs = match config.budget {
            // The runners of the parts of a run can have different numbers of processors, and must agree.
            Some(budget)
                if config.shard.is_some() || self.seconds(&jobs) > budget.as_secs_f64() =>
            {
                in_order = true;
                self.by_information(jobs, &constructs)
            }
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
            is_whole,
        })
    }

    /// The estimated time of jobs that run at the same time.
    fn seconds<'j>(&self, jobs: impl IntoIterator<Item = &'j Job>) -> f64 {
        let seconds: f64 = jobs.into_iter().map(|job| self.times.estimate(job)).sum();
        seconds / threads(self.config.jobs) as f64
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

    /// The kept jobs, and those of listed programs that together cover every construct.
    fn quick(&self, mut kept: Vec<Job>, listed: Vec<Job>, constructs: &Constructs) -> Vec<Job> {
        if listed.is_empty() {
            return kept;
        }
        // Every machine chooses the same part.
        let part = self.cover(&listed, constructs, |job, size| {
            (FIXED_COST + size as u64) * u64::from(job.device.slowness())
        });
        let is_chosen: HashSet<usize> = part.jobs.iter().map(|(number, _)| *number).collect();
        let left_out: Vec<&Job> = (listed.iter().enumerate())
            .filter(|(number, _)| !is_chosen.contains(number))
            .map(|(_, job)| job)
            .collect();
        let programs: HashSet<&PathBuf> = listed.iter().map(|job| &job.program).collect();
        let chosen_programs: HashSet<&PathBuf> = is_chosen
            .iter()
            .map(|&number| &listed[number].program)
            .collect();
        errln!(
            "quick run: {} of {} cover every kind of construct:\n  {}, {}\n  left out (--all runs all): {}, {}, {}",
            part.jobs.len(),
            counted(listed.len(), "job"),
            counted(part.constructs, "construct"),
            counted(part.checks, "check"),
            counted(programs.len() - chosen_programs.len(), "program"),
            counted(left_out.len(), "job"),
            about(self.seconds(left_out)),
        );
        kept.extend(chosen(listed, part));
        kept
    }

    /// All jobs, except that devices which are known to compute wrong results get only those that together
    /// cover every construct: most of what the others show is known. Also the names of these devices.
    fn spare_known_bad(
        &self,
        jobs: Vec<Job>,
        constructs: &Constructs,
    ) -> (Vec<Job>, BTreeSet<String>) {
        let is_kept = |job: &Job| !job.device.known_bad || !constructs.has(&job.program);
        let (mut kept, bad) = self.partition(jobs, is_kept);
        let part = self.cover(&bad, constructs, |_, size| FIXED_COST + size as u64);
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
        (kept, left_out.into_keys().collect())
    }

    /// All jobs, in the order in which they give the most information per time: those of named programs;
    /// those that cover new constructs; the others, each program's fastest first.
    fn by_information(&self, jobs: Vec<Job>, constructs: &Constructs) -> Vec<Job> {
        let (mut ranked, found) = self.partition(jobs, |_| false);
        let milliseconds = |job: &Job, _| (self.times.estimate(job) * 1000.0) as u64;
        let part = self.cover(&found, constructs, milliseconds);
        let mut found: Vec<Option<Job>> = found.into_iter().map(Some).collect();
        let mut started: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for (number, checks) in part.jobs {
            if let Some(job) = found[number].take() {
                *started.entry(job.program.clone()).or_default() += 1;
                ranked.push(Job { checks, ..job });
            }
        }
        let mut rest: Vec<Job> = found.into_iter().flatten().collect();
        rest.sort_by(|one, other| {
            self.times
                .estimate(one)
                .total_cmp(&self.times.estimate(other))
        });
        let with_turn = rest.into_iter().map(|job| {
            let turn = started.entry(job.program.clone()).or_default();
            *turn += 1;
            (*turn, job)
        });
        let mut rest: Vec<(usize, Job)> = with_turn.collect();
        rest.sort_by_key(|(turn, _)| *turn);
        ranked.extend(rest.into_iter().map(|(_, job)| job));
        ranked
    }

    /// The jobs that together cover every construct with the selected checks.
    fn cover(
        &self,
        jobs: &[Job],
        constructs: &Constructs,
        cost: impl Fn(&Job, usize) -> u64,
    ) -> Part {
        let config = self.config;
        let is_selected = |check: &&Check| {
            let is_possible = !config.architectures.is_empty() || check.name != device_code::NAME;
            let named = |pattern: &CheckPattern| pattern.concerns(check.name);
            is_possible && (config.checks.is_empty() || config.checks.iter().any(named))
        };
        let checks: Vec<&'static Check> = checks::ALL.iter().filter(is_selected).collect();
        cover::choose(jobs, &checks, constructs, self.expectations, cost)
    }
}

/// Starting the compilers costs as much as some kilobytes of source. With a lower cost, the part has more
/// programs.
const FIXED_COST: u64 = 16_000;

/// The jobs of a part, with the checks that they are chosen for.
fn chosen(jobs: Vec<Job>, part: Part) -> impl Iterator<Item = Job> {
    let mut chosen: HashMap<usize, Vec<CheckPattern>> = part.jobs.into_iter().collect();
    let jobs = jobs.into_iter().enumerate();
    jobs.filter_map(move |(number, job)| {
        let checks = chosen.remove(&number)?;
        Some(Job { checks, ..job })
    })
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
