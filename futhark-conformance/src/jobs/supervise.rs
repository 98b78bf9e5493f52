//! Supervises one job: starts child processes until every step has a result.
//!
//! A child runs the steps of a job in a fixed order, and announces each one (`Event::Begin`)
//! before it starts. When a child dies, the supervisor therefore knows the step that killed it,
//! and starts another child that resumes after this step.
//!
//! ```text
//!                start child
//!                     │            Begin
//!                     ▼          ────────▶
//!               between steps                in a step
//!                │         ▲     ◀────────       │
//!           Done │         │     End, Quiet      │ the child dies
//!                ▼         │                     ▼
//!            finished      └──────────────── what next?  ([`Progress::next`])
//! ```
//!
//! | a child dies | result of the step | the next child |
//! |---|---|---|
//! | by the time limit of an attempt (`Steps::attempt`, `Steps::measure`) | none | resumes after the step |
//! | by the time limit of a step with generated inputs (`Steps::run_within`) | skipped | resumes after the step |
//! | by the time limit of an expected failure, in another step | a failure | resumes after the step |
//! | by the usual time limit, in unoptimised C | none | repeats the step in optimised code |
//! | in a step, in any other way | a failure | resumes after the step |
//! | between two steps | a failure of `lifecycle: process` | none |
//!
//! Some steps run in every child, such as compiling and loading. One that has ended a child fails in
//! the next ones without being run ([`JobSpec::deadly`]), which then skip what depends on it.
//!
//! The job ends early after [`MAX_DEATHS`], [`MAX_TIMEOUTS`] or [`MAX_ATTEMPTS`]. How a child is
//! waited for and killed is described in [`super::process`].

use super::process::{Death, End, Process, Step};
use super::{Job, Settings, Update, environment, log};
use crate::devices::{Answer, Device, Tried};
use crate::emulated::FINDINGS;
use crate::expect::TimeLimits;
use crate::leash::LEASHED;
use crate::protocol::{Event, JobSpec, RunSpec};
use crate::record::{Cause, CompilerInfo, Finding, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// The number of deaths after which the program is considered broken.
const MAX_DEATHS: usize = 20;

/// The same for timeouts, which take more time.
const MAX_TIMEOUTS: usize = 5;

/// The same for steps that exceeded their own time limit, which is not a failure. A child omits
/// such steps after [`crate::harness::steps::MAX_OVERRUNS`], so this ends only jobs of children
/// that do not.
const MAX_ATTEMPTS: usize = 10;

/// The least time limit of a probe. A device that is slow to start must still be found.
const PROBE: Duration = Duration::from_secs(60);

/// Runs a job to its end.
pub(super) fn job(job: &Job, settings: &Settings, send: &mut dyn FnMut(Update)) {
    // The emulated device reports misuse to this file, which is deleted after the job.
    let findings = job.device.is_emulated().then(|| match &settings.scratch {
        Some(scratch) => NamedTempFile::new_in(scratch.path()),
        None => NamedTempFile::new(),
    });
    let findings = match findings.transpose() {
        Ok(file) => file,
        Err(error) => {
            let message = format!("failed to create a file for the emulated device: {error}");
            let step = Step::of_the_process(Instant::now());
            send(Update::Found(failure(&step, Cause::Error, message)));
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
            resume_after: progress.resume_after,
            deadly: progress.deadly.clone(),
            overruns: progress.overruns.clone(),
            hung: progress.hung.clone(),
            run: RunSpec {
                optimise: progress.optimise,
                ..settings.run.clone()
            },
        };
        let command = command(settings, &spec, findings);
        let hang_of = |check: &str, case: &str| settings.hangs.of(&job.place, check, case);
        let end = match command.and_then(|command| Process::start(command, progress.timeout)) {
            Ok(mut process) => process.listen(&hang_of, &mut |event| match event {
                Event::Begin { check, case, .. } => send(Update::Step { check, case }),
                Event::End(finding) => send(Update::Found(finding)),
                Event::Waiting => send(Update::Step {
                    check: "compile".to_owned(),
                    case: "waiting for another run".to_owned(),
                }),
                Event::Remark { text } => send(Update::Remark(text)),
                Event::Quiet | Event::Device { .. } | Event::Done => {}
            }),
            Err(error) => End::not_started(&error),
        };
        match progress.next(end, job) {
            Next::Finished => return,
            Next::Resume(finding) => {
                if let Some(finding) = finding {
                    send(Update::Found(finding));
                }
            }
            Next::GiveUp(finding) => {
                send(Update::Found(finding));
                return;
            }
        }
    }
}

/// What follows the end of a child.
enum Next {
    /// Every step has a result.
    Finished,
    /// Another child continues; the step that ended this one failed, or has no result.
    Resume(Option<Finding>),
    /// No other child is started. The finding says why.
    GiveUp(Finding),
}

/// The progress of a job over its child processes.
struct Progress<'a> {
    /// The last step with a result.
    resume_after: Option<usize>,
    /// The steps that ended a child.
    deadly: Vec<usize>,
    /// Those of them that exceeded their own time limit.
    overruns: Vec<usize>,
    /// The checks of which a case has hung as expected.
    hung: Vec<String>,
    /// The time limits of expected hangs.
    hangs: &'a TimeLimits,
    /// Whether the next child uses optimised code.
    optimise: bool,
    /// The step that the next child repeats in optimised code, and the message of its failure.
    repeated: Option<(Step, String)>,
    /// Whether optimised code cannot be compiled within the time limit.
    is_stuck: bool,
    /// The time limit of a step in the next child.
    timeout: Duration,
    deaths: usize,
    timeouts: usize,
}

