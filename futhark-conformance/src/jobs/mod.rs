//! The parent's side: checks a job in child processes, until every case has a result.
//!
//! Worker threads take jobs from a [`Queue`], and [`check_job`] each. `process` starts a child, waits for it, and kills
//! it. `lib.rs` lists the way of a result through the modules.
//!
//! A child announces each case (`Event::Begin`) before it starts. When a child dies, the parent
//! therefore knows the case that killed it, records it, and starts another child, which goes on with
//! the cases that have not ended ([`Earlier`]).
//!
//! | a child dies | result of the case | the next child |
//! |---|---|---|
//! | by the budget of something that later cases need (`Cases::run_quietly`) | none | goes on with the others |
//! | by the budget of a case (`Cases::run_generated`) | skipped | goes on with the others |
//! | in a case, in any other way | a failure; skipped if the case has an excuse | goes on with the others |
//! | between two cases | a failure of `lifecycle: process` | none |
//!
//! Every child runs what later cases need, such as compiling and loading. What has ended a child fails
//! in the next ones without being run, which then skip what depends on it.
//!
//! The job ends early after [`MAX_DEATHS`] or [`MAX_TIMEOUTS`]; a child skips cases with a budget after
//! [`crate::harness::cases::MAX_OVERRUNS`].

mod probe;
mod process;
mod queue;

pub use probe::probe_device;
pub use process::{GUARD, Guard, end_with_parent, wait_for_end};
pub use queue::{Queue, Shard, of_shard};

use crate::child;
use crate::devices::Device;
use crate::emulated::MISUSE_REPORTS;
use crate::expect::Expectations;
use crate::files::TemporaryFolder;
use crate::pattern::CheckPattern;
use crate::protocol::{CaseStart, Earlier, Event, JobSpec, RunSpec};
use crate::record::{CaseResult, Cause, CompilerInfo, JobId, Outcome};
use process::{Death, Process};
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// One program, on one device, with one compiler.
#[derive(Clone, Debug)]
pub struct Job {
    pub program: PathBuf,
    /// The device, which also selects the backend. On an unusable device the program is only
    /// compiled.
    pub device: Device,
    pub compiler: CompilerInfo,
    /// The job's name in reports.
    pub id: JobId,
    /// The checks to run; all checks if empty.
    pub checks: Vec<CheckPattern>,
    /// The estimated time in seconds.
    pub seconds: f64,
}

impl Job {
    /// What the build of a program depends on. All jobs that share it use the same build for comparison, and those on
    /// two devices of a backend the same library, so one of them would wait for the other.
    #[must_use]
    pub fn build(&self) -> (&str, &str) {
        (&self.id.program, &self.id.compiler)
    }
}

/// The settings of all jobs of a run. The parent needs all of them, its child processes only [`run`](Settings::run).
#[derive(Clone, Debug)]
pub struct Settings {
    /// This program, for starting child processes.
    pub executable: PathBuf,
    pub timeout: Duration,
    /// The folder for temporary files of child processes.
    pub scratch: Arc<TemporaryFolder>,
    /// The settings that are passed to child processes.
    pub run: RunSpec,
}

/// A message about a job.
#[derive(Clone, Debug)]
pub enum Update {
    /// The case with this name begins.
    Begin(String),
    /// A case has ended with this result. [`check_job`] judges it by the expected failures before it passes it on.
    End(CaseResult),
    /// Something that is neither a result nor a failure.
    Remark(String),
}

/// The number of deaths after which the program is considered broken.
const MAX_DEATHS: usize = 20;

/// The same for timeouts, which take more time.
const MAX_TIMEOUTS: usize = 5;

/// Checks a job in one child process after another, and judges its results by the list of expected failures. Passes
/// them to `send` as cases end, and last a failure for each check that was expected to fail and has not. Blocks until
/// the job has ended.
pub fn check_job(
    job: &Job,
    settings: &Settings,
    expectations: &Expectations,
    send: &mut dyn FnMut(Update),
) {
    let mut judged = Vec::new();
    let mut judge_and_send = |mut update| {
        if let Update::End(result) = &mut update {
            // Makes a failure that is listed an expected one, and a pass of a case that must fail a failure.
            expectations.judge(&job.id, result);
            judged.push(result.clone());
        }
        send(update);
    };
    let mut state = JobState::new(settings);
    let mut goes_on = true;
    while goes_on {
        let spec = JobSpec {
            program: Some(job.program.clone()),
            device: job.device.clone(),
            compiler: job.compiler.clone(),
            checks: job.checks.clone(),
            earlier: state.earlier.clone(),
            run: settings.run.clone(),
        };
        let death = match start_child(settings, &spec, settings.timeout) {
            Ok(mut process) => process.listen(&mut |event| {
                let hang = match &event {
                    Event::Begin(case) => expectations.time_limit(&job.id, &case.check, &case.case),
                    _ => None,
                };
                let limit = state.handle(event, &mut judge_and_send);
                hang.map_or(limit, |hang| hang.min(limit))
            }),
            Err(error) => Some(Death {
                cause: Cause::Error,
                message: format!("failed to start a child process: {error}"),
            }),
        };
        let (result, next) = state.child_ended(death);
        result
            .into_iter()
            .map(Update::End)
            .for_each(&mut judge_and_send);
        goes_on = next;
    }
    // If only some cases of a check ran, a missing failure proves nothing.
    if job.checks.iter().all(CheckPattern::is_whole) {
        let passed = expectations.passed_checks(&job.id, &judged);
        passed.into_iter().map(Update::End).for_each(send);
    }
}

