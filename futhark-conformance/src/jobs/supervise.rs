//! Supervises one job: starts child processes until every case has a result.
//!
//! A child announces each case (`Event::Begin`) before it starts. When a child dies, the supervisor
//! therefore knows the case that killed it, records it, and starts another child, which goes on with
//! the cases that have not ended ([`Earlier`]).
//!
//! | a child dies | result of the case | the next child |
//! |---|---|---|
//! | by the budget of something that others need (`Cases::need`) | none | goes on with the others |
//! | by the budget of a case (`Cases::run_within`) | skipped | goes on with the others |
//! | in a case, in any other way | a failure | goes on with the others |
//! | between two cases | a failure of `lifecycle: process` | none |
//!
//! Every child runs what later cases need, such as compiling and loading. What has ended a child fails
//! in the next ones without being run, which then skip what depends on it.
//!
//! The job ends early after [`MAX_DEATHS`] or [`MAX_TIMEOUTS`]; a child skips cases with a budget after
//! [`crate::harness::cases::MAX_OVERRUNS`]. How a child is waited for and killed is described in
//! [`super::process`].

use super::process::{self, Death, Process};
use super::{Job, Settings, Update};
use crate::child;
use crate::devices::Device;
use crate::emulated::FINDINGS;
use crate::protocol::{CaseStart, Earlier, Event, JobSpec};
use crate::record::{CaseResult, Cause, CompilerInfo, Outcome};
use std::io;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// The number of deaths after which the program is considered broken.
const MAX_DEATHS: usize = 20;

/// The same for timeouts, which take more time.
const MAX_TIMEOUTS: usize = 5;

/// The least time limit of a probe. A device that is slow to start must still be found.
const PROBE: Duration = Duration::from_secs(60);

/// Runs a job to its end.
pub(super) fn job(job: &Job, settings: &Settings, send: &mut dyn FnMut(Update)) {
    let mut progress = Progress::new(settings);
    let mut goes_on = true;
    while goes_on {
        let spec = JobSpec {
            program: Some(job.program.clone()),
            device: job.device.clone(),
            compiler: job.compiler.clone(),
            checks: job.checks.clone(),
            earlier: progress.earlier.clone(),
            run: settings.run.clone(),
        };
        let death = match start(settings, &spec, settings.timeout) {
            Ok(mut process) => process.listen(&mut |event| progress.event(event, send)),
            Err(error) => Some(Death {
                cause: Cause::Error,
                message: format!("failed to start a child process: {error}"),
            }),
        };
        let (result, next) = progress.next(death);
        result.into_iter().map(Update::Found).for_each(&mut *send);
        goes_on = next;
    }
}

/// A case that has begun.
struct RunningCase {
    start: CaseStart,
    begun: Instant,
}

