//! Estimates the time that is left of a run.
//!
//! The work of a job is its time in an earlier run, if that is known; otherwise the mean of the jobs
//! of the same kind (backend and device) that have finished; otherwise the mean of all. The known
//! times are scaled by how long finished jobs took in comparison, because another machine, or one
//! that is busy, is slower. The estimate follows new information slowly, so that it counts down
//! instead of jumping.

use std::collections::HashMap;
use std::time::Duration;

/// The share of the difference to a new estimate that is adopted per second.
const ADOPTED: f64 = 0.1;
/// The share of jobs that must finish before an estimate without earlier times.
const LEAST: f64 = 0.02;

/// What is known about a job.
#[derive(Clone, Debug)]
struct Job {
    kind: usize,
    known: Option<f64>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Waiting,
    Running(f64),
    Finished,
}

/// Sum and number of times.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn add(&mut self, seconds: f64) {
        self.sum += seconds;
        self.count += 1;
    }

    fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// The estimate for a run.
#[derive(Debug)]
pub struct Remaining {
    jobs: Vec<Job>,
    threads: usize,
    kinds: Vec<Mean>,
    all: Mean,
    /// Earlier and actual times of finished jobs of which both are known.
    earlier: f64,
    actual: f64,
    finished: usize,
    /// The last estimate, and when it was made.
    shown: Option<(f64, f64)>,
}

impl Remaining {
    /// The estimate for jobs, each with its kind and its time in an earlier run, of which `threads`
    /// run at the same time.
    #[must_use]
    pub fn new<'k>(
        jobs: impl Iterator<Item = (&'k str, Option<Duration>)>,
        threads: usize,
    ) -> Remaining {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let jobs: Vec<Job> = jobs
            .map(|(kind, known)| {
                let next = numbers.len();
                Job {
                    kind: *numbers.entry(kind).or_insert(next),
                    known: known.map(|time| time.as_secs_f64()),
                    state: State::Waiting,
                }
            })
            .collect();
        Remaining {
            jobs,
            threads: threads.max(1),
            kinds: vec![Mean::default(); numbers.len()],
            all: Mean::default(),
            earlier: 0.0,
            actual: 0.0,
            finished: 0,
            shown: None,
        }
    }

    /// A job begins, `now` after the start of the run.
    pub fn started(&mut self, job: usize, now: Duration) {
        if let Some(job) = self.jobs.get_mut(job) {
            job.state = State::Running(now.as_secs_f64());
        }
    }

    /// A job has ended.
    pub fn finished(&mut self, job: usize, now: Duration) {
        let Some(job) = self.jobs.get_mut(job) else {
            return;
        };
        if let State::Running(begun) = job.state {
            let seconds = now.as_secs_f64() - begun;
            self.kinds[job.kind].add(seconds);
            self.all.add(seconds);
            if let Some(known) = job.known {
                self.earlier += known;
                self.actual += seconds;
            }
        }
        job.state = State::Finished;
        self.finished += 1;
    }

    /// The time that is left; `None` until enough is known.
    pub fn left(&mut self, now: Duration) -> Option<Duration> {
        let now = now.as_secs_f64();
        let next = self.computed(now)?;
        let left = match self.shown {
            None => next,
            Some((shown, at)) => {
                let since = (now - at).max(0.0);
                let expected = (shown - since).max(0.0);
                expected + (next - expected) * (ADOPTED * since).min(1.0)
            }
        };
        self.shown = Some((left, now));
        Duration::try_from_secs_f64(left).ok()
    }

    fn computed(&self, now: f64) -> Option<f64> {
        let known = self.jobs.iter().filter(|job| job.known.is_some()).count();
        let mostly_known = known * 2 > self.jobs.len();
        let share = self.finished as f64 / self.jobs.len().max(1) as f64;
        if !mostly_known && (self.finished < self.threads.max(3) || share < LEAST) {
            return None;
        }
        // A few short jobs at the start say little about the speed of the machine.
        let scale = (self.actual + 5.0) / (self.earlier + 5.0);
        let (mut work, mut longest) = (0.0, 0.0_f64);
        for job in &self.jobs {
            let whole = || {
                let known = job.known.map(|known| known * scale);
                let kind = self.kinds[job.kind];
                known.or(kind.get()).or(self.all.get()).unwrap_or(1.0)
            };
            let left = match job.state {
                State::Finished => continue,
                State::Waiting => whole(),
                // A job that takes longer than expected is taken to be half done.
                State::Running(begun) => {
                    let spent = now - begun;
                    (whole() - spent).max(spent.min(whole()) * 0.1)
                }
            };
            work += left;
            longest = longest.max(left);
        }
        Some((work / self.threads as f64).max(longest))
    }
}

