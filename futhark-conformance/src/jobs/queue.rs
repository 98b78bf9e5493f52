//! The order in which workers take jobs.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The jobs that wait for a worker, by their numbers.
#[derive(Debug)]
pub struct Queue {
    jobs: Mutex<Jobs>,
    /// Jobs of one group share a build, so one of them would wait for the other.
    groups: Vec<usize>,
    limit: Option<Limit>,
}

#[derive(Debug, Default)]
struct Jobs {
    waiting: VecDeque<usize>,
    running: Vec<usize>,
}

/// The end of the time in which jobs may begin.
#[derive(Clone, Debug)]
pub struct Limit {
    /// When the last job should end.
    pub until: Instant,
    /// The estimated time of each job.
    pub estimates: Vec<Duration>,
}

/// How many jobs a worker looks at for one that need not wait.
const SIGHT: usize = 1000;

impl Queue {
    /// A queue of these jobs. `groups` has the group of every job of the run. With a limit, no job begins
    /// that would probably end too late.
    #[must_use]
    pub fn new(order: Vec<usize>, groups: Vec<usize>, limit: Option<Limit>) -> Queue {
        Queue {
            jobs: Mutex::new(Jobs {
                waiting: order.into(),
                running: Vec::new(),
            }),
            groups,
            limit,
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
        let mut jobs = self.lock();
        let Jobs { waiting, running } = &mut *jobs;
        let now = Instant::now();
        let in_time = |&job: &usize| {
            let limit = self.limit.as_ref();
            limit.is_none_or(|limit| now + limit.estimates[job] <= limit.until)
        };
        let is_free = |job: &usize| {
            let group = self.groups[*job];
            running.iter().all(|&other| self.groups[other] != group)
        };
        let sight = waiting.iter().take(SIGHT);
        let place = (sight.clone().position(|job| is_free(job) && in_time(job)))
            .or_else(|| waiting.iter().position(in_time))?;
        let job = waiting.remove(place)?;
        running.push(job);
        Some(job)
    }

    /// The job has ended.
    pub(super) fn finished(&self, job: usize) {
        self.lock().running.retain(|&other| other != job);
    }

    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_takes_a_job_whose_build_no_other_worker_makes() {
        let queue = Queue::new(vec![2, 0, 1, 3], vec![0, 1, 0, 0], None);
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
        let seconds = [1, 1000, 1].map(Duration::from_secs);
        let limit = |left: u64| Limit {
            until: Instant::now() + Duration::from_secs(left),
            estimates: seconds.to_vec(),
        };
        let queue = |left| Queue::new(vec![1, 0, 2], vec![0, 1, 2], Some(limit(left)));
        let short = queue(100);
        assert_eq!([short.take(), short.take()], [Some(0), Some(2)]);
        assert_eq!((short.take(), short.waiting()), (None, vec![1]));
        let none = queue(0);
        assert_eq!((none.take(), none.len()), (None, 3));
    }
}