impl<'a> Progress<'a> {
    fn new(settings: &'a Settings) -> Progress<'a> {
        Progress {
            resume_after: None,
            deadly: Vec::new(),
            overruns: Vec::new(),
            hung: Vec::new(),
            hangs: &settings.hangs,
            optimise: settings.run.optimise,
            repeated: None,
            is_stuck: false,
            timeout: settings.timeout,
            deaths: 0,
            timeouts: 0,
        }
    }

    /// Decides how the job continues after the end of a child.
    fn next(&mut self, end: End, job: &Job) -> Next {
        let Some(death) = end.death else {
            return Next::Finished;
        };

        let Some(step) = end.step else {
            let step = Step::of_the_process(end.last_event);
            let message = format!("between two steps: {}", death.message);
            return Next::GiveUp(failure(&step, death.cause, message));
        };
        let timed_out = death.cause == Cause::Timeout;
        // A child with optimised code ended before the step that it was to repeat.
        let repeated = self.repeated.take();
        if let Some((repeated, first)) = repeated.filter(|(other, _)| step.index < other.index) {
            self.optimise = false;
            self.is_stuck = true;
            let message = format!(
                "{first}\nin optimised code, {} fails: {}",
                step.check, death.message
            );
            return self.failed(&repeated, Death::new(Cause::Timeout, message));
        }
        // The code is not at fault, so it is not repeated with optimisation. A step that prepares others
        // has no result.
        if death.is_expected && (step.limit.is_none() || step.skip_at_limit) {
            if self.hangs.has_whole(&job.place, &step.check) {
                self.hung.push(step.check.clone());
            }
            return self.failed(&step, death);
        }
        if timed_out && step.limit.is_some() {
            self.has_died_in(step.index);
            self.overruns.push(step.index);
            if self.overruns.len() == MAX_ATTEMPTS {
                let message =
                    format!("{MAX_ATTEMPTS} attempts ran out of time: the rest was not checked");
                return Next::GiveUp(failure(&step, death.cause, message));
            }
            return Next::Resume(step.skip_at_limit.then(|| too_slow(&step)));
        }
        // Kernels of GPU backends are always optimised, and so is the Futhark compiler. Loading runs
        // no code of the program.
        let runs_code = step.check != "compile" && step.case != "load";
        let is_slow_code = runs_code && !job.device.backend.is_gpu();
        if timed_out && !self.optimise && !self.is_stuck && is_slow_code {
            self.resume_after = step.index.checked_sub(1);
            self.optimise = true;
            self.repeated = Some((step, death.message));
            return Next::Resume(None);
        }
        self.failed(&step, death)
    }

    /// What follows a step that has failed by ending a child.
    fn failed(&mut self, step: &Step, death: Death) -> Next {
        let Death {
            cause,
            message,
            is_expected,
        } = death;
        self.has_died_in(step.index);
        self.deaths += 1;
        // An expected hang took little time.
        self.timeouts += usize::from(cause == Cause::Timeout && !is_expected);
        if self.deaths == MAX_DEATHS || self.timeouts == MAX_TIMEOUTS {
            let message = format!(
                "{message}\nthe process died in {} steps: the rest was not checked",
                self.deaths
            );
            return Next::GiveUp(failure(step, cause, message));
        }
        Next::Resume(Some(failure(step, cause, message)))
    }

    /// Records a step that ended a child. A child repeats steps that others depend on, so the step
    /// may have a lower number than the one after which the child resumed.
    fn has_died_in(&mut self, step: usize) {
        self.resume_after = self.resume_after.max(Some(step));
        self.deadly.push(step);
    }
}

/// The finding for a step that exceeded its own time limit.
fn too_slow(step: &Step) -> Finding {
    let seconds = step.begun.elapsed().as_secs_f64();
    Finding {
        check: step.check.clone(),
        case: step.case.clone(),
        outcome: Outcome::Skip,
        cause: None,
        message: format!(
            "too slow for this check: its generated inputs took more than {seconds:.0} s"
        ),
        seconds,
    }
}

fn failure(step: &Step, cause: Cause, message: String) -> Finding {
    let finding = Finding {
        check: step.check.clone(),
        case: step.case.clone(),
        outcome: Outcome::Fail,
        cause: Some(cause),
        message,
        seconds: step.begun.elapsed().as_secs_f64(),
    };
    finding.excused(step.excuse.as_deref())
}

/// Compiles and runs a small program on a device. The failure is in the words of the tool that failed.
pub(super) fn probe(device: &Device, compiler: &CompilerInfo, settings: &Settings) -> Tried {
    let spec = JobSpec {
        program: None,
        device: device.clone(),
        compiler: PathBuf::from(&compiler.path),
        checks: Vec::new(),
        resume_after: None,
        deadly: Vec::new(),
        overruns: Vec::new(),
        hung: Vec::new(),
        run: settings.run.clone(),
    };
    let limit = settings.timeout.max(PROBE);
    let command = command(settings, &spec, None);
    let mut process = match command.and_then(|command| Process::start(command, limit)) {
        Ok(process) => process,
        Err(error) => {
            return Tried {
                failure: error.to_string(),
                ..Tried::default()
            };
        }
    };
    let (mut found, mut reason) = (None, None);
    let end = process.listen(&|_, _| None, &mut |event| match event {
        Event::Device { name, known_bad } => found = Some(Answer { name, known_bad }),
        Event::End(finding) if finding.outcome == Outcome::Fail => reason = Some(finding.message),
        _ => {}
    });
    // The driver names the device only in its log.
    let in_log = log::device(&process.stderr());
    match (found, end.death) {
        (Some(answer), None) if answer.name.is_empty() => Tried {
            answer: Some(Answer {
                name: in_log.unwrap_or_else(|| "default".to_owned()),
                ..answer
            }),
            ..Tried::default()
        },
        (answer @ Some(_), None) => Tried {
            answer,
            ..Tried::default()
        },
        (_, death) => Tried {
            failure: (death.map(|death| death.message).or(reason))
                .unwrap_or_else(|| "the probe sent no result".to_owned()),
            name: in_log.unwrap_or_default(),
            ..Tried::default()
        },
    }
}

/// The command that starts a child process. The emulated device reports misuse to `findings`.
///
/// # Errors
/// If a path in the specification is not valid Unicode.
fn command(
    settings: &Settings,
    spec: &JobSpec,
    findings: Option<&Path>,
) -> std::io::Result<Command> {
    let mut command = Command::new(&settings.executable);
    command
        .env_clear()
        .envs(environment::passed(&settings.pass_env));
    let environment = spec.device.environment.iter();
    command.envs(environment.map(|(name, value)| (name, value)));
    if let Some(file) = findings {
        command.env(FINDINGS, file);
    }
    if let Some(scratch) = &settings.scratch {
        command.env("TMPDIR", scratch.path());
    }
    command.args(["child", LEASHED]);
    command.arg(serde_json::to_string(spec)?);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Place;
    use futhark_manifest::Backend;

    fn job_on(backend: Backend) -> Job {
        let device = Device::host(backend);
        Job {
            program: "a.fut".into(),
            place: Place::new(&device, "a.fut".into(), "1".into()),
            device,
            compiler: CompilerInfo::new("1", "futhark"),
            checks: Vec::new(),
        }
    }

    fn settings() -> Settings {
        Settings {
            executable: "x".into(),
            timeout: Duration::from_secs(10),
            hangs: TimeLimits::default(),
            scratch: None,
            pass_env: Vec::new(),
            run: RunSpec::new("x".into()),
        }
    }

    /// The death of a child in step 7.
    fn death(cause: Cause, limit: Option<Duration>) -> End {
        let mut step = Step::of_the_process(Instant::now());
        (step.index, step.limit) = (7, limit);
        End {
            step: Some(step),
            death: Some(Death::new(cause, "m".into())),
            last_event: Instant::now(),
        }
    }

    #[test]
    fn a_crash_fails_its_step_and_the_next_child_resumes_after_it() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let next = progress.next(death(Cause::Crash, None), &job);
        assert!(matches!(next, Next::Resume(Some(finding)) if finding.message == "m"));
        assert_eq!(progress.resume_after, Some(7));
        for _ in 2..MAX_DEATHS {
            let next = progress.next(death(Cause::Crash, None), &job);
            assert!(matches!(next, Next::Resume(Some(_))));
        }
        let next = progress.next(death(Cause::Crash, None), &job);
        assert!(matches!(next, Next::GiveUp(_)));
    }

