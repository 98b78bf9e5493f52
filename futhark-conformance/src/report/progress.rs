//! Shows the progress of a run on the standard error stream: a bar on a terminal; otherwise a line
//! for each finished job, or, if there are many, for each with a failure; and the time that is left.

use super::{Counts, about, shown};
use crate::devices::{HOST, parts};
use crate::record::{Outcome, Place, Record};
use crate::say::errln;
use console::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// The number of jobs of which each has a line.
const LINES: u64 = 300;
/// The time between two updates of the time that is left, on a terminal and in a log.
const UPDATES: Duration = Duration::from_secs(1);
const LOGGED: Duration = Duration::from_secs(20);

/// The progress display of a run.
pub struct Progress {
    bar: ProgressBar,
    /// The results of each job that runs.
    running: HashMap<usize, Counts>,
    remarks: HashSet<String>,
    updated: Instant,
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
            running: HashMap::new(),
            remarks: HashSet::new(),
            updated: Instant::now(),
        }
    }

    /// A step of a job begins.
    pub fn step(&mut self, place: &Place, check: &str, case: &str) {
        self.update();
        let message = format!("{}: {check} {case}", described(place));
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
    pub fn found(&mut self, job: usize, Record { place, finding }: &Record) {
        self.running.entry(job).or_default().add(finding.outcome);
        if finding.outcome == Outcome::Fail && !self.bar.is_hidden() {
            let fail = Style::new().for_stderr().red().bold().apply_to("FAIL");
            let what = format!("{}: {} {}", described(place), finding.check, finding.case);
            self.bar.println(format!("{fail} {}", shown(&what)));
        }
    }

    /// A job has ended: a line for it, if the output is not a terminal.
    pub fn finished(&mut self, job: usize, place: &Place, seconds: f64) {
        self.bar.inc(1);
        let Counts {
            passed,
            failed,
            expected,
            skipped,
        } = self.running.remove(&job).unwrap_or_default();
        let has_line = self.bar.length() <= Some(LINES) || failed > 0;
        if self.bar.is_hidden() && has_line {
            let others: String = [
                (failed, "FAILED"),
                (expected, "failed as expected"),
                (skipped, "skipped"),
            ]
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!(", {count} {what}"))
            .collect();
            let job = described(place);
            errln!(
                "{} {}: {passed} passed{others} ({seconds:.1} s)",
                self.place(),
                shown(&job)
            );
        }
        self.update();
    }

    /// `[3/12]`
    fn place(&self) -> String {
        let all = self.bar.length().unwrap_or_default();
        format!("[{}/{all}]", self.bar.position())
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
            errln!("{} {left}", self.place());
        } else {
            self.bar.set_prefix(format!(" {left}"));
        }
    }

    /// The time that is left, by the jobs that have ended; `None` before the first has, and at the end.
    fn left(&self) -> Option<String> {
        let left = self.bar.eta();
        (!left.is_zero()).then(|| format!("{} left", about(left.as_secs_f64())))
    }

    /// The run has ended; removes the bar.
    pub fn close(self) {
        self.bar.finish_and_clear();
    }
}

/// Program, backend and compiler, with the platform or the device if that is not the host.
fn described(place: &Place) -> String {
    let Place {
        program,
        backend,
        device,
        compiler,
    } = place;
    match device.as_str() {
        "" | HOST => format!("{program} {backend} {compiler}"),
        name => format!("{program} {backend} ({}) {compiler}", parts(name).0),
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
        std::thread::sleep(Duration::from_millis(500));
        progress.finished(0, &place, 0.5);
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
