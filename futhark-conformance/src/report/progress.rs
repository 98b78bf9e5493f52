//! Shows the progress of a run on the standard error stream: a bar on a terminal; otherwise a line
//! for each finished job, or, if there are many, for each with a failure; and the time that is left.

use super::remaining::{Remaining, roughly};
use super::{Counts, shown};
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
    remaining: Option<Remaining>,
    begun: Instant,
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
            remaining: None,
            begun: Instant::now(),
            updated: Instant::now(),
        }
    }

    /// Also shows the time that is left.
    #[must_use]
    pub fn with_estimate(self, remaining: Remaining) -> Progress {
        Progress {
            remaining: Some(remaining),
            ..self
        }
    }

    /// The estimated seconds of the jobs that have not begun.
    #[must_use]
    pub fn of_waiting(&self) -> f64 {
        self.remaining.as_ref().map_or(0.0, Remaining::of_waiting)
    }

    /// A job begins.
    pub fn started(&mut self, job: usize) {
        if let Some(remaining) = &mut self.remaining {
            remaining.started(job, self.begun.elapsed());
        }
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
        if let Some(remaining) = &mut self.remaining {
            remaining.finished(job, self.begun.elapsed());
        }
        self.line(job, place);
        self.update();
    }

    /// Shows the time that is left, from time to time.
    fn update(&mut self) {
        let is_log = self.bar.is_hidden();
        let pause = if is_log { LOGGED } else { UPDATES };
        if self.updated.elapsed() < pause || self.finished == self.total {
            return;
        }
        self.updated = Instant::now();
        let remaining = self.remaining.as_mut();
        let left = remaining.and_then(|remaining| remaining.left(self.begun.elapsed()));
        let left = left.map_or_else(String::new, |left| format!(" about {} left", roughly(left)));
        if !is_log {
            self.bar.set_prefix(left);
        } else if !left.is_empty() {
            errln!("[{}/{}]{left}", self.finished, self.total);
        }
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
