//! Runs the jobs of a plan, judges their results, and adds them to the reports.

use super::plan::Plan;
use super::resume::{self, Interrupted};
use super::setup::threads;
use super::{Ended, could_not_run, usage};
use crate::cli::{Config, ReportFiles};
use crate::corpus::Corpus;
use crate::jobs::{self, Job, Queue, Update};
use crate::record::{Finished, Record};
use crate::report::files::{Format, Target, failed};
use crate::report::json::{JsonReport, Line};
use crate::report::progress::Progress;
use crate::report::{Counts, Report, about, counted, shown};
use crate::say::errln;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

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
///         println!("{}: {}", group.heading(), group.headline());
///     }
///     report.write_html("conformance.html")?;
/// #   assert_eq!(report.failures().len(), 1);
/// #   assert!(std::path::Path::new("conformance.html").is_file());
///     Ok(())
/// }
/// ```
///
/// Blocks until every job has ended; [`Config::budget`] and the time limit of each case,
/// [`Config::work`], bound that time. Shows the progress on the standard error stream, and prints nothing
/// else. Several runs of one process at a time are possible, but their progress is mixed up.
///
/// # Errors
/// If the configuration cannot be used; if no compiler is found; if nothing can be compiled or run; or if
/// the records cannot be written, for example because a disk is full. [`Ended`] has the exit code that
/// the program would have. A failed check is not an error; the [`Report`] has it.
pub fn run(corpus: &Corpus, config: &Config) -> Result<Report, Ended> {
    let mut report = perform(corpus, config, &ReportFiles::default())?;
    report.finish().map_err(could_not_run)?;
    Ok(report)
}

/// As [`run`], with other report files. The caller prints and finishes the reports.
pub fn perform(corpus: &Corpus, config: &Config, files: &ReportFiles) -> Result<Report, Ended> {
    let begun = Instant::now();
    let plan = Plan::of(corpus, config)?;
    let Plan { jobs, settings, .. } = &plan;
    let workers = threads(config.jobs);
    let mut targets = files.targets(config.json.as_deref()).map_err(usage)?;
    // A pipe gets the records at the end, because they are read again.
    let is_kept =
        |(format, target): &mut (Format, Target)| *format == Format::Json && !target.is_special;
    let kept = targets.extract_if(.., is_kept).next();
    let target = match kept {
        Some((_, target)) => target,
        None => Target::new(&settings.scratch.path().join(RECORDS)).map_err(could_not_run)?,
    };
    let interrupted = match config.resume {
        true => Interrupted::read(&target.path, &plan.header, jobs, &settings.run),
        false => Ok(Interrupted::default()),
    };
    let interrupted = interrupted.map_err(usage)?;
    let is_new = |job: &&Job| !interrupted.finished.contains(&job.id);
    let until = config.budget.map(|time| begun + time);
    let queue = Queue::new(jobs.iter().filter(is_new), until);
    let count = queue.waiting().len();
    announce(&plan, count);
    if config.resume {
        let kept = counted(interrupted.finished.len(), "job");
        errln!("--resume keeps the results of {kept}");
    }
    let json = JsonReport::create(target.clone(), &plan.header);
    let mut results = Results {
        json: json.map_err(failed(&target.path)).map_err(usage)?,
        failed: None,
        progress: Progress::new(count),
    };
    results
        .begin(&plan, &interrupted.lines)
        .map_err(could_not_run)?;
    let results = Mutex::new(results);
    queue.run(workers, |job| check(job, &plan, &results));
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.progress.close();
    let written = match results.failed {
        Some(error) => Err(error),
        None => results.json.close(true),
    };
    let waiting = queue.waiting();
    let left_out = config.budget.filter(|_| !waiting.is_empty());
    let left_out = left_out.map(|budget| {
        let seconds = waiting.iter().map(|job| job.seconds).sum::<f64>() / workers as f64;
        let budget = humantime::format_duration(budget);
        let all = counted(jobs.len(), "job");
        let seconds = about(seconds);
        format!(
            "--budget {budget} left out {} of {all} ({seconds})",
            waiting.len()
        )
    });
    let mut report = Report::read([&target.path]).map_err(could_not_run)?;
    report.header = plan.header;
    report.missing.clear();
    report.baseline = plan.baseline.map(Box::new);
    report.left_out = left_out;
    report.targets = targets;
    report.failed = written.map_err(failed(&target.path)).err();
    Ok(report)
}

/// The file of the records in the folder for temporary files, if the caller wants no other.
const RECORDS: &str = "records.jsonl";

/// Checks a job, and writes its results.
fn check(job: &Job, plan: &Plan<'_>, results: &Mutex<Results>) {
    let begun = Instant::now();
    let source = resume::hash(job, &plan.settings.run);
    let id = Arc::new(job.id.clone());
    let mut counts = Counts::default();
    let results = || results.lock().unwrap_or_else(PoisonError::into_inner);
    jobs::check(job, &plan.settings, &plan.expectations, &mut |update| {
        let mut results = results();
        match update {
            Update::Case { check, case } => results.progress.case(&id, &check, &case),
            Update::Remark(text) => results.progress.remark(&id, &text),
            Update::Found(result) => {
                counts.add(result.outcome);
                let job = Arc::clone(&id);
                let record = Record { job, result };
                results.progress.found(&record);
                results.write(|json| json.add(&record));
            }
        }
    });
    let seconds = begun.elapsed().as_secs_f64();
    let finished = Finished {
        job: job.id.clone(),
        source,
        seconds,
    };
    let mut results = results();
    results.progress.finished(&id, counts, seconds);
    results.write(|json| json.line(&finished));
}

/// The results of a run that goes on.
struct Results {
    json: JsonReport,
    /// The first error of a write.
    failed: Option<io::Error>,
    progress: Progress,
}

impl Results {
    /// Adds the files that are not programs, and the results of jobs that ended before the run was
    /// interrupted.
    fn begin(&mut self, plan: &Plan<'_>, interrupted: &[Line]) -> io::Result<()> {
        for record in plan.skipped_files() {
            self.json.add(&record)?;
        }
        for line in interrupted {
            match line {
                Line::Record(record) => self.json.add(record)?,
                other => self.json.line(other)?,
            }
        }
        self.json.publish()
    }

    /// Writes a line. Warns of the first error. After it, the last line may be incomplete, and none may
    /// follow it.
    fn write(&mut self, line: impl FnOnce(&mut JsonReport) -> io::Result<()>) {
        if self.failed.is_some() {
            return;
        }
        if let Err(error) = line(&mut self.json) {
            let text = format!("failed to write the results: {error}");
            errln!("warning: {}", shown(&text));
            self.failed = Some(error);
        }
    }
}

/// Prints what the run is about to do.
fn announce(plan: &Plan<'_>, jobs: usize) {
    let header = &plan.header;
    let compilers = header.compilers.iter();
    let versions: Vec<&str> = compilers.map(|one| one.version.as_str()).collect();
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
    // The page names backends without a device, too.
    for device in header.devices.iter().filter(|device| device.is_unfit()) {
        errln!("not usable: {}", shown(&device.described()));
    }
}
