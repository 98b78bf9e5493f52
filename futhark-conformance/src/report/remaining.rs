//! Estimates the time that is left of a run, and that of the jobs that a budget leaves out.
//!
//! The work of a job is its time in an earlier run, if that is known, scaled by how long finished jobs
//! took in comparison, because another machine, or one that is busy, is slower. Otherwise it is a
//! guess, scaled by how wrong the guesses were for finished jobs of the same kind (backend and device),
//! otherwise for all. The estimate follows new information slowly, so that it counts down
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
    estimate: Estimate,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Waiting,
    Running(f64),
    Finished,
}

/// The seconds that a job is expected to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// It took this time in an earlier run.
    Past(f64),
    /// It has not run; other jobs or a default took this time.
    Guess(f64),
}

/// Sums of actual and of estimated times.
#[derive(Clone, Copy, Debug, Default)]
struct Ratio {
    actual: f64,
    estimated: f64,
}

impl Ratio {
    fn add(&mut self, actual: f64, estimated: f64) {
        self.actual += actual;
        self.estimated += estimated;
    }

    fn get(self) -> Option<f64> {
        (self.estimated > 0.0).then(|| self.actual / self.estimated)
    }
}

/// The estimate for a run.
#[derive(Debug)]
pub struct Remaining {
    jobs: Vec<Job>,
    threads: usize,
    /// Of the guesses for finished jobs, by kind and in total.
    kinds: Vec<Ratio>,
    guesses: Ratio,
    /// Of the earlier times of finished jobs.
    past: Ratio,
    finished: usize,
    /// The last estimate, and when it was made.
    shown: Option<(f64, f64)>,
}

impl Remaining {
    /// The estimate for jobs, each with its kind, of which `threads` run at the same time.
    #[must_use]
    pub fn new<'k>(jobs: impl Iterator<Item = (&'k str, Estimate)>, threads: usize) -> Remaining {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let jobs: Vec<Job> = jobs
            .map(|(kind, estimate)| {
                let next = numbers.len();
                Job {
                    kind: *numbers.entry(kind).or_insert(next),
                    estimate,
                    state: State::Waiting,
                }
            })
            .collect();
        Remaining {
            jobs,
            threads: threads.max(1),
            kinds: vec![Ratio::default(); numbers.len()],
            guesses: Ratio::default(),
            past: Ratio::default(),
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
            match job.estimate {
                Estimate::Past(past) => self.past.add(seconds, past),
                Estimate::Guess(guess) => {
                    self.kinds[job.kind].add(seconds, guess);
                    self.guesses.add(seconds, guess);
                }
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
        let is_known = |job: &&Job| matches!(job.estimate, Estimate::Past(_));
        let known = self.jobs.iter().filter(is_known).count();
        let mostly_known = known * 2 > self.jobs.len();
        let share = self.finished as f64 / self.jobs.len().max(1) as f64;
        if !mostly_known && (self.finished < self.threads.max(3) || share < LEAST) {
            return None;
        }
        Some(self.seconds(now))
    }

    /// The seconds that the jobs that have not begun would take, as far as this is known.
    #[must_use]
    pub fn of_waiting(&self) -> f64 {
        let waiting = self.jobs.iter().filter(|job| job.state == State::Waiting);
        self.shared(waiting.map(|job| self.whole(job)))
    }

    fn seconds(&self, now: f64) -> f64 {
        let left = |job: &Job| match job.state {
            State::Finished => None,
            State::Waiting => Some(self.whole(job)),
            // A job that takes longer than expected is taken to be half done.
            State::Running(begun) => {
                let (whole, spent) = (self.whole(job), now - begun);
                Some((whole - spent).max(spent.min(whole) * 0.1))
            }
        };
        self.shared(self.jobs.iter().filter_map(left))
    }

    /// The seconds of these jobs on the threads of the run.
    fn shared(&self, jobs: impl Iterator<Item = f64>) -> f64 {
        let (mut work, mut longest) = (0.0, 0.0_f64);
        for seconds in jobs {
            work += seconds;
            longest = longest.max(seconds);
        }
        (work / self.threads as f64).max(longest)
    }

    /// The seconds of a whole job.
    fn whole(&self, job: &Job) -> f64 {
        // A few short jobs at the start say little about the speed of the machine.
        let scale = (self.past.actual + 5.0) / (self.past.estimated + 5.0);
        match job.estimate {
            Estimate::Past(past) => past * scale,
            Estimate::Guess(guess) => {
                let of_kind = self.kinds[job.kind].get();
                guess * of_kind.or(self.guesses.get()).unwrap_or(scale)
            }
        }
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
        let estimate = |&seconds: &f64| match times {
            true => Estimate::Past(seconds),
            false => Estimate::Guess(1.0),
        };
        let jobs = lengths
            .iter()
            .map(|(kind, seconds)| (*kind, estimate(seconds)));
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
        let jobs = (0..40).map(|_| ("c", Estimate::Past(2.0)));
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
    fn jobs_that_did_not_begin_are_estimated_by_those_that_ran() {
        // The guesses are four times too high on one backend, and right on the other.
        let guesses = [("opencl", 8.0), ("c", 1.0), ("opencl", 8.0), ("c", 1.0)].repeat(10);
        let estimates = guesses
            .into_iter()
            .map(|(kind, s)| (kind, Estimate::Guess(s)));
        let mut remaining = Remaining::new(estimates, 2);
        assert_eq!(remaining.of_waiting(), (20.0 * 8.0 + 20.0) / 2.0);
        for (job, end) in [(0, 2), (1, 1)] {
            remaining.started(job, Duration::ZERO);
            remaining.finished(job, Duration::from_secs(end));
        }
        assert_eq!(remaining.of_waiting(), (19.0 * 2.0 + 19.0) / 2.0);
    }

    #[test]
    fn nothing_is_said_before_something_is_known() {
        let mut remaining = Remaining::new((0..10).map(|_| ("c", Estimate::Guess(1.0))), 2);
        remaining.started(0, Duration::ZERO);
        assert_eq!(remaining.left(Duration::from_secs(5)), None);
    }

    #[test]
    fn times_are_rounded() {
        let texts = [3, 31, 100, 7200].map(|seconds| roughly(Duration::from_secs(seconds)));
        assert_eq!(texts, ["a few seconds", "40 s", "2 min", "2.0 h"]);
    }
}