impl RunningCase {
    /// The case for failures of the process itself.
    fn of_the_process(begun: Instant) -> RunningCase {
        RunningCase {
            start: CaseStart {
                check: "lifecycle".into(),
                case: "process".into(),
                ..CaseStart::default()
            },
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

/// The progress of a job over its child processes.
struct Progress {
    earlier: Earlier,
    /// The case that has begun and not ended.
    case: Option<RunningCase>,
    last_event: Instant,
    /// The usual time limit of a case.
    timeout: Duration,
    deaths: usize,
    timeouts: usize,
}

impl Progress {
    fn new(settings: &Settings) -> Progress {
        Progress {
            earlier: Earlier::default(),
            case: None,
            last_event: Instant::now(),
            timeout: settings.timeout,
            deaths: 0,
            timeouts: 0,
        }
    }

    /// Passes an event on. Returns how long the child may take until the next one.
    fn event(&mut self, event: Event, send: &mut dyn FnMut(Update)) -> Duration {
        self.last_event = Instant::now();
        match event {
            Event::Begin(start) => {
                send(Update::Case {
                    check: start.check.clone(),
                    case: start.case.clone(),
                });
                self.case = Some(RunningCase {
                    start,
                    begun: self.last_event,
                });
            }
            Event::End(result) => {
                self.end_case();
                send(Update::Found(result));
            }
            Event::Quiet => self.end_case(),
            Event::Waiting => send(Update::Case {
                check: "compile".to_owned(),
                case: "waiting for another run".to_owned(),
            }),
            Event::Remark { text } => send(Update::Remark(text)),
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
    fn next(&mut self, death: Option<Death>) -> (Option<CaseResult>, bool) {
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
                (!case.start.is_need).then(|| case.ended(None, message)),
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

/// Compiles and runs a small program on a device. Returns it as usable, or with the reason in the words of the
/// tool that failed.
pub(super) fn probe(device: &Device, compiler: &CompilerInfo, settings: &Settings) -> Device {
    let spec = JobSpec {
        program: None,
        device: device.clone(),
        compiler: compiler.clone(),
        checks: Vec::new(),
        earlier: Earlier::default(),
        run: settings.run.clone(),
    };
    let limit = settings.timeout.max(PROBE);
    let mut tried = Device {
        reason: "the probe sent no result".to_owned(),
        ..device.clone()
    };
    let death = match start(settings, &spec, limit) {
        Ok(mut process) => process.listen(&mut |event| {
            match event {
                Event::Device { name, known_bad } => {
                    (tried.name, tried.known_bad) = (name, known_bad);
                }
                Event::End(result) => {
                    tried.usable = result.outcome == Outcome::Pass;
                    tried.reason = result.message;
                }
                _ => {}
            }
            limit
        }),
        Err(error) => Some(Death {
            cause: Cause::Error,
            message: error.to_string(),
        }),
    };
    if let Some(death) = death {
        (tried.usable, tried.reason) = (false, death.message);
    }
    if tried.usable {
        tried.reason.clear();
    }
    tried
}

/// Options of the Haskell runtime for the Futhark compiler, unless the environment has others: one thread, since other
/// jobs use the other cores, and few collections, which otherwise take a quarter of the time of a small program.
const GHCRTS: &str = "-N1 -A64m -n4m";

/// Starts a child process.
///
/// # Errors
/// If it cannot be started, or a path in the specification is not valid Unicode.
fn start(settings: &Settings, spec: &JobSpec, timeout: Duration) -> io::Result<Process> {
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
        command.env(FINDINGS, file.path());
    }
    command.env("TMPDIR", settings.scratch.path());
    let spec = serde_json::to_string(spec)?;
    Process::start(command.arg(child::COMMAND), &spec, misuse_reports, timeout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::TemporaryFolder;
    use crate::protocol::RunSpec;
    use std::sync::Arc;

    /// The name of the case of `death`.
    const PROCESS: &str = "lifecycle:process";

    fn settings() -> Settings {
        Settings {
            executable: "x".into(),
            timeout: Duration::from_secs(10),
            scratch: Arc::new(TemporaryFolder::new(&std::env::temp_dir()).unwrap()),
            run: RunSpec::default(),
        }
    }

    /// The end of a child.
    struct End {
        ended: Vec<String>,
        case: Option<RunningCase>,
        death: Death,
    }

    /// What follows the end of a child.
    fn after(progress: &mut Progress, end: End) -> (Option<CaseResult>, bool) {
        progress.earlier.ended.extend(end.ended);
        progress.case = end.case;
        progress.next(Some(end.death))
    }

    /// The death of a child in a case with this budget, after another case.
    fn death(cause: Cause, budget: Option<Duration>) -> End {
        let mut case = RunningCase::of_the_process(Instant::now());
        case.start.budget = budget;
        End {
            ended: vec!["compile".into()],
            case: Some(case),
            death: Death {
                cause,
                message: "m".into(),
            },
        }
    }

    #[test]
    fn a_crash_fails_its_case_and_the_next_child_goes_on_with_the_others() {
        let mut progress = Progress::new(&settings());
        let next = after(&mut progress, death(Cause::Crash, None));
        assert!(matches!(next, (Some(result), true) if result.message == "m"));
        assert!(progress.earlier.ended.contains("compile"));
        assert_eq!(progress.earlier.fatal, [PROCESS.to_owned()].into());
        for _ in 2..MAX_DEATHS {
            let next = after(&mut progress, death(Cause::Crash, None));
            assert!(matches!(next, (Some(_), true)));
        }
        let next = after(&mut progress, death(Cause::Crash, None));
        assert!(matches!(next, (Some(_), false)));
    }

    #[test]
    fn a_crash_with_an_excuse_is_skipped() {
        let mut end = death(Cause::Crash, None);
        end.case.as_mut().unwrap().start.excuse = Some("why".into());
        let next = after(&mut Progress::new(&settings()), end);
        let (Some(result), true) = next else { panic!() };
        assert_eq!(result.outcome, Outcome::Skip);
        assert_eq!(result.message, "why: crash: m");
    }

    #[test]
    fn a_case_that_exceeds_its_budget_is_skipped() {
        let mut progress = Progress::new(&settings());
        let end = death(Cause::Timeout, Some(Duration::from_secs(1)));
        let (Some(result), true) = after(&mut progress, end) else {
            panic!("the case has no result")
        };
        assert_eq!(result.outcome, Outcome::Skip);
        assert!(result.message.starts_with("too slow for this check"));
        let Earlier {
            fatal,
            overruns,
            last_was_slow,
            ..
        } = &progress.earlier;
        assert!(fatal.contains(PROCESS) && *overruns == 1 && *last_was_slow);
        let _ = after(&mut progress, death(Cause::Crash, None));
        assert!(!progress.earlier.last_was_slow);
    }

    #[test]
    fn a_need_that_exceeds_its_budget_is_not_a_failure() {
        let mut progress = Progress::new(&settings());
        let end = || {
            let mut end = death(Cause::Timeout, Some(Duration::from_secs(1)));
            end.case.as_mut().unwrap().start.is_need = true;
            end
        };
        assert!(matches!(after(&mut progress, end()), (None, true)));
        assert!(progress.earlier.fatal.contains(PROCESS));
    }

    #[test]
    fn a_death_between_cases_ends_the_job() {
        let mut progress = Progress::new(&settings());
        let end = End {
            case: None,
            ..death(Cause::Crash, None)
        };
        let (Some(result), false) = after(&mut progress, end) else {
            panic!("the job goes on")
        };
        assert_eq!(
            (result.check.as_str(), result.case.as_str()),
            ("lifecycle", "process")
        );
    }
}