/// A time as people say it: `about 3 min`, rounded so that it does not flicker.
#[must_use]
pub fn roughly(left: Duration) -> String {
    let seconds = left.as_secs();
    match seconds {
        0..10 => "a few seconds".to_owned(),
        10..55 => format!("{} s", seconds.div_ceil(10) * 10),
        55..5400 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{:.1} h", left.as_secs_f64() / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs jobs of these lengths, longest first on two threads, and returns the greatest relative
    /// error of the estimate between `from` and the last tenth, and the greatest step upwards.
    fn simulated(lengths: &[(&'static str, f64)], times: bool, from: f64) -> (f64, f64) {
        let known = |seconds: f64| times.then(|| Duration::from_secs_f64(seconds));
        let jobs = lengths
            .iter()
            .map(|(kind, seconds)| (*kind, known(*seconds)));
        let mut remaining = Remaining::new(jobs, 2);
        let mut free = [0.0_f64; 2];
        let mut events = Vec::new();
        for (number, (_, seconds)) in lengths.iter().enumerate() {
            let thread = usize::from(free[1] < free[0]);
            events.push((free[thread], number, true));
            free[thread] += seconds;
            events.push((free[thread], number, false));
        }
        events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        let end = free[0].max(free[1]);
        let (mut error, mut jump, mut last) = (0.0_f64, 0.0_f64, None);
        let mut events = events.into_iter().peekable();
        let mut now = 0.0;
        while now < end * 0.9 {
            while let Some((at, number, begins)) = events.next_if(|event| event.0 <= now) {
                let at = Duration::from_secs_f64(at);
                match begins {
                    true => remaining.started(number, at),
                    false => remaining.finished(number, at),
                }
            }
            if let Some(left) = remaining.left(Duration::from_secs_f64(now)) {
                let left = left.as_secs_f64();
                if now >= end * from {
                    error = error.max((left - (end - now)).abs() / end);
                }
                jump = jump.max(left - last.unwrap_or(left));
                last = Some(left);
            }
            now += 0.5;
        }
        (error, jump / end)
    }

    #[test]
    fn earlier_times_give_a_true_estimate_from_the_start() {
        let mut lengths: Vec<_> = (0..100).map(|n| ("c", 1.0 + f64::from(n % 7))).collect();
        lengths.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (error, jump) = simulated(&lengths, true, 0.0);
        assert!(error < 0.03 && jump < 0.02, "{error} {jump}");
    }

    #[test]
    fn without_earlier_times_each_kind_has_its_own_mean() {
        // The slow backend alternates with the fast one.
        let lengths: Vec<_> = (0..200)
            .map(|n| {
                if n % 4 == 0 {
                    ("opencl", 9.0)
                } else {
                    ("c", 1.0)
                }
            })
            .collect();
        let (error, jump) = simulated(&lengths, false, 0.15);
        assert!(error < 0.1 && jump < 0.05, "{error} {jump}");
    }

    #[test]
    fn a_slower_machine_scales_earlier_times() {
        let jobs = (0..40).map(|_| ("c", Some(Duration::from_secs(2))));
        let mut remaining = Remaining::new(jobs, 1);
        for job in 0..20 {
            remaining.started(job, Duration::from_secs(job as u64 * 4));
            remaining.finished(job, Duration::from_secs(job as u64 * 4 + 4));
            remaining.left(Duration::from_secs(job as u64 * 4 + 4));
        }
        let left = remaining
            .left(Duration::from_secs(80))
            .unwrap()
            .as_secs_f64();
        assert!((68.0..92.0).contains(&left), "{left}");
    }

    #[test]
    fn nothing_is_said_before_something_is_known() {
        let mut remaining = Remaining::new((0..10).map(|_| ("c", None)), 2);
        remaining.started(0, Duration::ZERO);
        assert_eq!(remaining.left(Duration::from_secs(5)), None);
    }

    #[test]
    fn times_are_rounded() {
        let texts = [3, 31, 100, 7200].map(|seconds| roughly(Duration::from_secs(seconds)));
        assert_eq!(texts, ["a few seconds", "40 s", "2 min", "2.0 h"]);
    }
}
