//! The program's `main`, and its subcommand `run`: plans a run, checks its jobs, and reports.
//!
//! `lib.rs` lists the way of a run through the modules. `commands` has the other subcommands, and `trials` the checks
//! as tests of `cargo test`.

mod commands;
mod config;
mod resume;
mod select;
mod setup;
mod trials;

pub use trials::test;

use crate::checks::{self, bridge};
use crate::child;
use crate::cli::{Cli, Command, Config, ReportFiles, RunArgs};
use crate::corpus::Corpus;
use crate::devices::{self, Device};
use crate::expect::Expectations;
use crate::harness::limits;
use crate::jobs::{self, Guard, Job, Queue, Settings, Update};
use crate::parallel;
use crate::pattern::CheckPattern;
use crate::record::{
    CaseResult, Cause, CompilerInfo, Finished, Header, JobId, NOWHERE, Outcome, Record,
};
use crate::report::files::{Format, Target, failed};
use crate::report::json::{JsonReport, Line, SCHEMA};
use crate::report::progress::Progress;
use crate::report::{Counts, Report, about, counted, shown, shown_lines};
use crate::say::{self, errln, outln};
use crate::toolchain;
use anyhow::anyhow;
use clap::Parser as _;
use futhark_manifest::Version;
use futhark_safe::compile::process;
use resume::Interrupted;
use select::{Choice, Times};
use setup::{find_compilers, must_compile, probe_devices, settings, threads, warn};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The program `futhark-conformance`: runs the subcommand that the arguments of this process name.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = Cli::parse().command;
    let _guard = arguments.work().map(|_| Guard::start());
    let exit = dispatch(&arguments).unwrap_or_else(|ended| ended.shown());
    match say::finish() {
        Ok(()) => exit.into(),
        Err(error) => {
            errln!("error: failed to print the results: {error}");
            Exit::CouldNotRun.into()
        }
    }
}

fn dispatch(command: &Command) -> Result<Exit, Ended> {
    if let Some(work) = command.work() {
        limits::limit_runner(work.memory);
        process::limit_time(Duration::from_secs(work.timeout));
    }
    match command {
        Command::Run(args) => run_command(args),
        Command::List(args) => commands::list(args),
        Command::Explain { check } => commands::explain(check),
        Command::Report(args) => commands::report(args),
        Command::Diff(args) => commands::diff(args),
        Command::Prepare(args) => commands::prepare(args),
        Command::Devices(args) => commands::devices(args),
        Command::Child => {
            child::main().map_err(usage)?;
            Ok(Exit::Held)
        }
        Command::Guard => {
            jobs::wait_for_end();
            Ok(Exit::Held)
        }
    }
}

/// Does the work of a child process, and ends it, if a run has started this one as such; otherwise
/// returns. A program that calls [`run()`] calls this first in its `main`: the run starts the program
/// again for each job.
pub fn child_process() {
    let command = match std::env::args_os().nth(1) {
        Some(word) if word == child::COMMAND => Command::Child,
        Some(word) if word == jobs::GUARD => Command::Guard,
        _ => return,
    };
    let exit = dispatch(&command).unwrap_or_else(|ended| ended.shown());
    std::process::exit(exit as i32);
}

/// The subcommand `run`: checks programs, and prints and writes reports.
fn run_command(args: &RunArgs) -> Result<Exit, Ended> {
    check_options(&args.config)?;
    let mut corpus = Corpus::find(&args.paths).map_err(usage)?;
    for pattern in &args.exclude {
        if corpus.exclude(pattern.clone()) == 0 {
            let text = format!("--exclude {pattern} matches no further program");
            errln!("warning: {}", shown(&text));
        }
    }
    let mut report = check_corpus(&corpus, &args.config, &args.reports)?;
    say::out(format_args!("{}", report.as_text()));
    if let Some(left_out) = &report.left_out {
        outln!("{left_out}");
    }
    report.finish().map_err(could_not_run)?;
    verdict(report.counts())
}

