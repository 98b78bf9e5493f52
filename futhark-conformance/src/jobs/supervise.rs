//! Supervises one job: starts child processes until every case has a result.
//!
//! A child announces each case (`Event::Begin`) before it starts. When a child dies, the supervisor
//! therefore knows the case that killed it, records it, and starts another child, which goes on with
//! the cases that have not ended ([`Earlier`]).
//!
//! | a child dies | result of the case | the next child |
//! |---|---|---|
//! | by the budget of something that others need (`Steps::need`) | none | goes on with the others |
//! | by the budget of a case (`Steps::run_within`) | skipped | goes on with the others |
//! | by the time limit of an expected failure | a failure | goes on with the others |
//! | by the usual time limit, in unoptimised C | none | repeats the case in optimised code |
//! | in a case, in any other way | a failure | goes on with the others |
//! | between two cases | a failure of `lifecycle: process` | none |
//!
//! Every child runs what later cases need, such as compiling and loading. What has ended a child fails
//! in the next ones without being run, which then skip what depends on it.
//!
//! The job ends early after [`MAX_DEATHS`] or [`MAX_TIMEOUTS`]; a child omits cases with a budget after
//! [`crate::harness::steps::MAX_OVERRUNS`]. How a child is waited for and killed is described in
//! [`super::process`].

use super::process::{Death, Process};
use super::{Job, Settings, Update, environment};
use crate::child;
use crate::devices::Device;
use crate::emulated::FINDINGS;
use crate::expect::Expectations;
use crate::protocol::{Earlier, Event, JobSpec, RunSpec};
use crate::record::{Cause, CompilerInfo, Finding, Outcome, name};
use std::io;
use std::ops::ControlFlow::{self, Break, Continue};
use std::path::{Path, PathBuf};
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
    // The emulated device reports misuse to this file, which is deleted after the job.
    let is_emulated = job.device.is_emulated();
    let findings = is_emulated.then(|| NamedTempFile::new_in(settings.scratch.path()));
    let findings = match findings.transpose() {
        Ok(file) => file,
        Err(error) => {
            let message = format!("failed to create a file for the emulated device: {error}");
            let case = Case::of_the_process(Instant::now());
            send(Update::Found(failure(&case, Cause::Error, message)));
            return;
        }
    };
    let findings = findings.as_ref().map(NamedTempFile::path);
    let mut progress = Progress::new(settings);
    loop {
        let spec = JobSpec {
            program: Some(job.program.clone()),
            device: job.device.clone(),
            compiler: PathBuf::from(&job.compiler.path),
            checks: job.checks.clone(),
            earlier: progress.earlier.clone(),
            run: RunSpec {
                optimise: progress.optimise,
                ..settings.run.clone()
            },
        };
        let death = match start(settings, &spec, findings, settings.timeout) {
            Ok(mut process) => process.listen(&mut |event| progress.event(event, job, send)),
            Err(error) => Some(Death {
                cause: Cause::Error,
                message: format!("failed to start a child process: {error}"),
            }),
        };
        let next = progress.next(death, job);
        if let Break(Some(finding)) | Continue(Some(finding)) = &next {
            send(Update::Found(finding.clone()));
        }
        if next.is_break() {
            return;
        }
    }
}

/// A case that has begun.
struct Case {
    check: String,
    case: String,
    begun: Instant,
    /// The case's own time limit. A case that exceeds it is not a failure.
    budget: Option<Duration>,
    /// Whether later cases need it.
    is_need: bool,
    /// Why a failure is possible, and no finding.
    excuse: Option<String>,
    /// The time after which the case has failed as expected.
    hang: Option<Duration>,
}

impl Case {
    /// The case for failures of the process itself.
    fn of_the_process(begun: Instant) -> Case {
        Case {
            check: "lifecycle".into(),
            case: "process".into(),
            begun,
            budget: None,
            is_need: false,
            excuse: None,
            hang: None,
        }
    }

    fn name(&self) -> String {
        name(&self.check, &self.case)
    }

