//! Runs the jobs of a plan, judges their findings, and adds them to the reports.

use super::config::Config;
use super::order;
use super::plan::Plan;
use super::resume::{self, Interrupted, Line};
use super::select;
use super::setup::threads;
use super::{Ended, could_not_run, usage};
use crate::checks::device_code;
use crate::corpus::Corpus;
use crate::expect::{Expectation, Expectations};
use crate::jobs::{self, Job, Limit, Queue, Update};
use crate::pattern::CheckPattern;
use crate::protocol::RunSpec;
use crate::record::{Finding, Finished, Record};
use crate::report::Report;
use crate::report::difference::{Comparison, Compilers};
use crate::report::output::{Files, Output};
use crate::report::progress::Progress;
use crate::report::shown;
use crate::report::summary::Summary;
use crate::say::errln;
use crate::times::{Seconds, Times};
use anyhow::anyhow;
use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::time::{Duration, Instant};

/// Checks programs: finds compilers and devices, compiles each program for each of them, runs the checks
/// in child processes, and judges the results by the list of expected failures.
///
/// A program that calls this calls [`child_process`](crate::child_process) first in its `main`.
///
/// ```standalone_crate
/// use futhark_conformance::{Config, Corpus, child_process, manifest::Backend, run};
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     child_process();
/// #   if futhark_safe::compile::Compiler::find().is_err() {
/// #       return Ok(());
/// #   }
/// #   let folder = tempfile::tempdir()?;
/// #   std::env::set_current_dir(&folder)?;
/// #   std::fs::create_dir("src")?;
/// #   let text = "-- ==\n-- input { 1 } output { 3 }\nentry main (x: i32) = x + 1\n";
/// #   std::fs::write("src/a.fut", text)?;
///     let corpus = Corpus::find(["src"])?;
///     let mut config = Config::default();
///     config.machine.backends = vec![Backend::C];
/// #   config.checks = vec!["blocks".to_owned().into()];
/// #   config.work.build_dir = Some(folder.path().join("builds"));
///     let report = run(&corpus, &config)?;
///     for group in report.failures() {
///         println!("{} failed: {}", group.check, group.headline());
///     }
///     report.write_html("conformance.html")?;
/// #   assert_eq!(report.failures().len(), 1);
/// #   assert!(std::path::Path::new("conformance.html").is_file());
///     Ok(())
/// }
/// ```
///
/// Blocks until every job has ended; [`Config::budget`] and the time limit of each step,
/// [`Config::work`], bound that time. Shows the progress on the standard error stream, and prints nothing
/// else. Several runs of one process at a time are possible, but their progress is mixed up.
///
/// # Errors
/// If the configuration cannot be used; if no compiler is found; if nothing can be compiled or run; or if
/// the records cannot be written, for example because a disk is full. [`Ended`] has the exit code that
/// the program would have. A failed check is not an error; the [`Report`] has it.
pub fn run(corpus: &Corpus, config: &Config) -> Result<Report, Ended> {
    let mut report = perform(corpus, config, None)?;
    report.output.finish(true).map_err(could_not_run)?;
    Ok(report)
}

/// As [`run`], with other report files. The caller prints and finishes the reports. Without `files`,
/// the records are kept for [`Report::records`].
pub fn perform(corpus: &Corpus, config: &Config, files: Option<&Files>) -> Result<Report, Ended> {
    let begun = Instant::now();
    let mut plan = Plan::of(corpus, config)?;
    let judges = (
        mem::take(&mut plan.expectations),
        mem::take(&mut plan.times),
    );
    let workers = threads(config.jobs);
    let scratch = plan.settings.scratch.clone();
    let kept = scratch.as_ref().map(|scratch| scratch.path().join(RECORDS));
    let json = config.json.clone();
    let files = Files {
        json: match files {
            Some(_) => json,
            None => json.or(kept),
        },
        baseline: config.baseline.clone(),
        ..files.cloned().unwrap_or_default()
    };
    let interrupted = interrupted(config, &plan)?;
    let is_new = |job: &Job| interrupted.as_ref().is_none_or(|old| !old.has(job));
    let jobs = &plan.selected.jobs;
    let order = plan.selected.order.iter().copied();
    let order: Vec<usize> = order.filter(|&number| is_new(&jobs[number])).collect();
    announce(&plan, order.len(), interrupted.as_ref());
    let estimates = &plan.selected.estimates;
    let queue =
        Queue::new(order.clone(), order::groups(jobs)).limited(config.budget.map(|budget| Limit {
            until: begun + budget,
            estimates: (estimates.iter().map(|&s| Duration::from_secs_f64(s))).collect(),
        }));
    let progress = Progress::new(order.len());

    let mut run = Run::begin(config, &plan, &files, judges, progress)?;
    for record in plan.skipped_files() {
        run.output.add(&record);
    }
    if let Some(interrupted) = interrupted {
        run.keep(&interrupted)?;
    }
    jobs::run(jobs, &queue, &plan.settings, workers, |number, update| {
        run.update(number, update);
    });
    let waiting = queue.waiting();
    let seconds = waiting.iter().map(|&number| estimates[number]).sum::<f64>() / workers as f64;
    let waiting: Vec<&Job> = waiting.iter().map(|&number| &jobs[number]).collect();
    let left_out =
        (config.budget).and_then(|budget| select::left_out(budget, jobs.len(), &waiting, seconds));
    let (output, comparisons, unmatched) = run.end();
    let mut report = Report::new(output, files.json, scratch);
    report.comparisons = comparisons;
    report.unmatched = unmatched;
    report.left_out = left_out;
    Ok(report)
}

