//! The jobs of a shard of a run, `I/N`, and the order in which workers take them.

use super::Job;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Shard `index` of `count` shards of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    /// The number of this shard, counted from 1.
    pub index: usize,
    /// The number of shards.
    pub count: usize,
}

/// The most shards. Reports list those that are missing.
const MOST: usize = 10_000;

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text
            .split_once('/')
            .and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parts {
            Some((index, count)) if count <= MOST && (1..=count).contains(&index) => {
                Ok(Shard { index, count })
            }
            _ => Err(format!(
                "expected I/N with I from 1 to N, such as 1/4, and N up to {MOST}"
            )),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Shard, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// The jobs of a shard: groups of jobs such that the shards take about the same time. Depends on nothing but the
/// jobs and their estimated times.
pub fn of_shard(jobs: Vec<Job>, shard: Shard) -> Vec<Job> {
    let mut by_build: BTreeMap<(String, String), Vec<Job>> = BTreeMap::new();
    for job in jobs {
        let (program, compiler) = job.build();
        let build = (program.to_owned(), compiler.to_owned());
        by_build.entry(build).or_default().push(job);
    }
    let mut groups: Vec<Vec<Job>> = by_build.into_values().collect();
    if groups.len() < GROUPS_PER_PART * shard.count {
        groups = groups.into_iter().flatten().map(|job| vec![job]).collect();
    }
    let seconds = |group: &[Job]| group.iter().map(|job| job.seconds).sum::<f64>();
    groups.sort_by(|one, other| seconds(other).total_cmp(&seconds(one)));
    let mut shards: Vec<(f64, Vec<Job>)> = vec![(0.0, Vec::new()); shard.count];
    for group in groups {
        let least = shards
            .iter_mut()
            .min_by(|one, other| one.0.total_cmp(&other.0));
        if let Some((load, jobs)) = least {
            *load += seconds(&group);
            jobs.extend(group);
        }
    }
    shards.swap_remove(shard.index - 1).1
}

/// The least number of groups per shard for shards of about the same time.
const GROUPS_PER_PART: usize = 8;

/// The jobs that wait for a worker.
#[derive(Debug)]
pub struct Queue<'j> {
    until: Option<Instant>,
    state: Mutex<State<'j>>,
}

#[derive(Debug)]
struct State<'j> {
    waiting: Vec<&'j Job>,
    running: Vec<&'j Job>,
}

impl<'j> Queue<'j> {
    /// A queue of jobs in this order. No job begins that would probably end after `until`.
    #[must_use]
    pub fn new(jobs: impl IntoIterator<Item = &'j Job>, until: Option<Instant>) -> Queue<'j> {
        Queue {
            until,
            state: Mutex::new(State {
                waiting: jobs.into_iter().collect(),
                running: Vec::new(),
            }),
        }
    }

    /// The jobs that no worker has taken.
    #[must_use]
    pub fn waiting(&self) -> Vec<&'j Job> {
        self.lock().waiting.clone()
    }