    /// The case's time limit, if that of others is `usual`, and whether the case was expected to
    /// exceed it.
    fn time_limit(&self, usual: Duration) -> (Duration, bool) {
        let usual = self.budget.map_or(usual, |budget| budget.min(usual));
        match self.hang {
            Some(hang) if hang < usual => (hang, true),
            _ => (usual, false),
        }
    }
}

/// What follows the end of a child: another child goes on, or the job ends; with the result of the case that
/// ended the child, or of the job.
type Next = ControlFlow<Option<Finding>, Option<Finding>>;

/// The progress of a job over its child processes.
struct Progress<'a> {
    earlier: Earlier,
    /// The case that has begun and not ended.
    case: Option<Case>,
    last_event: Instant,
    /// The usual time limit of a case.
    timeout: Duration,
    /// The time limits of expected hangs.
    hangs: &'a Expectations,
    /// Whether the next child uses optimised code.
    optimise: bool,
    /// The case that the next child repeats in optimised code, and the message of its failure.
    repeated: Option<(Case, String)>,
    /// Whether optimised code cannot be compiled within the time limit.
    is_stuck: bool,
    deaths: usize,
    timeouts: usize,
}

impl<'a> Progress<'a> {
    fn new(settings: &'a Settings) -> Progress<'a> {
        Progress {
            earlier: Earlier::default(),
            case: None,
            last_event: Instant::now(),
            timeout: settings.timeout,
            hangs: &settings.hangs,
            optimise: settings.run.optimise,
            repeated: None,
            is_stuck: false,
            deaths: 0,
            timeouts: 0,
        }
    }

    /// Passes an event on. Returns how long the child may take until the next one.
    fn event(&mut self, event: Event, job: &Job, send: &mut dyn FnMut(Update)) -> Duration {
        self.last_event = Instant::now();
        match event {
            Event::Begin {
                check,
                case,
                budget,
                is_need,
                excuse,
            } => {
                let hang = self.hangs.time_limit(&job.place, &check, &case);
                send(Update::Case {
                    check: check.clone(),
                    case: case.clone(),
                });
                self.case = Some(Case {
                    check,
                    case,
                    begun: self.last_event,
                    budget,
                    is_need,
                    excuse,
                    hang: hang.filter(|_| !is_need),
                });
            }
            Event::End(finding) => {
                self.end_case();
                send(Update::Found(finding));
            }
            Event::Quiet => self.end_case(),
            Event::Waiting => send(Update::Case {
                check: "compile".to_owned(),
                case: "waiting for another run".to_owned(),
            }),
            Event::Remark { text } => send(Update::Remark(text)),
            Event::Device { .. } | Event::Done => {}
        }
        let limit = self.case.as_ref().map(|case| case.time_limit(self.timeout));
        limit.map_or(self.timeout, |(limit, _)| limit)
    }

    fn end_case(&mut self) {
        self.earlier
            .ended
            .extend(self.case.take().map(|case| case.name()));
    }

    /// Decides how the job continues after the end of a child.
    fn next(&mut self, death: Option<Death>, job: &Job) -> Next {
        let case = self.case.take();
        let mut death = match (death, &case) {
            (Some(death), _) => death,
            (None, None) => return Break(None),
            // A child says that it is done after its last case.
            (None, Some(_)) => Death {
                cause: Cause::Crash,
                message: "the process ended within a case".to_owned(),
            },
        };
        self.earlier.last_was_slow = false;
        let Some(case) = case else {
            let case = Case::of_the_process(self.last_event);
            let message = format!("between two cases: {}", death.message);
            return Break(Some(failure(&case, death.cause, message)));
        };
        let timed_out = death.cause == Cause::Timeout;
        // A child with optimised code ended before the case that it was to repeat.
        let is_still_ahead = |other: &Case| {
            let name = other.name();
            name != case.name() && !self.earlier.ended.contains(&name)
        };
        let repeated = self.repeated.take();
        if let Some((repeated, first)) = repeated.filter(|(other, _)| is_still_ahead(other)) {
            self.optimise = false;
            self.is_stuck = true;
            let message = format!(
                "{first}\nin optimised code, {} fails: {}",
                case.check, death.message
            );
            let cause = Cause::Timeout;
            return self.failed(&repeated, Death { cause, message }, false);
        }
        let (limit, is_expected) = case.time_limit(self.timeout);
        // The code is not at fault, so it is not repeated with optimisation.
        if timed_out && is_expected {
            death.message = format!(
                "no answer within {} s, the time limit of this expected failure; killed",
                limit.as_secs()
            );
            if self.hangs.has_whole_limit(&job.place, &case.check) {
                self.earlier.hung.push(case.check.clone());
            }
            return self.failed(&case, death, true);
        }
        if timed_out && case.budget.is_some() {
            self.has_died_in(&case);
            self.earlier.overruns += 1;
            self.earlier.last_was_slow = true;
            return Continue((!case.is_need).then(|| too_slow(&case)));
        }
        // Kernels of GPU backends are always optimised, and so is the Futhark compiler. Loading runs
        // no code of the program.
        let runs_code = case.check != "compile" && case.case != "load";
        let is_slow_code = runs_code && !job.device.backend.is_gpu();
        if timed_out && !self.optimise && !self.is_stuck && is_slow_code {
            self.optimise = true;
            self.repeated = Some((case, death.message));
            return Continue(None);
        }
        self.failed(&case, death, false)
    }

    /// What follows a case that has failed by ending a child.
    fn failed(&mut self, case: &Case, death: Death, is_expected: bool) -> Next {
        let Death { cause, message } = death;
        self.has_died_in(case);
        self.deaths += 1;
        // An expected hang took little time.
        self.timeouts += usize::from(cause == Cause::Timeout && !is_expected);
        if self.deaths == MAX_DEATHS || self.timeouts == MAX_TIMEOUTS {
            let message = format!(
                "{message}\nthe process died in {} cases: the rest was not checked",
                self.deaths
            );
            return Break(Some(failure(case, cause, message)));
        }
        Continue(Some(failure(case, cause, message)))
    }

    fn has_died_in(&mut self, case: &Case) {
        self.earlier.ended.insert(case.name());
        self.earlier.fatal.insert(case.name());
    }
}

/// The finding for a case that exceeded its budget.
fn too_slow(case: &Case) -> Finding {
    let seconds = case.begun.elapsed().as_secs_f64();
    Finding {
        check: case.check.clone(),
        case: case.case.clone(),
        outcome: Outcome::Skip,
        cause: None,
        message: format!(
            "too slow for this check: its generated inputs took more than {seconds:.0} s"
        ),
        seconds,
    }
}

fn failure(case: &Case, cause: Cause, message: String) -> Finding {
    let finding = Finding {
        check: case.check.clone(),
        case: case.case.clone(),
        outcome: Outcome::Fail,
        cause: Some(cause),
        message,
        seconds: case.begun.elapsed().as_secs_f64(),
    };
    finding.excused(case.excuse.as_deref())
}

/// Compiles and runs a small program on a device. Returns it as usable, or with the reason in the words of the
/// tool that failed.
pub(super) fn probe(device: &Device, compiler: &CompilerInfo, settings: &Settings) -> Device {
    let spec = JobSpec {
        program: None,
        device: device.clone(),
        compiler: PathBuf::from(&compiler.path),
        checks: Vec::new(),
        earlier: Earlier::default(),
        run: settings.run.clone(),
    };
    let mut device = device.clone();
    let limit = settings.timeout.max(PROBE);
    let mut process = match start(settings, &spec, None, limit) {
        Ok(process) => process,
        Err(error) => {
            device.reason = error.to_string();
            return device;
        }
    };
    let mut reason = "the probe sent no result".to_owned();
    let death = process.listen(&mut |event| {
        match event {
            Event::Device { name, known_bad } => {
                (device.name, device.known_bad) = (name, known_bad);
            }
            Event::End(finding) => {
                device.usable = finding.outcome == Outcome::Pass;
                reason = finding.message;
            }
            _ => {}
        }
        limit
    });
    if let Some(death) = death {
        (device.usable, reason) = (false, death.message);
    }
    if !device.usable {
        device.reason = reason;
    }
    device
}

/// Starts a child process. The emulated device reports misuse to `findings`.
///
/// # Errors
/// If a path in the specification is not valid Unicode.
fn start(
    settings: &Settings,
    spec: &JobSpec,
    findings: Option<&Path>,
    timeout: Duration,
) -> io::Result<Process> {
    let mut command = Command::new(&settings.executable);
    command.env_clear().envs(environment::passed());
    let environment = spec.device.environment.iter();
    command.envs(environment.map(|(name, value)| (name, value)));
    if let Some(file) = findings {
        command.env(FINDINGS, file);
    }
    command.env("TMPDIR", settings.scratch.path());
    let spec = serde_json::to_string(spec)?;
    Process::start(command.arg(child::COMMAND), &spec, timeout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Place;
    use crate::scratch::Scratch;
    use futhark_manifest::Backend;
    use std::sync::Arc;

    /// The name of the case of `death`.
    const PROCESS: &str = "lifecycle:process";

    fn job_on(backend: Backend) -> Job {
        let device = Device::host(backend);
        Job {
            program: "a.fut".into(),
            place: Place::new(&device, "a.fut".into(), "1".into()),
            device,
            compiler: CompilerInfo::new("1", "futhark"),
            checks: Vec::new(),
            seconds: 1.0,
        }
    }

    fn settings() -> Settings {
        Settings {
            executable: "x".into(),
            timeout: Duration::from_secs(10),
            hangs: Arc::default(),
            scratch: Arc::new(Scratch::new().unwrap()),
            run: RunSpec::new("x".into()),
        }
    }

    /// The end of a child.
    struct End {
        ended: Vec<String>,
        case: Option<Case>,
        death: Death,
    }

    /// What follows the end of a child.
    fn after(progress: &mut Progress<'_>, end: End, job: &Job) -> Next {
        progress.earlier.ended.extend(end.ended);
        progress.case = end.case;
        progress.next(Some(end.death), job)
    }

    /// The death of a child in a case with this budget, after another case.
    fn death(cause: Cause, budget: Option<Duration>) -> End {
        let mut case = Case::of_the_process(Instant::now());
        case.budget = budget;
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
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let next = after(&mut progress, death(Cause::Crash, None), &job);
        assert!(matches!(next, Continue(Some(finding)) if finding.message == "m"));
        assert!(progress.earlier.ended.contains("compile"));
        assert_eq!(progress.earlier.fatal, [PROCESS.to_owned()].into());
        for _ in 2..MAX_DEATHS {
            let next = after(&mut progress, death(Cause::Crash, None), &job);
            assert!(matches!(next, Continue(Some(_))));
        }
        let next = after(&mut progress, death(Cause::Crash, None), &job);
        assert!(matches!(next, Break(Some(_))));
    }

    #[test]
    fn a_crash_with_an_excuse_is_skipped() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut end = death(Cause::Crash, None);
        end.case.as_mut().unwrap().excuse = Some("why".into());
        let next = after(&mut Progress::new(&settings), end, &job);
        let Continue(Some(finding)) = next else {
            panic!()
        };
        assert_eq!(finding.outcome, Outcome::Skip);
        assert_eq!(finding.message, "why: crash: m");
    }

    #[test]
    fn a_case_that_exceeds_its_budget_is_skipped() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let end = death(Cause::Timeout, Some(Duration::from_secs(1)));
        let Continue(Some(finding)) = after(&mut progress, end, &job) else {
            panic!("the case has no result")
        };
        assert_eq!(finding.outcome, Outcome::Skip);
        assert!(finding.message.starts_with("too slow for this check"));
        let Earlier {
            fatal,
            overruns,
            last_was_slow,
            ..
        } = &progress.earlier;
        assert!(fatal.contains(PROCESS) && *overruns == 1 && *last_was_slow);
        let _ = after(&mut progress, death(Cause::Crash, None), &job);
        assert!(!progress.earlier.last_was_slow);
    }