/// The file of the records in the folder for temporary files, if the caller wants no other.
const RECORDS: &str = "records.jsonl";

/// The report of the interrupted run that this one continues.
fn interrupted(config: &Config, plan: &Plan<'_>) -> Result<Option<Interrupted>, Ended> {
    let Some(json) = &config.json else {
        return match config.resume {
            true => Err(usage(anyhow!("--resume needs --json FILE"))),
            false => Ok(None),
        };
    };
    if config.resume {
        let (jobs, run) = (&plan.selected.jobs, &plan.settings.run);
        Interrupted::find(json, &plan.header, jobs, run).map_err(usage)
    } else {
        resume::forget(json).map_err(usage)?;
        Ok(None)
    }
}

/// A run that goes on.
struct Run<'a> {
    config: &'a Config,
    is_whole: bool,
    /// The devices that have only a part of their jobs.
    spared: &'a BTreeSet<String>,
    jobs: &'a [Job],
    spec: &'a RunSpec,
    output: Output,
    differences: Compilers,
    expectations: Expectations,
    progress: Progress,
    running: HashMap<usize, Running>,
    times: Times,
    /// When the times were last written.
    written: Instant,
}

struct Running {
    begun: Instant,
    seconds: Seconds,
    /// A hash of the program as the job began.
    source: String,
}

/// How often the times of jobs are written.
const INTERVAL: Duration = Duration::from_secs(60);

