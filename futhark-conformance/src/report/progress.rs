//! Shows the progress of a run on the standard error stream: a bar on a terminal; otherwise a line
//! for each finished job, or, if there are many, for each with a failure, and from time to time.

use super::{Counts, about, shown};
use crate::record::{JobId, Outcome, Record};
use crate::say::errln;
use console::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// The share of the work after which the time that is left is shown: the first jobs are the slowest, and of their
/// estimates some are wrong by a multiple.
const ESTIMABLE: f64 = 0.05;

/// The number of jobs of which each has a line.
const LINES: u64 = 300;
/// The time after which a job has a line anyway.
const LINE_INTERVAL: Duration = Duration::from_secs(20);

/// The progress display of a run.
pub struct Progress {
    bar: ProgressBar,
    remarks: HashSet<String>,
    /// The estimated seconds of all jobs, and of those that have ended.
    all: f64,
    ended: f64,
    /// When the last line was printed.
    last: Instant,
}

impl Progress {
    /// Starts the display for this number of jobs, which together take this estimated time.
    #[must_use]
    pub fn new(jobs: usize, seconds: f64) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(jobs as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(
            "{bar:20} {pos}/{len} [{elapsed_precise}{prefix}] {wide_msg}",
        );
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Progress {
            bar,
            remarks: HashSet::new(),
            all: seconds,
            ended: 0.0,
            last: Instant::now(),
        }
    }

    /// A case of a job begins.
    pub fn begin(&mut self, job: &JobId, case: &str) {
        let message = format!("{job}: {case}");
        self.bar.set_message(shown(&message).into_owned());
    }

    /// Shows a sentence about a job, if it is the first one with this text.
    pub fn remark(&mut self, job: &JobId, text: &str) {
        if self.remarks.insert(text.to_owned()) {
            let line = format!("warning: {}", shown(&format!("{}: {text}", job.program)));
            self.bar.suspend(|| errln!("{line}"));
        }
    }

    /// A case of a job has ended.
    pub fn end(&mut self, Record { job, result }: &Record) {
        if result.outcome == Outcome::Fail && !self.bar.is_hidden() {
            let fail = Style::new().for_stderr().red().bold().apply_to("FAIL");
            let what = format!("{job}: {} {}", result.check, result.case);
            self.bar.println(format!("{fail} {}", shown(&what)));
        }
    }

    /// A job has ended with these results: a line for it, if the output is not a terminal.
    pub fn finished(&mut self, job: &JobId, counts: Counts, estimate: f64, seconds: f64) {
        self.bar.inc(1);
        self.ended += estimate;
        let left = match self.ended / self.all {
            share @ ESTIMABLE..1.0 => {
                let left = self.bar.elapsed().as_secs_f64() * (1.0 / share - 1.0);
                format!(", {} left", about(left))
            }
            _ => String::new(),
        };
        self.bar.set_prefix(left.clone());
        let all = self.bar.length().unwrap_or_default();
        let has_line = all <= LINES || counts.failed > 0 || self.last.elapsed() > LINE_INTERVAL;
        if !self.bar.is_hidden() || !has_line {
            return;
        }
        self.last = Instant::now();
        let line = format!("{job}: {}", counts.words());
        let done = self.bar.position();
        errln!("[{done}/{all}] {} ({seconds:.1} s{left})", shown(&line));
    }

    /// The run has ended; removes the bar.
    pub fn close(self) {
        self.bar.finish_and_clear();
    }
}
