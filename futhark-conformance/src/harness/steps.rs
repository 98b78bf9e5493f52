//! Runs the steps of checks. A step is one case of a check. It is announced before it begins, so
//! that the parent knows which step killed the process, and reported when it has ended.

use super::watch::Watch;
use crate::pattern::CheckPattern;
use crate::protocol::{Event, events};
use crate::record::{Cause, Finding, Outcome};
use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Why a step did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The promise does not hold.
    Fail {
        /// What kind of failure it is.
        cause: Cause,
        /// What was expected, and what happened.
        message: String,
    },
    /// The promise could not be checked.
    Skip {
        /// The reason.
        reason: String,
    },
}

impl Stop {
    /// A wrong result.
    pub fn mismatch(message: impl Into<String>) -> Stop {
        Stop::Fail {
            cause: Cause::Mismatch,
            message: message.into(),
        }
    }

    /// An error from an operation that must succeed.
    pub fn error(message: impl Into<String>) -> Stop {
        Stop::Fail {
            cause: Cause::Error,
            message: message.into(),
        }
    }

    /// A case that cannot be checked.
    pub fn skip(reason: impl Into<String>) -> Stop {
        Stop::Skip {
            reason: reason.into(),
        }
    }

    /// A mismatch with one line per problem, if there are problems.
    ///
    /// # Errors
    /// If `problems` is not empty.
    pub fn unless_empty(problems: impl IntoIterator<Item = String>) -> StepResult {
        let problems: Vec<String> = problems.into_iter().collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(Stop::mismatch(problems.join("\n")))
    }

    /// The same result, with a place before its message.
    #[must_use]
    pub fn at(self, place: &str) -> Stop {
        match self {
            Stop::Fail { cause, message } => Stop::Fail {
                cause,
                message: format!("{place}: {message}"),
            },
            Stop::Skip { reason } => Stop::Skip {
                reason: format!("{place}: {reason}"),
            },
        }
    }
}

impl From<futhark_safe::Error> for Stop {
    fn from(error: futhark_safe::Error) -> Stop {
        Stop::error(format!("{error:#}"))
    }
}

/// The result of a step.
pub type StepResult<T = ()> = Result<T, Stop>;

/// Numbers, filters, runs and reports steps.
pub struct Steps<'a> {
    out: &'a mut dyn Write,
    checks: &'a [CheckPattern],
    resume_after: Option<usize>,
    next: usize,
    watch: Option<Watch>,
    excuse: Option<String>,
}