    /// The next job: the first that need not wait for a build of another worker, otherwise the first;
    /// none if no job is left, or none would end in time.
    #[must_use]
    pub fn take(&self) -> Option<&'j Job> {
        let mut state = self.lock();
        let State { waiting, running } = &mut *state;
        let now = Instant::now();
        let in_time = |job: &&Job| {
            let seconds = Duration::from_secs_f64(job.seconds);
            self.until.is_none_or(|until| now + seconds <= until)
        };
        let is_free = |job: &&Job| running.iter().all(|other| other.build() != job.build());
        let mut jobs = waiting.iter();
        let position = (jobs.position(|job| is_free(job) && in_time(job)))
            .or_else(|| waiting.iter().position(in_time))?;
        let job = waiting.remove(position);
        running.push(job);
        Some(job)
    }

    /// A worker has done the work of a job that it has taken.
    pub fn finished(&self, job: &Job) {
        let running = &mut self.lock().running;
        running.retain(|other| !std::ptr::eq(*other, job));
    }

    fn lock(&self) -> MutexGuard<'_, State<'j>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::tests;
    use futhark_manifest::Backend;

    fn job(program: &str, compiler: &str, seconds: f64) -> Job {
        let mut job = tests::job(program, compiler);
        job.seconds = seconds;
        job
    }

    fn taken(queue: &Queue<'_>) -> Option<String> {
        queue.take().map(|job| job.id.program.clone())
    }

    #[test]
    fn a_worker_takes_a_job_whose_build_no_other_worker_makes() {
        let mut jobs = ["0", "1", "2", "3"].map(|program| job(program, "1", 1.0));
        for job in &mut jobs[2..] {
            job.id.program = "0".to_owned();
        }
        let queue = Queue::new([&jobs[2], &jobs[0], &jobs[1], &jobs[3]], None);
        let take = || queue.take().map(|job| job.program.to_str().unwrap());
        assert_eq!(take(), Some("2"));
        assert_eq!(take(), Some("1"), "0 shares its build with 2");
        assert_eq!(take(), Some("0"), "no other build is left");
        queue.finished(&jobs[2]);
        queue.finished(&jobs[0]);
        assert_eq!(take(), Some("3"));
        assert_eq!(take(), None);
    }

    #[test]
    fn only_jobs_that_end_in_time_begin() {
        let names = [("a.fut", 1.0), ("b.fut", 1000.0), ("c.fut", 1.0)];
        let jobs = names.map(|(program, seconds)| job(program, "1", seconds));
        let queue = |left| {
            let until = Instant::now() + Duration::from_secs(left);
            Queue::new([&jobs[1], &jobs[0], &jobs[2]], Some(until))
        };
        let short = queue(100);
        assert_eq!(taken(&short).as_deref(), Some("a.fut"));
        assert_eq!(taken(&short).as_deref(), Some("c.fut"));
        assert_eq!((taken(&short), short.waiting().len()), (None, 1));
        let none = queue(0);
        assert_eq!((taken(&none), none.waiting().len()), (None, 3));
    }

    /// Each program on two backends with two compilers.
    fn jobs(programs: usize) -> Vec<Job> {
        let mut jobs = Vec::new();
        for program in 0..programs {
            for backend in [Backend::C, Backend::Multicore] {
                for compiler in ["1", "2"] {
                    let mut one = job(&format!("{program}.fut"), compiler, 1.0);
                    one.id.backend = backend.to_string();
                    jobs.push(one);
                }
            }
        }
        jobs
    }

    #[test]
    fn parts_have_every_job_once_and_take_about_the_same_time() {
        let mut jobs = jobs(20);
        for (number, job) in jobs.iter_mut().enumerate() {
            job.seconds += number as f64;
        }
        let shards: Vec<Vec<Job>> = (1..=3)
            .map(|index| of_shard(jobs.clone(), Shard { index, count: 3 }))
            .collect();
        let seconds = |jobs: &[Job]| jobs.iter().map(|job| job.seconds).sum::<f64>();
        for job in &jobs {
            let same = shards.iter().flatten();
            assert_eq!(same.filter(|other| other.id == job.id).count(), 1);
        }
        let mean = seconds(&jobs) / 3.0;
        let loads: Vec<f64> = shards.iter().map(|shard| seconds(shard)).collect();
        assert!(
            loads.iter().all(|load| (load / mean - 1.0).abs() < 0.05),
            "{loads:?}"
        );
        // Jobs that share a build are in one shard.
        for shard in &shards {
            for job in shard {
                let same = shard.iter().filter(|other| other.build() == job.build());
                assert_eq!(same.count(), 2);
            }
        }
    }

    #[test]
    fn few_jobs_are_divided_one_by_one() {
        let mut jobs = jobs(1);
        let count = |jobs: &[Job], text: &str| of_shard(jobs.to_vec(), text.parse().unwrap()).len();
        assert_eq!([count(&jobs, "1/2"), count(&jobs, "2/2")], [2, 2]);
        jobs[0].seconds = 4.0;
        assert_eq!([count(&jobs, "1/2"), count(&jobs, "2/2")], [1, 3]);
    }

    #[test]
    fn only_parts_of_a_run_are_read() {
        let shard: Shard = "2/3".parse().unwrap();
        assert_eq!((shard.index, shard.count), (2, 3));
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", "", "1/4000000000"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong:?}");
        }
    }
}
