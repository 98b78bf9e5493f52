//! Measures how long processes compute or wait. A time limit on this time, unlike one on the time of
//! day, does not depend on what else the machine does.
//!
//! While all threads of the processes wait, the time of day counts. Otherwise the processor time
//! counts, divided by the number of threads that can run: on an idle machine these are equal. On
//! systems other than Linux, the time of day always counts.

use rustix::process::Pid;
use std::time::{Duration, Instant};

/// How often the processes are looked at within a limit, and after which time at the latest. Each look
/// reads a file per process of the machine.
const LOOKS: u32 = 50;
const SELDOM: Duration = Duration::from_secs(5);

/// Measures a process group.
#[derive(Debug)]
pub struct Stopwatch {
    group: Pid,
    spent: Duration,
    /// When the processes were last looked at, and their processor time then.
    last: Instant,
    used: Option<Duration>,
}

impl Stopwatch {
    #[must_use]
    pub fn start(group: Pid) -> Stopwatch {
        Stopwatch {
            group,
            spent: Duration::ZERO,
            last: Instant::now(),
            used: None,
        }
    }

    pub fn restart(&mut self) {
        *self = Stopwatch::start(self.group);
    }

    /// Whether the time since the start has reached a limit. Call it often; it looks at the processes
    /// many times within the limit.
    pub fn has_reached(&mut self, limit: Duration) -> bool {
        let passed = self.last.elapsed();
        if passed >= (limit / LOOKS).min(SELDOM) {
            self.last += passed;
            let usage = Usage::of_group(self.group);
            self.spent += match (&usage, self.used) {
                (Some(usage), Some(before)) => usage.time_since(before, passed),
                _ => passed,
            };
            self.used = usage.map(|usage| usage.processor);
        }
        self.spent >= limit
    }
}

/// What the processes of a group use.
struct Usage {
    /// Their processor time, with that of processes that they have waited for.
    processor: Duration,
    /// The number of their threads that run, or wait for a processor.
    runnable: u32,
}

impl Usage {
    /// The part of the time of day in which they waited or computed.
    fn time_since(&self, before: Duration, passed: Duration) -> Duration {
        match self.runnable {
            0 => passed,
            threads => passed.min(self.processor.saturating_sub(before) / threads),
        }
    }

    #[cfg(target_os = "linux")]
    fn of_group(group: Pid) -> Option<Usage> {
        let mut usage = Usage {
            processor: Duration::ZERO,
            runnable: 0,
        };
        for process in std::fs::read_dir("/proc").ok()?.flatten() {
            let process = process.path();
            // Another process may end at any time.
            let Some(stat) = Stat::read(&process).filter(|stat| stat.group == group) else {
                continue;
            };
            usage.processor += stat.processor;
            let threads = std::fs::read_dir(process.join("task"));
            let threads = threads.into_iter().flatten().flatten();
            let runnable = threads.filter_map(|thread| Stat::read(&thread.path()));
            usage.runnable += runnable.map(|one| u32::from(one.is_runnable)).sum::<u32>();
        }
        Some(usage)
    }

    #[cfg(not(target_os = "linux"))]
    fn of_group(_: Pid) -> Option<Usage> {
        None
    }
}

/// The file `stat` of a process or thread.
#[cfg(target_os = "linux")]
struct Stat {
    is_runnable: bool,
    group: Pid,
    processor: Duration,
}

#[cfg(target_os = "linux")]
impl Stat {
    fn read(folder: &std::path::Path) -> Option<Stat> {
        Stat::parse(&std::fs::read_to_string(folder.join("stat")).ok()?)
    }

    fn parse(text: &str) -> Option<Stat> {
        // The name of the program, in parentheses, can contain anything.
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        // Those of the process itself and of processes that it has waited for, in user and in system mode.
        let ticks = fields.get(11..15)?.iter();
        let ticks: u64 = ticks.map(|field| field.parse::<u64>().unwrap_or(0)).sum();
        let per_second = rustix::param::clock_ticks_per_second();
        Some(Stat {
            is_runnable: *fields.first()? == "R",
            // -1 of a thread that has ended.
            group: Pid::from_raw(fields.get(2)?.parse().ok().filter(|group| *group > 0)?)?,
            processor: Duration::from_millis(ticks * 1000 / per_second.max(1)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_shared_by_the_threads_that_can_run() {
        let second = Duration::from_secs(1);
        let of = |processor: u64, runnable: u32| {
            let processor = Duration::from_millis(5000 + processor);
            let usage = Usage {
                processor,
                runnable,
            };
            usage.time_since(Duration::from_secs(5), second).as_millis()
        };
        assert_eq!(of(0, 0), 1000, "all wait");
        assert_eq!(of(1000, 1), 1000, "alone on the machine");
        assert_eq!(of(200, 1), 200, "the machine is busy");
        assert_eq!(of(4000, 4), 1000);
        assert_eq!(of(1000, 4), 250);
        assert_eq!(of(4000, 1), 1000, "others waited when they were looked at");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_has_ended_has_no_group() {
        let line = |group: i32| {
            let fields = format!("7 (a) b) R 1 {group} 3 4 5 6 7 8 9 10 100 20 3 4 20 0");
            Stat::parse(&fields).map(|stat| stat.processor.as_millis())
        };
        assert_eq!(line(2), Some(1270));
        assert_eq!(line(-1), None);
        assert_eq!(line(0), None);
    }
}