impl<'a> Steps<'a> {
    /// Steps that match a pattern of `checks`, or all if there is none, and have a number above
    /// `resume_after`; reported to `out`.
    pub fn new(
        out: &'a mut dyn Write,
        checks: &'a [CheckPattern],
        resume_after: Option<usize>,
    ) -> Steps<'a> {
        Steps {
            out,
            checks,
            resume_after,
            next: 0,
            watch: None,
            excuse: None,
        }
    }

    /// From now on, a step fails if the emulated device reports misuse during it.
    pub fn watch(&mut self, watch: Watch) {
        self.watch = Some(watch);
    }

    /// From now on, a failure of a step is reported as skipped, with this reason, if there is one.
    pub fn excuse(&mut self, excuse: Option<String>) {
        self.excuse = excuse;
    }

    /// Whether any case of the check may be selected. If not, its cases need not be listed.
    #[must_use]
    pub fn wants(&self, check: &str) -> bool {
        self.checks.is_empty() || self.checks.iter().any(|pattern| pattern.concerns(check))
    }

    /// Runs a step if it is selected and no earlier process has run it.
    pub fn run(&mut self, check: &str, case: &str, body: impl FnOnce() -> StepResult) -> Ran {
        match self.claim(check, case) {
            (index, Claim::Asked) => self.perform(index, check, case, body, Claim::Asked, None),
            (_, Claim::NotAsked | Claim::Behind) => Ran::No,
        }
    }

    /// Runs a step that others depend on, even if it is not selected or an earlier process has run
    /// it. A step that is not selected is reported only if it fails; a step of an earlier process
    /// is not reported again.
    pub fn run_always(
        &mut self,
        check: &str,
        case: &str,
        body: impl FnOnce() -> StepResult,
    ) -> Ran {
        let (index, claim) = self.claim(check, case);
        self.perform(index, check, case, body, claim, None)
    }

    /// Runs a step that proves nothing by itself. It is reported only if it fails.
    pub fn prepare(&mut self, check: &str, case: &str, body: impl FnOnce() -> StepResult) -> Ran {
        let (index, claim) = self.claim(check, case);
        let claim = if claim == Claim::Behind {
            claim
        } else {
            Claim::NotAsked
        };
        self.perform(index, check, case, body, claim, None)
    }

    /// Prepares the next step, which has the same case, if that is selected and no earlier process
    /// has run it. If this takes longer than `limit`, the parent kills this process and reports
    /// nothing; the next process resumes after the attempt.
    pub fn attempt(&mut self, check: &str, case: &str, limit: Duration, body: impl FnOnce()) {
        if let (index, Claim::Asked) = self.claim(check, case) {
            let body = || {
                body();
                Ok(())
            };
            self.perform(index, check, case, body, Claim::NotAsked, Some(limit));
        }
    }

    fn perform(
        &mut self,
        index: usize,
        check: &str,
        case: &str,
        body: impl FnOnce() -> StepResult,
        claim: Claim,
        limit: Option<Duration>,
    ) -> Ran {
        let limit_ms = limit.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        self.say(&Event::Begin {
            index,
            check: check.to_owned(),
            case: case.to_owned(),
            limit_ms,
            excuse: self.excuse.clone(),
        });
        let begun = Instant::now();
        // A panic is a bug in the check; the results of other checks are still valid.
        let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
            Err(Stop::error(format!(
                "the check itself panicked: {}",
                text_of(&*panic)
            )))
        });
        let result = match &mut self.watch {
            Some(watch) => watch.judge(result),
            None => result,
        };
        let (outcome, cause, message) = match result {
            Ok(()) => (Outcome::Pass, None, String::new()),
            Err(Stop::Fail { cause, message }) => (Outcome::Fail, Some(cause), message),
            Err(Stop::Skip { reason }) => (Outcome::Skip, None, reason),
        };
        let seconds = begun.elapsed().as_secs_f64();
        let failed = outcome == Outcome::Fail;
        if claim == Claim::Asked || failed && claim == Claim::NotAsked {
            let (check, case) = (check.to_owned(), case.to_owned());
            let finding = Finding {
                check,
                case,
                outcome,
                cause,
                message,
                seconds,
            };
            self.say(&Event::End(finding.excused(self.excuse.as_deref())));
        } else {
            self.say(&Event::Quiet);
        }
        if failed { Ran::Failed } else { Ran::Fine }
    }

    /// Reports a step as skipped.
    pub fn skip(&mut self, check: &str, case: &str, reason: &str) {
        self.run(check, case, || Err(Stop::skip(reason)));
    }

    /// Sends an event.
    pub fn say(&mut self, event: &Event) {
        // The parent is gone, so nothing reads the results.
        if events::write(self.out, event).is_err() {
            std::process::exit(1);
        }
    }

    fn claim(&mut self, check: &str, case: &str) -> (usize, Claim) {
        let index = self.next;
        self.next += 1;
        let wanted = self.checks.is_empty()
            || self
                .checks
                .iter()
                .any(|pattern| pattern.matches(check, case));
        let claim = if self.resume_after.is_some_and(|last| index <= last) {
            Claim::Behind
        } else if wanted {
            Claim::Asked
        } else {
            Claim::NotAsked
        };
        (index, claim)
    }
}

/// Whether a step runs and is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// The step is selected.
    Asked,
    /// The step is not selected.
    NotAsked,
    /// An earlier process has reported the step.
    Behind,
}