    #[test]
    fn a_crash_with_an_excuse_is_skipped() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut end = death(Cause::Crash, None);
        end.step.as_mut().unwrap().excuse = Some("why".into());
        let next = Progress::new(&settings).next(end, &job);
        let Next::Resume(Some(finding)) = next else {
            panic!()
        };
        assert_eq!(finding.outcome, Outcome::Skip);
        assert_eq!(finding.message, "why: crash: m");
    }

    #[test]
    fn a_step_with_generated_inputs_that_runs_out_of_time_is_skipped() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        progress.resume_after = Some(9);
        let mut end = death(Cause::Timeout, Some(Duration::from_secs(1)));
        end.step.as_mut().unwrap().skip_at_limit = true;
        let Next::Resume(Some(finding)) = progress.next(end, &job) else {
            panic!("the step has no result")
        };
        assert_eq!(finding.outcome, Outcome::Skip);
        assert!(finding.message.starts_with("too slow for this check"));
        assert_eq!(progress.resume_after, Some(9));
        assert_eq!((progress.deadly, progress.overruns), (vec![7], vec![7]));
    }

    #[test]
    fn a_timeout_is_repeated_in_optimised_code_before_it_is_a_failure() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let next = progress.next(death(Cause::Timeout, None), &job);
        assert!(matches!(next, Next::Resume(None)));
        assert_eq!(progress.resume_after, Some(6));
        assert!(progress.optimise && progress.timeout == settings.timeout);
        let next = progress.next(death(Cause::Timeout, None), &job);
        assert!(matches!(next, Next::Resume(Some(_))));

        let mut progress = Progress::new(&settings);
        let next = progress.next(death(Cause::Timeout, None), &job_on(Backend::OpenCl));
        assert!(
            matches!(next, Next::Resume(Some(_))),
            "kernels are optimised"
        );
    }

    #[test]
    fn an_expected_hang_is_not_repeated_and_does_not_end_the_job() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let hang = || {
            let mut end = death(Cause::Timeout, None);
            end.death.as_mut().unwrap().is_expected = true;
            end
        };
        for _ in 0..=MAX_TIMEOUTS {
            let next = progress.next(hang(), &job);
            let Next::Resume(Some(finding)) = next else {
                panic!("not resumed")
            };
            assert_eq!(finding.cause, Some(Cause::Timeout));
        }
        assert!(!progress.optimise && progress.resume_after == Some(7));
        // A step that prepares others is not reported.
        let mut end = hang();
        end.step.as_mut().unwrap().limit = Some(Duration::from_secs(3));
        assert!(matches!(progress.next(end, &job), Next::Resume(None)));
        // One with generated inputs is.
        let mut end = hang();
        let step = end.step.as_mut().unwrap();
        (step.limit, step.skip_at_limit) = (Some(Duration::from_secs(3)), true);
        let next = progress.next(end, &job);
        assert!(matches!(next, Next::Resume(Some(finding)) if finding.outcome == Outcome::Fail));
    }

    /// The death of a child in a step that every child runs.
    fn death_in(check: &str, case: &str, index: usize) -> End {
        let mut end = death(Cause::Timeout, None);
        let step = end.step.as_mut().unwrap();
        (step.check, step.case, step.index) = (check.into(), case.into(), index);
        end
    }

    #[test]
    fn compiling_and_loading_are_not_repeated_after_a_timeout() {
        let (job, settings) = (job_on(Backend::C), settings());
        for (check, case) in [("compile", ""), ("lifecycle", "load")] {
            let mut progress = Progress::new(&settings);
            let next = progress.next(death_in(check, case, 2), &job);
            assert!(matches!(next, Next::Resume(Some(_))), "{check} {case}");
            assert_eq!(
                (progress.resume_after, &*progress.deadly),
                (Some(2), &[2][..])
            );
        }
    }

    #[test]
    fn a_step_keeps_its_own_failure_if_its_optimised_code_does_not_compile() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let next = progress.next(death(Cause::Timeout, None), &job);
        assert!(matches!(next, Next::Resume(None)));
        let next = progress.next(death_in("compile", "", 2), &job);
        let Next::Resume(Some(finding)) = next else {
            panic!()
        };
        assert_eq!(finding.check, "lifecycle", "the step that took too long");
        assert!(finding.message.contains("in optimised code, compile fails"));
        assert_eq!(
            (progress.resume_after, &*progress.deadly),
            (Some(7), &[7][..])
        );
        assert!(!progress.optimise);
        // The next slow step is not repeated.
        let next = progress.next(death_in("blocks", "f #0", 8), &job);
        assert!(matches!(next, Next::Resume(Some(finding)) if finding.check == "blocks"));
    }

    #[test]
    fn a_later_child_that_dies_in_an_earlier_step_does_not_go_back() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        progress.next(death(Cause::Crash, None), &job);
        progress.next(death_in("compile", "", 2), &job);
        assert_eq!(progress.resume_after, Some(7));
    }

    #[test]
    fn an_attempt_that_runs_out_of_time_is_not_a_failure() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let end = || death(Cause::Timeout, Some(Duration::from_secs(1)));
        for _ in 1..MAX_ATTEMPTS {
            assert!(matches!(progress.next(end(), &job), Next::Resume(None)));
        }
        assert_eq!(progress.resume_after, Some(7));
        assert!(matches!(progress.next(end(), &job), Next::GiveUp(_)));
    }

    #[test]
    fn a_death_between_steps_ends_the_job() {
        let (job, settings) = (job_on(Backend::C), settings());
        let mut progress = Progress::new(&settings);
        let end = End {
            step: None,
            ..death(Cause::Crash, None)
        };
        let Next::GiveUp(finding) = progress.next(end, &job) else {
            panic!("the job goes on")
        };
        assert_eq!(
            (finding.check.as_str(), finding.case.as_str()),
            ("lifecycle", "process")
        );
    }
}