    #[test]
    fn a_timeout_is_repeated_in_optimised_code_before_it_is_a_failure() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let next = after(&mut progress, death(Cause::Timeout, None), &job);
        assert!(matches!(next, Continue(None)));
        assert!(!progress.earlier.ended.contains(PROCESS));
        assert!(progress.optimise);
        let next = after(&mut progress, death(Cause::Timeout, None), &job);
        assert!(matches!(next, Continue(Some(_))));

        let mut progress = Progress::new(&settings);
        let next = after(
            &mut progress,
            death(Cause::Timeout, None),
            &job_on(Backend::OpenCl),
        );
        assert!(matches!(next, Continue(Some(_))), "kernels are optimised");
    }

    #[test]
    fn an_expected_hang_is_not_repeated_and_does_not_end_the_job() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let hang = || {
            let mut end = death(Cause::Timeout, None);
            end.case.as_mut().unwrap().hang = Some(Duration::from_secs(1));
            end
        };
        for _ in 0..=MAX_TIMEOUTS {
            let next = after(&mut progress, hang(), &job);
            let Continue(Some(finding)) = next else {
                panic!("not resumed")
            };
            assert_eq!(finding.cause, Some(Cause::Timeout));
        }
        assert!(!progress.optimise && progress.earlier.ended.contains(PROCESS));
        // Also with a budget.
        let mut end = hang();
        end.case.as_mut().unwrap().budget = Some(Duration::from_secs(3));
        let next = after(&mut progress, end, &job);
        assert!(matches!(next, Continue(Some(finding)) if finding.outcome == Outcome::Fail));
    }

    /// The death of a child in this case.
    fn death_in(check: &str, name: &str) -> End {
        let mut end = death(Cause::Timeout, None);
        let case = end.case.as_mut().unwrap();
        (case.check, case.case) = (check.into(), name.into());
        end
    }

    #[test]
    fn compiling_and_loading_are_not_repeated_after_a_timeout() {
        let (job, settings) = (job_on(Backend::C), settings());
        for (check, case) in [("compile", ""), ("lifecycle", "load")] {
            let mut progress = Progress::new(&settings);
            let next = after(&mut progress, death_in(check, case), &job);
            assert!(matches!(next, Continue(Some(_))), "{check} {case}");
            assert!(progress.earlier.fatal.contains(&name(check, case)));
        }
    }

    #[test]
    fn a_case_keeps_its_own_failure_if_its_optimised_code_does_not_compile() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let next = after(&mut progress, death(Cause::Timeout, None), &job);
        assert!(matches!(next, Continue(None)));
        let next = after(&mut progress, death_in("compile", ""), &job);
        let Continue(Some(finding)) = next else {
            panic!()
        };
        assert_eq!(finding.check, "lifecycle", "the case that took too long");
        assert!(finding.message.contains("in optimised code, compile fails"));
        assert_eq!(progress.earlier.fatal, [PROCESS.to_owned()].into());
        assert!(!progress.optimise);
        // The next slow case is not repeated.
        let next = after(&mut progress, death_in("blocks", "f #0"), &job);
        assert!(matches!(next, Continue(Some(finding)) if finding.check == "blocks"));
    }

    #[test]
    fn a_case_that_passes_in_optimised_code_is_not_blamed_for_a_later_death() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let _ = after(&mut progress, death(Cause::Timeout, None), &job);
        let mut end = death_in("blocks", "f #0");
        end.ended.push(PROCESS.to_owned());
        let next = after(&mut progress, end, &job);
        assert!(matches!(next, Continue(Some(finding)) if finding.check == "blocks"));
    }

    #[test]
    fn a_need_that_exceeds_its_budget_is_not_a_failure() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let end = || {
            let mut end = death(Cause::Timeout, Some(Duration::from_secs(1)));
            end.case.as_mut().unwrap().is_need = true;
            end
        };
        assert!(matches!(after(&mut progress, end(), &job), Continue(None)));
        assert!(progress.earlier.fatal.contains(PROCESS));
    }

    #[test]
    fn a_death_between_cases_ends_the_job() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let end = End {
            case: None,
            ..death(Cause::Crash, None)
        };
        let Break(Some(finding)) = after(&mut progress, end, &job) else {
            panic!("the job goes on")
        };
        assert_eq!(
            (finding.check.as_str(), finding.case.as_str()),
            ("lifecycle", "process")
        );
    }
}