impl<'a> Run<'a> {
    fn begin(
        config: &'a Config,
        plan: &'a Plan<'_>,
        files: &Files,
        (expectations, times): (Expectations, Times),
        progress: Progress,
    ) -> Result<Run<'a>, Ended> {
        let header = plan.header.clone();
        let summary = Summary::new(plan.columns.clone());
        // Only a whole run has the same cases for every compiler.
        let versions = header.compilers.iter().map(|c| c.label.as_str());
        let differences = match config.is_whole(plan.corpus) {
            true => Compilers::new(versions),
            false => Compilers::default(),
        };
        Ok(Run {
            config,
            is_whole: config.is_whole(plan.corpus) && plan.selected.spared.is_empty(),
            spared: &plan.selected.spared,
            jobs: &plan.selected.jobs,
            spec: &plan.settings.run,
            output: Output::create(files, header, summary).map_err(usage)?,
            differences,
            expectations,
            progress,
            running: HashMap::new(),
            times,
            written: Instant::now(),
        })
    }

    /// Adds the results of jobs that ended before the run was interrupted.
    fn keep(&mut self, interrupted: &Interrupted) -> Result<(), Ended> {
        for job in self.jobs.iter().filter(|job| interrupted.has(job)) {
            self.expectations.visit(&job.place);
        }
        let copied = interrupted.copy(&mut |line| match line {
            Line::Record(record) => {
                self.expectations.recall(&record);
                self.output.add(&record);
                self.compare(&record);
            }
            Line::Finished(job) => {
                self.differences.finished(&job.place);
                self.output.finished(&job);
            }
        });
        copied.map_err(could_not_run)?;
        self.output.must_be_written().map_err(could_not_run)?;
        interrupted.delete().map_err(could_not_run)
    }

    fn update(&mut self, number: usize, update: Update) {
        let job = &self.jobs[number];
        match update {
            Update::Started => {
                self.progress.started(number);
                self.expectations.visit(&job.place);
                let running = Running {
                    begun: Instant::now(),
                    seconds: Seconds::default(),
                    source: resume::hash(job, self.spec),
                };
                self.running.insert(number, running);
            }
            Update::Step { check, case } => self.progress.step(&job.place, &check, &case),
            Update::Remark(text) => self.progress.remark(&job.place, &text),
            Update::Found(finding) => {
                let mut record = Record {
                    place: job.place.clone(),
                    finding,
                };
                if let Some(running) = self.running.get_mut(&number) {
                    let Finding { check, seconds, .. } = &record.finding;
                    running.seconds.add(check, *seconds);
                }
                self.expectations.judge(&mut record);
                self.report(number, &record);
            }
            Update::Finished => self.finished(number),
        }
    }

    fn finished(&mut self, number: usize) {
        let job = &self.jobs[number];
        // If only some cases of a check ran, a missing failure proves nothing.
        let whole = self.config.checks.iter().all(CheckPattern::is_whole);
        for record in self.expectations.close(&job.place).iter().filter(|_| whole) {
            self.report(number, record);
        }
        self.differences.finished(&job.place);
        self.progress.finished(number, &job.place);
        let Some(mut running) = self.running.remove(&number) else {
            return;
        };
        let seconds = running.begun.elapsed().as_secs_f64();
        running.seconds.end(seconds);
        self.times.add(&job.place, running.seconds);
        self.output.finished(&Finished {
            place: job.place.clone(),
            source: running.source,
            seconds,
        });
        if self.written.elapsed() > INTERVAL {
            // The last attempt reports an error.
            let _ = self.write_times();
            self.written = Instant::now();
        }
    }

    /// Shows a record of the job `number`, and adds it to the reports.
    fn report(&mut self, number: usize, record: &Record) {
        let Finding {
            check,
            case,
            outcome,
            ..
        } = &record.finding;
        let progress = &mut self.progress;
        progress.found(number, &record.place, check, case, *outcome);
        self.output.add(record);
        self.compare(record);
    }

    /// Adds a record to the comparison of compilers, which needs the same cases for each.
    fn compare(&mut self, record: &Record) {
        if !self.spared.contains(&record.place.device) {
            self.differences.add(record);
        }
    }

    /// Writes the times, except to a file on which the parts of a run agree.
    fn write_times(&self) -> anyhow::Result<()> {
        match (self.config.shard, &self.config.times) {
            (Some(_), Some(_)) => Ok(()),
            _ => self.times.write(),
        }
    }

    fn end(self) -> (Output, Vec<Comparison>, Vec<Expectation>) {
        let written = self.write_times();
        self.progress.close();
        if let Err(error) = written {
            let text = format!("{error:#}; the next run cannot use the times of this one");
            errln!("warning: {}", shown(&text));
        }
        // A run of only some checks or jobs cannot judge whether an entry is still needed.
        let can_judge = self.config.checks.is_empty() && self.is_whole;
        // Without `--architectures`, `device-code` has no cases.
        let has_cases = !self.config.architectures.is_empty();
        let could_match =
            |entry: &&Expectation| can_judge && (has_cases || !entry.is_for(device_code::NAME));
        let unmatched = self.expectations.unmatched().filter(could_match).cloned();
        let unmatched = unmatched.collect();
        (self.output, self.differences.end(), unmatched)
    }
}

/// Prints what the run is about to do.
fn announce(plan: &Plan<'_>, jobs: usize, interrupted: Option<&Interrupted>) {
    use crate::report::counted;
    use std::io::IsTerminal as _;
    let header = &plan.header;
    let versions: Vec<&str> = (header.compilers.iter())
        .map(|compiler| compiler.label.as_str())
        .collect();
    let usable = header.devices.iter().filter(|device| device.usable);
    let mut usable: Vec<&str> = usable.map(|device| device.backend.as_str()).collect();
    // The table shows the devices of each backend.
    usable.dedup();
    errln!(
        "{}, {}:\n  Futhark {}; {}",
        counted(plan.corpus.files().len(), "program"),
        counted(jobs, "job"),
        versions.join(", "),
        usable.join(", ")
    );
    let compilers = header.compilers.iter().chain(&header.against);
    for compiler in compilers.filter(|compiler| compiler.label != compiler.version) {
        let text = format!("{} is {}", compiler.label, compiler.path);
        errln!("{}", shown(&text));
    }
    if let Some(interrupted) = interrupted {
        let kept = counted(interrupted.len(), "job");
        errln!("--resume keeps the results of {kept}");
    }
    // Backends without a device only on a terminal; the report contains them, too.
    let is_terminal = std::io::stderr().is_terminal();
    let unusable = header.devices.iter().filter(|device| !device.usable);
    for device in unusable.filter(|device| is_terminal || device.is_unfit()) {
        errln!("not usable: {}", shown(&device.described()));
    }
}