/// Refuses options that would have no effect, or name files that cannot be used.
fn check_options(config: &Config) -> Result<(), Ended> {
    if let Some(path) = &config.inputs.input {
        let why = match std::fs::metadata(path) {
            Ok(data) if data.is_file() => None,
            Ok(_) => Some("not a regular file".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = why {
            let path = path.display();
            return Err(usage(anyhow!("failed to read --input {path}: {why}")));
        }
    }
    let is_of_bridges = |pattern: &CheckPattern| pattern.to_string().starts_with(bridge::NAME);
    if config.bridge.is_none() && config.checks.iter().any(is_of_bridges) {
        let text = "the check bridge needs the driver of a bridge; name it by --bridge COMMAND";
        return Err(usage(anyhow!(text)));
    }
    Ok(())
}

/// Checks programs: finds compilers and devices, compiles each program for each of them, runs the checks
/// in child processes, and judges the results by the list of expected failures.
///
/// A program that calls this calls [`child_process`] first in its `main`.
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
    let mut report = check_corpus(corpus, config, &ReportFiles::default())?;
    report.finish().map_err(could_not_run)?;
    Ok(report)
}

/// Checks programs. The records are in a file when this returns: that of `--json`, or a temporary one. The caller
/// prints the report, and writes the other `files` (see `report/files.rs`) by [`Report::finish`].
fn check_corpus(corpus: &Corpus, config: &Config, files: &ReportFiles) -> Result<Report, Ended> {
    let begun = Instant::now();
    let plan = Plan::make(corpus, config)?;
    let Plan { jobs, settings, .. } = &plan;
    let workers = threads(config.jobs);
    let mut targets = files.targets(config.json.as_deref()).map_err(usage)?;
    // A pipe gets the records at the end, because they are read again.
    let is_for_records =
        |(format, target): &mut (Format, Target)| *format == Format::Json && !target.is_special;
    let target = match targets.extract_if(.., is_for_records).next() {
        Some((_, target)) => target,
        None => Target::new(&settings.scratch.path().join(RECORDS)).map_err(could_not_run)?,
    };
    let interrupted = match config.resume {
        true => Interrupted::read(&target.path, &plan.header, jobs, &settings.run),
        false => Ok(None),
    };
    let interrupted = interrupted.map_err(usage)?;
    let kept = interrupted.as_ref().map(|found| found.finished.len());
    let interrupted = interrupted.unwrap_or_default();
    let is_new = |job: &&Job| !interrupted.finished.contains(&job.id);
    let until = config.budget.map(|time| begun + time);
    let queue = Queue::new(jobs.iter().filter(is_new), until);
    let waiting = queue.waiting();
    let count = waiting.len();
    let seconds = |jobs: &[&Job]| jobs.iter().map(|job| job.seconds).sum::<f64>();
    announce(&plan, count);
    match kept {
        Some(kept) => errln!("--resume keeps the results of {}", counted(kept, "job")),
        None if config.resume => errln!("--resume: there are no results yet, so every job runs"),
        None => {}
    }
    let json = JsonReport::create(target.clone(), &plan.header);
    let mut results = Results {
        json: json.map_err(failed(&target.path)).map_err(usage)?,
        failed: None,
        progress: Progress::new(count, seconds(&waiting)),
    };
    results
        .begin(&plan, &interrupted.lines)
        .map_err(could_not_run)?;
    let results = Mutex::new(results);
    parallel::on_threads(workers.min(count), || {
        while let Some(job) = queue.take() {
            check_and_record(job, &plan, &results);
            queue.finished(job);
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.progress.close();
    let written = match results.failed {
        Some(error) => Err(error),
        None => results.json.close(true),
    };
    let waiting = queue.waiting();
    let left_out = config.budget.filter(|_| !waiting.is_empty());
    let left_out = left_out.map(|budget| {
        let budget = humantime::format_duration(budget);
        let (count, all) = (waiting.len(), counted(jobs.len(), "job"));
        let seconds = about(seconds(&waiting) / workers as f64);
        format!("--budget {budget} left out {count} of {all} ({seconds})")
    });
    // Not kept in memory during the run, and `report` shows what is in the file.
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

/// Checks a job, shows its progress, and writes its judged results as records.
fn check_and_record(job: &Job, plan: &Plan<'_>, results: &Mutex<Results>) {
    let begun = Instant::now();
    let hash = resume::hash(job, &plan.settings.run);
    let id = Arc::new(job.id.clone());
    let mut counts = Counts::default();
    let results = || results.lock().unwrap_or_else(PoisonError::into_inner);
    jobs::check_job(job, &plan.settings, &plan.expectations, &mut |update| {
        let mut results = results();
        match update {
            Update::Begin(case) => results.progress.begin(&id, &case),
            Update::Remark(text) => results.progress.remark(&id, &text),
            Update::End(result) => {
                counts.add(result.outcome);
                let job = Arc::clone(&id);
                let record = Record { job, result };
                results.progress.end(&record);
                results.write(|json| json.add(&record));
            }
        }
    });
    let seconds = begun.elapsed().as_secs_f64();
    let finished = Finished {
        job: job.id.clone(),
        source: hash,
        seconds,
    };
    let mut results = results();
    (results.progress).finished(&id, counts, job.seconds, seconds);
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
    /// Adds what belongs to no job, and the results of jobs that ended before the run was
    /// interrupted; then the file gets its name.
    fn begin(&mut self, plan: &Plan<'_>, interrupted: &[Line]) -> io::Result<()> {
        for record in plan.records_without_job() {
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

/// What a run is about to do.
struct Plan<'c> {
    /// The programs, and files that are skipped.
    corpus: &'c Corpus,
    /// The jobs, in the order in which they begin.
    jobs: Vec<Job>,
    settings: Settings,
    /// The first line of the report.
    header: Header,
    expectations: Expectations,
    baseline: Option<Report>,
}

impl<'c> Plan<'c> {
    /// Finds compilers and devices, and chooses jobs among all combinations of a program, a device and a compiler.
    /// Reads the expected failures and the baseline.
    ///
    /// `--check` filters no jobs here: a job passes the patterns to its child process, where `Cases` selects cases by
    /// them. In a quick run, `Choice::reduced` keeps jobs that together cover every construct, and each passes only the
    /// checks for which it was chosen; not of programs that PATH names as files. The same holds with `--all` on devices
    /// that are known to compute wrong results, unless `--device` is given.
    fn make(corpus: &'c Corpus, config: &Config) -> Result<Plan<'c>, Ended> {
        checks::must_exist(&config.checks).map_err(|error| usage(anyhow!(error)))?;
        if corpus.files().is_empty() {
            return Err(usage(anyhow!("--exclude leaves no program")));
        }
        let expectations = expectations(corpus, config)?;
        let mut settings = settings(&config.work)?;
        let compilers = find_compilers(&config.machine.futhark, &mut settings)?;
        let mut against = match config.against.as_slice() {
            [] => Vec::new(),
            named => toolchain::compilers(named, &mut settings.run).map_err(usage)?,
        };
        against.retain(|other| compilers.iter().all(|one| one.path != other.path));
        let baseline = config.baseline.clone();
        let baseline = baseline.map(|file| Report::read([file]));
        let baseline = baseline.transpose().map_err(usage)?;
        let times = match (&baseline, &config.json) {
            (Some(results), _) => Times::in_report(results),
            // Of the last run with the same file. The machines that run the shards of a run must agree.
            (None, Some(file)) if config.shard.is_none() => {
                let results = Report::read([file]);
                results.map_or_else(|_| Times::default(), |results| Times::in_report(&results))
            }
            (None, _) => Times::default(),
        };
        let devices = probe_devices(&config.machine, &compilers, &settings);
        must_compile(&devices)?;
        warn(&devices);
        let run = &mut settings.run;
        run.seed = config.seed;
        run.cases = config.inputs.cases;
        run.input = config.inputs.input.clone();
        run.data_folders = data_folders(corpus, config);
        run.architectures = config.architectures.clone();
        run.bridge = config.bridge.clone();
        run.compilers = compilers.iter().chain(&against).cloned().collect();
        devices::insist(config.machine.emulate, &devices).map_err(could_not_run)?;
        let devices = devices::pick(devices, &config.machine.devices).map_err(usage)?;
        // With `--backend`, only these backends were probed (`setup::probe_devices`).
        let chosen =
            devices::devices_to_run(&devices, &config.machine.backends).map_err(could_not_run)?;
        let jobs = jobs_of(corpus, &chosen, &compilers, &config.wanted_checks());
        let choice = Choice {
            corpus,
            config,
            times: &times,
            expectations: &expectations,
        };
        let jobs = choice.choose(jobs)?;
        let header = Header {
            schema: SCHEMA,
            generator: concat!("futhark-conformance ", env!("CARGO_PKG_VERSION")).to_owned(),
            seed: config.seed,
            shard: config.shard,
            against,
            options: config.options_to_repeat(),
            expectations: expectations.hash(),
            selection: config.selection(corpus),
            devices,
            compilers,
        };
        Ok(Plan {
            corpus,
            jobs,
            settings,
            header,
            expectations,
            baseline,
        })
    }

    /// One record for each file that is not a program, or cannot be read, with the reason, and for each device that fails.
    fn records_without_job(&self) -> impl Iterator<Item = Record> {
        let record = |job, case: &str, is_failure: bool, message: &str| Record {
            job: Arc::new(job),
            result: CaseResult {
                check: "compile".to_owned(),
                case: case.to_owned(),
                outcome: match is_failure {
                    true => Outcome::Fail,
                    false => Outcome::Skip,
                },
                cause: is_failure.then_some(Cause::Error),
                message: message.to_owned(),
                seconds: 0.0,
            },
        };
        let nowhere = || NOWHERE.to_owned();
        let files = self.corpus.skipped().map(move |(program, reason)| {
            let job = JobId {
                program: program.name(),
                backend: nowhere(),
                device: nowhere(),
                compiler: nowhere(),
            };
            record(job, "", program.unreadable, reason)
        });
        let compilers = self.header.compilers.iter();
        // The compiler that `jobs::probe_device` tries first.
        let newest = compilers.max_by_key(|compiler| Version::new(&compiler.version));
        let version = newest.map_or(NOWHERE, |compiler| &compiler.version);
        let failing = self.header.devices.iter().filter(|device| device.fails());
        files.chain(failing.map(move |device| {
            let job = JobId::new(device, nowhere(), version.to_owned());
            record(job, "probe", true, &device.failure)
        }))
    }
}

fn expectations(corpus: &Corpus, config: &Config) -> Result<Expectations, Ended> {
    let mut files: Vec<PathBuf> = match &config.expectations {
        Some(file) => vec![file.clone()],
        None => {
            let found = corpus.paths().iter();
            found.filter_map(|path| Expectations::find(path)).collect()
        }
    };
    files.dedup();
    let mut all = Expectations::default();
    for file in files {
        all.add(&file).map_err(usage)?;
    }
    Ok(all)
}

/// The folders with files for test blocks; any folder if there is none.
fn data_folders(corpus: &Corpus, config: &Config) -> Option<Vec<PathBuf>> {
    let folders = corpus.paths().iter().filter(|path| path.is_dir());
    let folders = folders.filter_map(|path| path.canonicalize().ok());
    (!config.allow_outside_data).then(|| folders.collect())
}

/// One job per program, device and compiler, ordered by program.
fn jobs_of(
    corpus: &Corpus,
    devices: &[Device],
    compilers: &[CompilerInfo],
    checks: &[CheckPattern],
) -> Vec<Job> {
    let mut jobs = Vec::new();
    for program in corpus.programs() {
        for device in devices {
            for compiler in compilers {
                jobs.push(Job {
                    program: program.path.clone(),
                    id: JobId::new(device, program.name(), compiler.version.clone()),
                    device: device.clone(),
                    compiler: compiler.clone(),
                    checks: checks.to_vec(),
                    seconds: 0.0,
                });
            }
        }
    }
    jobs
}

/// The exit code for the results of a run.
fn verdict(total: Counts) -> Result<Exit, Ended> {
    if total.failed > 0 {
        Ok(Exit::Failed)
    } else if total.passed + total.expected == 0 {
        Err(could_not_run(anyhow!(
            "nothing was checked: every program or check was skipped or filtered out"
        )))
    } else {
        Ok(Exit::Held)
    }
}

/// The exit codes of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Every promise held, or failed as expected.
    Held = 0,
    /// Something failed.
    Failed = 1,
    /// An option, a path or a file cannot be used.
    Usage = 2,
    /// Nothing could be run.
    CouldNotRun = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// An error that ends the program, with its exit code.
#[derive(Debug)]
pub struct Ended(pub Exit, pub anyhow::Error);

impl Ended {
    /// Prints the error.
    fn shown(&self) -> Exit {
        let Ended(exit, error) = self;
        errln!("error: {}", shown_lines(&format!("{error:#}"), ""));
        *exit
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.1, f)
    }
}

impl std::error::Error for Ended {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.1.source()
    }
}

fn usage(error: impl Into<anyhow::Error>) -> Ended {
    Ended(Exit::Usage, error.into())
}

fn could_not_run(error: impl Into<anyhow::Error>) -> Ended {
    Ended(Exit::CouldNotRun, error.into())
}