/// What is known of a job while its child processes run.
struct JobState {
    earlier: Earlier,
    /// The case that has begun and not ended.
    case: Option<RunningCase>,
    last_event: Instant,
    /// The usual time limit of a case.
    timeout: Duration,
    deaths: usize,
    timeouts: usize,
}

impl JobState {
    fn new(settings: &Settings) -> JobState {
        JobState {
            earlier: Earlier::default(),
            case: None,
            last_event: Instant::now(),
            timeout: settings.timeout,
            deaths: 0,
            timeouts: 0,
        }
    }

    /// Handles an event of a child: passes results and the like to `judge_and_send`. Returns how long the child may
    /// take until the next event.
    fn handle(&mut self, event: Event, judge_and_send: &mut dyn FnMut(Update)) -> Duration {
        self.last_event = Instant::now();
        match event {
            Event::Begin(start) => {
                judge_and_send(Update::Begin(start.name()));
                self.case = Some(RunningCase {
                    start,
                    begun: self.last_event,
                });
            }
            Event::End(result) => {
                self.end_case();
                judge_and_send(Update::End(result));
            }
            Event::EndQuietly => self.end_case(),
            Event::Waiting => {
                judge_and_send(Update::Begin("compile: waiting for another run".to_owned()))
            }
            Event::Remark { text } => judge_and_send(Update::Remark(text)),
            Event::Device { .. } | Event::Done => {}
        }
        let budget = self.case.as_ref().and_then(|case| case.start.budget);
        budget.map_or(self.timeout, |budget| budget.min(self.timeout))
    }

    fn end_case(&mut self) {
        self.earlier
            .ended
            .extend(self.case.take().map(|case| case.start.name()));
    }

    /// After the end of a child: the result of the case that ended it, or of the job, and whether another child goes
    /// on.
    fn child_ended(&mut self, death: Option<Death>) -> (Option<CaseResult>, bool) {
        self.earlier.last_was_slow = false;
        let case = self.case.take();
        let Death { cause, message } = match (death, &case) {
            (Some(death), _) => death,
            (None, None) => return (None, false),
            // A child says that it is done after its last case.
            (None, Some(_)) => Death {
                cause: Cause::Crash,
                message: "the process ended within a case".to_owned(),
            },
        };
        let Some(case) = case else {
            let case = RunningCase::of_the_process(self.last_event);
            let message = format!("between two cases: {message}");
            return (Some(case.ended(Some(cause), message)), false);
        };
        self.earlier.ended.insert(case.start.name());
        self.earlier.fatal.insert(case.start.name());
        if cause == Cause::Timeout && case.start.budget.is_some() {
            self.earlier.overruns += 1;
            self.earlier.last_was_slow = true;
            let seconds = case.begun.elapsed().as_secs_f64();
            let message = format!(
                "too slow for this check: its generated inputs took more than {seconds:.0} s"
            );
            return (
                (!case.start.is_needed).then(|| case.ended(None, message)),
                true,
            );
        }
        self.deaths += 1;
        self.timeouts += usize::from(cause == Cause::Timeout);
        let goes_on = self.deaths < MAX_DEATHS && self.timeouts < MAX_TIMEOUTS;
        let message = match goes_on {
            true => message,
            false => format!(
                "{message}\nthe process died in {} cases: the rest was not checked",
                self.deaths
            ),
        };
        (Some(case.ended(Some(cause), message)), goes_on)
    }
}

struct RunningCase {
    start: CaseStart,
    begun: Instant,
}

impl RunningCase {
    /// The case for failures of the process itself.
    fn of_the_process(begun: Instant) -> RunningCase {
        RunningCase {
            start: CaseStart::new("lifecycle", "process"),
            begun,
        }
    }

    /// The result of the case: a failure with this cause, otherwise a skip.
    fn ended(&self, cause: Option<Cause>, message: String) -> CaseResult {
        let result = CaseResult {
            check: self.start.check.clone(),
            case: self.start.case.clone(),
            outcome: cause.map_or(Outcome::Skip, |_| Outcome::Fail),
            cause,
            message,
            seconds: self.begun.elapsed().as_secs_f64(),
        };
        result.excused(self.start.excuse.as_deref())
    }
}

/// Options of the Haskell runtime for the Futhark compiler, unless the environment has others: one thread, since other
/// jobs use the other cores, and few collections, which otherwise take a quarter of the time of a small program.
const GHCRTS: &str = "-N1 -A64m -n4m";

fn start_child(settings: &Settings, spec: &JobSpec, timeout: Duration) -> io::Result<Process> {
    let mut command = Command::new(&settings.executable);
    command.env_clear().env("GHCRTS", GHCRTS);
    command.envs(process::environment());
    let environment = spec.device.environment.iter();
    command.envs(environment.map(|(name, value)| (name, value)));
    // The emulated device reports misuse to this file, which is deleted after the process.
    let is_watched = spec.program.is_some() && spec.device.is_emulated();
    let misuse_reports = is_watched.then(|| NamedTempFile::new_in(settings.scratch.path()));
    let misuse_reports = misuse_reports.transpose()?;
    if let Some(file) = &misuse_reports {
        command.env(MISUSE_REPORTS, file.path());
    }
    command.env("TMPDIR", settings.scratch.path());
    let spec = serde_json::to_string(spec)?;
    Process::start(command.arg(child::COMMAND), &spec, misuse_reports, timeout)
}

#[cfg(test)]
pub(crate) mod tests;
