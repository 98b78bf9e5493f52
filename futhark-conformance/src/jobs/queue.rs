//! The order in which workers take jobs.

use super::Job;
use crate::parallel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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

    /// Does the work of each job, of `threads` jobs at a time, and blocks until they have ended.
    pub fn run(&self, threads: usize, work: impl Fn(&Job) + Sync) {
        parallel::on_threads(threads.min(self.waiting().len()), || {
            while let Some(job) = self.take() {
                work(job);
                self.finished(job);
            }
        });
    }

    /// The jobs that no worker has taken.
    #[must_use]
    pub fn waiting(&self) -> Vec<&'j Job> {
        self.lock().waiting.clone()
    }

    /// The next job: the first that need not wait for a build of another worker, otherwise the first;
    /// none if no job is left, or none would end in time.
    fn take(&self) -> Option<&'j Job> {
        let mut state = self.lock();
        let State { waiting, running } = &mut *state;
        let now = Instant::now();
        let in_time = |job: &&Job| {
            let seconds = Duration::from_secs_f64(job.seconds);
            self.until.is_none_or(|until| now + seconds <= until)
        };
        let is_free = |job: &&Job| running.iter().all(|other| other.build() != job.build());
        let mut jobs = waiting.iter();
        let place = (jobs.position(|job| is_free(job) && in_time(job)))
            .or_else(|| waiting.iter().position(in_time))?;
        let job = waiting.remove(place);
        running.push(job);
        Some(job)
    }

    fn finished(&self, job: &Job) {
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

    fn taken(queue: &Queue<'_>) -> Option<String> {
        queue.take().map(|job| job.place.program.clone())
    }

    #[test]
    fn a_worker_takes_a_job_whose_build_no_other_worker_makes() {
        let mut jobs = ["0", "1", "2", "3"].map(|program| job(program, "1", 1.0));
        for job in &mut jobs[2..] {
            job.place.program = "0".to_owned();
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
}
