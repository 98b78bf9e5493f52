//! Runs the jobs of a plan, judges their findings, and adds them to the reports.

use super::config::Config;
use super::plan::Plan;
use super::resume::{self, Interrupted};
use super::setup::threads;
use super::{Ended, could_not_run, usage};
use crate::cli::ReportFiles;
use crate::corpus::Corpus;
use crate::expect::Expectations;
use crate::jobs::{self, Job, Queue, Update};
use crate::pattern::CheckPattern;
use crate::protocol::RunSpec;
use crate::record::{Finding, Finished, Place, Record};
use crate::report::Counts;
use crate::report::Report;
use crate::report::files::{Format, Target, failed};
use crate::report::json::{JsonReport, Line};
use crate::report::progress::Progress;
use crate::report::{about, counted, shown};
use crate::say::errln;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
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
    let workers = threads(config.jobs);
    let mut targets = files.targets(config.json.as_deref()).map_err(usage)?;
    let scratch = plan.settings.scratch.clone();
    // A pipe gets the records at the end, because they are read again.
    let is_kept =
        |(format, target): &mut (Format, Target)| *format == Format::Json && !target.is_special;
    let kept = targets.extract_if(.., is_kept).next();
    let target = match kept {
        Some((_, target)) => target,
        None => Target::new(&scratch.path().join(RECORDS)).map_err(could_not_run)?,
    };
    let jobs = &plan.jobs;
    let interrupted = match config.resume {
        true => Interrupted::find(&target.path, &plan.header, jobs, &plan.settings.run),
        false => Ok(None),
    };
    let interrupted = interrupted.map_err(usage)?;
    let is_new = |job: &Job| {
        interrupted
            .as_ref()
            .is_none_or(|old| !old.finished.contains(&job.place))
    };
    let new = (0..jobs.len()).filter(|&number| is_new(&jobs[number]));
    let queue = Queue::new(jobs, new.collect(), config.budget.map(|time| begun + time));
    announce(&plan, queue.len(), interrupted.as_ref());
    let created = JsonReport::create(target.clone(), &plan.header);
    let mut run = Run {
        config,
        jobs,
        spec: &plan.settings.run,
        json: created.map_err(failed(&target.path)).map_err(usage)?,
        failed: None,
        expectations: &plan.expectations,
        progress: Progress::new(queue.len()),
        running: HashMap::new(),
    };
    run.begin(&plan, interrupted.as_ref())?;
    jobs::run(&queue, &plan.settings, workers, |number, update| {
        run.update(number, update);
    });
    let waiting = queue.waiting();
    let seconds = waiting.iter().map(|&number| jobs[number].seconds);
    let seconds = seconds.sum::<f64>() / workers as f64;
    run.progress.close();
    let written = match run.failed.take() {
        Some(error) => Err(error),
        None => run.json.close(true),
    };
    let mut report = Report::read([&target.path]).map_err(could_not_run)?;
    report.header = plan.header;
    report.missing.clear();
    report.baseline = plan.baseline.map(Box::new);
    let left_out = config.budget.filter(|_| !waiting.is_empty());
    report.left_out = left_out.map(|budget| {
        let budget = humantime::format_duration(budget);
        let all = counted(jobs.len(), "job");
        let seconds = about(seconds);
        format!(
            "--budget {budget} left out {} of {all} ({seconds})",
            waiting.len()
        )
    });
    report.targets = targets;
    report.failed = written.map_err(failed(&target.path)).err();
    Ok(report)
}

/// The file of the records in the folder for temporary files, if the caller wants no other.
const RECORDS: &str = "records.jsonl";

/// A run that goes on.
struct Run<'a> {
    config: &'a Config,
    jobs: &'a [Job],
    spec: &'a RunSpec,
    json: JsonReport,
    /// The first error of a write.
    failed: Option<io::Error>,
    expectations: &'a Expectations,
    progress: Progress,
    running: HashMap<usize, Running>,
}

struct Running {
    begun: Instant,
    /// A hash of the program as the job began.
    source: String,
    place: Arc<Place>,
    found: Vec<Finding>,
}

impl Run<'_> {
    /// Adds the files that are not programs, and the results of jobs that ended before the run was
    /// interrupted.
    fn begin(&mut self, plan: &Plan<'_>, interrupted: Option<&Interrupted>) -> Result<(), Ended> {
        for record in plan.skipped_files() {
            self.json.add(&record).map_err(could_not_run)?;
        }
        if let Some(interrupted) = interrupted {
            for line in interrupted.lines().map_err(could_not_run)? {
                let written = match line.map_err(could_not_run)? {
                    Line::Record(record) => self.json.add(&record),
                    Line::Finished(job) => self.json.line(&job),
                    Line::Other => Ok(()),
                };
                written.map_err(could_not_run)?;
            }
        }
        self.json.publish().map_err(could_not_run)
    }

    fn update(&mut self, number: usize, update: Update) {
        let job = &self.jobs[number];
        match update {
            Update::Started => {
                let running = Running {
                    begun: Instant::now(),
                    source: resume::hash(job, self.spec),
                    place: Arc::new(job.place.clone()),
                    found: Vec::new(),
                };
                self.running.insert(number, running);
            }
            Update::Case { check, case } => self.progress.case(&job.place, &check, &case),
            Update::Remark(text) => self.progress.remark(&job.place, &text),
            Update::Found(finding) => {
                let Some(running) = self.running.get_mut(&number) else {
                    return;
                };
                let mut record = Record {
                    place: Arc::clone(&running.place),
                    finding,
                };
                self.expectations.judge(&mut record);
                running.found.push(record.finding.clone());
                self.report(&record);
            }
            Update::Finished => self.finished(number),
        }
    }

    fn finished(&mut self, number: usize) {
        let Some(running) = self.running.remove(&number) else {
            return;
        };
        let Running {
            begun,
            source,
            place,
            found,
        } = running;
        let mut counts = Counts::default();
        found.iter().for_each(|finding| counts.add(finding.outcome));
        // If only some cases of a check ran, a missing failure proves nothing.
        if self.config.checks.iter().all(CheckPattern::is_whole) {
            for record in self.expectations.passed_checks(&place, &found) {
                counts.add(record.finding.outcome);
                self.report(&record);
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        self.progress.finished(&place, counts, seconds);
        let finished = Finished {
            place: Place::clone(&place),
            source,
            seconds,
        };
        self.write(|json| json.line(&finished));
    }

    /// Shows a record, and adds it to the reports.
    fn report(&mut self, record: &Record) {
        self.progress.found(record);
        self.write(|json| json.add(record));
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
fn announce(plan: &Plan<'_>, jobs: usize, interrupted: Option<&Interrupted>) {
    let header = &plan.header;
    let versions: Vec<&str> = (header.compilers.iter())
        .map(|compiler| compiler.version.as_str())
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
    if let Some(interrupted) = interrupted {
        let kept = counted(interrupted.finished.len(), "job");
        errln!("--resume keeps the results of {kept}");
    }
    // The page names backends without a device, too.
    for device in header.devices.iter().filter(|device| device.is_unfit()) {
        errln!("not usable: {}", shown(&device.described()));
    }
}