/// The outcome of a step for the code that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// It is not selected, or ran in an earlier process.
    No,
    /// It passed or was skipped.
    Fine,
    /// It failed: state that it shares with other steps may be damaged.
    Failed,
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(out: &[u8]) -> Vec<Event> {
        out.split(|&byte| byte == b'\n')
            .filter_map(events::read)
            .collect()
    }

    fn outcomes(events: &[Event]) -> Vec<(String, Outcome)> {
        let ends = events.iter().filter_map(|event| match event {
            Event::End(finding) => Some((finding.case.clone(), finding.outcome)),
            _ => None,
        });
        ends.collect()
    }

    #[test]
    fn steps_are_announced_and_reported() {
        let mut out = Vec::new();
        let mut steps = Steps::new(&mut out, &[], None);
        assert_eq!(steps.run("a", "1", || Ok(())), Ran::Fine);
        assert_eq!(
            steps.run("a", "2", || Err(Stop::mismatch("no"))),
            Ran::Failed
        );
        steps.skip("b", "", "why");
        let events = events(&out);
        assert!(matches!(&events[0], Event::Begin { index: 0, check, .. } if check == "a"));
        let expected = [
            ("1".into(), Outcome::Pass),
            ("2".into(), Outcome::Fail),
            (String::new(), Outcome::Skip),
        ];
        assert_eq!(outcomes(&events), expected);
    }

    #[test]
    fn required_steps_always_run_and_are_reported_if_they_fail() {
        let mut out = Vec::new();
        let checks = ["b".parse().unwrap()];
        let mut steps = Steps::new(&mut out, &checks, Some(0));
        assert_eq!(
            steps.run_always("a", "behind", || Err(Stop::error("known"))),
            Ran::Failed
        );
        assert_eq!(steps.run_always("a", "fine", || Ok(())), Ran::Fine);
        assert_eq!(
            steps.run_always("a", "broken", || Err(Stop::error("new"))),
            Ran::Failed
        );
        assert_eq!(outcomes(&events(&out)), [("broken".into(), Outcome::Fail)]);
    }

    #[test]
    fn an_excused_failure_is_skipped() {
        let mut out = Vec::new();
        let mut steps = Steps::new(&mut out, &[], None);
        steps.excuse(Some("why".to_owned()));
        assert_eq!(
            steps.run("a", "1", || Err(Stop::mismatch("no"))),
            Ran::Failed
        );
        steps.run("a", "2", || Ok(()));
        let events = events(&out);
        assert!(matches!(&events[0], Event::Begin { excuse: Some(why), .. } if why == "why"));
        assert!(matches!(&events[1], Event::End(f) if f.message == "why: mismatch: no"));
        let expected = [("1".into(), Outcome::Skip), ("2".into(), Outcome::Pass)];
        assert_eq!(outcomes(&events), expected);
    }

    #[test]
    fn a_panic_fails_its_step_only() {
        let mut out = Vec::new();
        let mut steps = Steps::new(&mut out, &[], None);
        assert_eq!(steps.run("a", "1", || panic!("oh {}", 1)), Ran::Failed);
        assert_eq!(steps.run("a", "2", || Ok(())), Ran::Fine);
        let events = events(&out);
        assert!(
            matches!(&events[1], Event::End(f) if f.message.contains("oh 1")),
            "{events:?}"
        );
    }

    #[test]
    fn finished_and_unselected_steps_do_not_run() {
        let mut out = Vec::new();
        let checks = ["a:1*".parse().unwrap()];
        let mut steps = Steps::new(&mut out, &checks, Some(0));
        assert!(steps.wants("a") && !steps.wants("b"));
        assert_eq!(steps.run("a", "1", || panic!("behind")), Ran::No);
        assert_eq!(steps.run("a", "2", || panic!("not asked for")), Ran::No);
        assert_eq!(steps.run("a", "11", || Ok(())), Ran::Fine);
        let events = events(&out);
        assert!(
            matches!(events[0], Event::Begin { index: 2, .. }),
            "numbers do not depend on what ran"
        );
    }
}
