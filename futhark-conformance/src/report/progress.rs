//! Shows the progress of a run on the standard error stream: a bar on a terminal; otherwise a line
//! for each finished job, or, if there are many, for each with a failure; and the time that is left.

use super::{Counts, about, shown};
use crate::devices::{HOST, parts};
use crate::record::{Outcome, Place};
use crate::say::errln;
use console::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// The number of jobs of which each has a line.
const LINES: usize = 300;
/// The time between two updates of the time that is left, on a terminal and in a log.
const UPDATES: Duration = Duration::from_secs(1);
const LOGGED: Duration = Duration::from_secs(20);

/// The progress display of a run.
pub struct Progress {
    bar: ProgressBar,
    total: usize,
    finished: usize,
    running: HashMap<usize, Running>,
    remarks: HashSet<String>,
    updated: Instant,
}

struct Running {
    counts: Counts,
    begun: Instant,
}

impl Progress {
    /// Starts the display for this number of jobs.
    #[must_use]
    pub fn new(jobs: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(jobs as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(
            "{bar:20} {pos}/{len} [{elapsed_precise}]{prefix} {wide_msg}",
        );
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Progress {
            bar,
            total: jobs,
            finished: 0,
            running: HashMap::new(),
            remarks: HashSet::new(),
            updated: Instant::now(),
        }
    }

    /// A job begins.
    pub fn started(&mut self, job: usize) {
        self.running.insert(
            job,
            Running {
                counts: Counts::default(),
                begun: Instant::now(),
            },
        );
    }

    /// A step of a job begins.
    pub fn step(&mut self, place: &Place, check: &str, case: &str) {
        self.update();
        let message = format!(
            "{} {} {}: {check} {case}",
            place.program,
            worker(place),
            place.compiler
        );
        self.bar.set_message(shown(&message).into_owned());
    }

    /// Shows a sentence about a job, if it is the first one with this text.
    pub fn remark(&mut self, place: &Place, text: &str) {
        if self.remarks.insert(text.to_owned()) {
            let line = format!("warning: {}", shown(&format!("{}: {text}", place.program)));
            self.bar.suspend(|| errln!("{line}"));
        }
    }

    /// A step of a job has ended.
    pub fn found(&mut self, job: usize, place: &Place, check: &str, case: &str, outcome: Outcome) {
        if let Some(running) = self.running.get_mut(&job) {
            running.counts.add(outcome);
        }
        if outcome == Outcome::Fail && !self.bar.is_hidden() {
            let fail = Style::new().for_stderr().red().bold().apply_to("FAIL");
            let what = format!(
                "{} [{}, {}] {check} {case}",
                place.program,
                worker(place),
                place.compiler
            );
            self.bar.println(format!("{fail} {}", shown(&what)));
        }
    }

    /// A job has ended.
    pub fn finished(&mut self, job: usize, place: &Place) {
        self.finished += 1;
        self.bar.inc(1);
        self.line(job, place);
        self.update();
    }

    /// Shows the time that is left, from time to time.
    fn update(&mut self) {
        let is_log = self.bar.is_hidden();
        let pause = if is_log { LOGGED } else { UPDATES };
        if self.updated.elapsed() < pause {
            return;
        }
        self.updated = Instant::now();
        let Some(left) = self.left() else {
            return;
        };
        if is_log {
            errln!("[{}/{}] {left}", self.finished, self.total);
        } else {
            self.bar.set_prefix(format!(" {left}"));
        }
    }

    /// The time that is left, by the jobs that have ended; `None` before the first has, and at the end.
    fn left(&self) -> Option<String> {
        let left = self.bar.eta();
        (!left.is_zero()).then(|| format!("{} left", about(left.as_secs_f64())))
    }

    /// The line about a finished job, if the output is not a terminal.
    fn line(&mut self, job: usize, place: &Place) {
        let Some(running) = self.running.remove(&job) else {
            return;
        };
        let has_line = self.total <= LINES || running.counts.failed > 0;
        if self.bar.is_hidden() && has_line {
            let Counts {
                passed,
                failed,
                expected,
                skipped,
            } = running.counts;
            let others: String = [
                (failed, "FAILED"),
                (expected, "failed as expected"),
                (skipped, "skipped"),
            ]
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!(", {count} {what}"))
            .collect();
            let job = format!("{} {} {}", place.program, worker(place), place.compiler);
            errln!(
                "[{}/{}] {}: {passed} passed{others} ({:.1} s)",
                self.finished,
                self.total,
                shown(&job),
                running.begun.elapsed().as_secs_f64()
            );
        }
    }

    /// The run has ended; removes the bar.
    pub fn close(self) {
        self.bar.finish_and_clear();
    }
}

/// The backend, with its platform or device if that is not the host.
fn worker(place: &Place) -> String {
    match place.device.as_str() {
        "" | HOST => place.backend.clone(),
        name => format!("{} ({})", place.backend, parts(name).0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::Device;
    use futhark_manifest::Backend;

    #[test]
    fn the_time_left_is_that_of_the_jobs_that_ended_for_each_other_job() {
        let place = Place::new(
            &Device::host(Backend::C),
            "a.fut".to_owned(),
            "1".to_owned(),
        );
        let mut progress = Progress::new(10_001);
        assert_eq!(progress.left(), None, "before a job has ended");
        progress.started(0);
        std::thread::sleep(Duration::from_millis(500));
        progress.finished(0, &place);
        // The bar notices the end of a job when it is drawn the next time.
        std::thread::sleep(Duration::from_millis(500));
        let left = progress.left().unwrap();
        // Half a second to a second for each, or more on a busy machine.
        let hours = left.strip_prefix("about ").unwrap();
        let hours: f64 = hours.strip_suffix(" h left").unwrap().parse().unwrap();
        assert!(hours > 1.3, "{left}");
        progress.close();
    }
}
