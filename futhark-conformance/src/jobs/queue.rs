//! The order in which workers take jobs.

use super::Job;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The jobs that wait for a worker, by their numbers.
#[derive(Debug)]
pub struct Queue<'j> {
    /// All jobs.
    pub(super) jobs: &'j [Job],
    /// Jobs of one group share a build, so one of them would wait for the other.
    groups: Vec<usize>,
    until: Option<Instant>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<usize>,
    running: Vec<usize>,
}

impl<'j> Queue<'j> {
    /// A queue of some of the jobs. No job begins that would probably end after `until`.
    #[must_use]
    pub fn new(jobs: &'j [Job], order: Vec<usize>, until: Option<Instant>) -> Queue<'j> {
        Queue {
            jobs,
            groups: groups(jobs),
            until,
            state: Mutex::new(State {
                waiting: order.into(),
                running: Vec::new(),
            }),
        }
    }

    /// The number of jobs that no worker has taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// The jobs that no worker has taken.
    #[must_use]
    pub fn waiting(&self) -> Vec<usize> {
        self.lock().waiting.iter().copied().collect()
    }

    /// The next job: the first that need not wait for a build of another worker, otherwise the first;
    /// none if no job is left, or none would end in time.
    pub(super) fn take(&self) -> Option<usize> {
        let mut state = self.lock();
        let State { waiting, running } = &mut *state;
        let now = Instant::now();
        let in_time = |&job: &usize| {
            let seconds = Duration::from_secs_f64(self.jobs[job].seconds);
            self.until.is_none_or(|until| now + seconds <= until)
        };
        let is_free = |job: &usize| {
            let group = self.groups[*job];
            running.iter().all(|&other| self.groups[other] != group)
        };
        let mut jobs = waiting.iter();
        let place = (jobs.position(|job| is_free(job) && in_time(job)))
            .or_else(|| waiting.iter().position(in_time))?;
        let job = waiting.remove(place)?;
        running.push(job);
        Some(job)
    }

    /// The job has ended.
    pub(super) fn finished(&self, job: usize) {
        self.lock().running.retain(|&other| other != job);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The group of each job: its program and compiler. The jobs of a group use the same build for
/// comparison, and those on two devices of a backend the same library.
pub fn groups(jobs: &[Job]) -> Vec<usize> {
    let mut known = HashMap::new();
    let number = |job: &'_ Job| {
        let next = known.len();
        let group = (job.place.program.clone(), job.place.compiler.clone());
        *known.entry(group).or_insert(next)
    };
    jobs.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::Device;
    use crate::record::{CompilerInfo, Place};
    use futhark_manifest::Backend;

    fn job(program: &str, compiler: &str, seconds: f64) -> Job {
        let device = Device::host(Backend::C);
        Job {
            program: program.into(),
            place: Place::new(&device, program.to_owned(), compiler.to_owned()),
            device,
            compiler: CompilerInfo::new(compiler, "futhark"),
            checks: Vec::new(),
            seconds,
        }
    }

    #[test]
    fn a_worker_takes_a_job_whose_build_no_other_worker_makes() {
        let jobs = ["1", "2", "1", "1"].map(|compiler| job("a.fut", compiler, 1.0));
        let queue = Queue::new(&jobs, vec![2, 0, 1, 3], None);
        assert_eq!(queue.take(), Some(2));
        assert_eq!(queue.take(), Some(1), "0 is of the group of 2");
        assert_eq!(queue.take(), Some(0), "no other group is left");
        queue.finished(2);
        queue.finished(0);
        assert_eq!(queue.take(), Some(3));
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn only_jobs_that_end_in_time_begin() {
        let names = [("a.fut", 1.0), ("b.fut", 1000.0), ("c.fut", 1.0)];
        let jobs = names.map(|(program, seconds)| job(program, "1", seconds));
        let queue = |left| {
            let until = Instant::now() + Duration::from_secs(left);
            Queue::new(&jobs, vec![1, 0, 2], Some(until))
        };
        let short = queue(100);
        assert_eq!([short.take(), short.take()], [Some(0), Some(2)]);
        assert_eq!((short.take(), short.waiting()), (None, vec![1]));
        let none = queue(0);
        assert_eq!((none.take(), none.len()), (None, 3));
    }
}
