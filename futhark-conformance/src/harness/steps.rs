//! Runs the steps of checks. A step is one case of a check. It is announced before it begins, so
//! that the parent knows which step killed the process, and reported when it has ended.

use super::watch::Watch;
use crate::lines::shortened;
use crate::pattern::CheckPattern;
use crate::protocol::{Event, events};
use crate::record::{Cause, Finding, Outcome};
use futhark_safe::compile::process;
use std::any::Any;
use std::cell::RefCell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The most bytes of a message. Compilers and programs can print any amount.
const MESSAGE: usize = 64 << 10;

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

    /// The same result, with a place before the message of a failure, or after the reason of a
    /// skip: reports count skips by the first line.
    #[must_use]
    pub fn at(self, place: &str) -> Stop {
        match self {
            Stop::Fail { cause, message } => Stop::Fail {
                cause,
                message: format!("{place}: {message}"),
            },
            Stop::Skip { reason } => Stop::Skip {
                reason: format!("{reason}\nat {place}"),
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

/// The number of steps that may exceed their own time limit. Further steps with such a limit are
/// skipped, so that a slow program takes bounded time.
pub const MAX_OVERRUNS: usize = 3;

/// A remark on the step that runs, for its finding if it passes: for example, that it tried fewer
/// inputs than usual. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Remark(Rc<RefCell<String>>);

impl Remark {
    /// Adds to the remark on the step that runs.
    pub fn add(&self, text: &str) {
        let mut remark = self.0.borrow_mut();
        if !remark.is_empty() {
            remark.push_str("; ");
        }
        remark.push_str(text);
    }

    fn take(&self) -> String {
        self.0.take()
    }
}

/// The work of earlier processes of a job.
#[derive(Clone, Copy, Debug, Default)]
pub struct Earlier<'a> {
    /// The last step with a result.
    pub resume_after: Option<usize>,
    /// The steps that ended a process.
    pub deadly: &'a [usize],
    /// Those of them that exceeded their own time limit.
    pub overruns: &'a [usize],
    /// The checks of which a case has hung as expected.
    pub hung: &'a [String],
}

/// Numbers, filters, runs and reports steps.
pub struct Steps<'a> {
    out: &'a mut dyn Write,
    checks: &'a [CheckPattern],
    earlier: Earlier<'a>,
    next: usize,
    watch: Option<Watch>,
    excuse: Option<String>,
    remark: Remark,
}

/// The time limit of a step.
#[derive(Clone, Copy)]
enum Limit {
    /// The usual one, or a shorter one if the step is expected to hang.
    Usual,
    /// The usual one in any case, because others depend on the step.
    Needed,
    /// Its own.
    Own {
        time: Duration,
        /// Whether the step is reported as skipped if it exceeds the limit.
        skip: bool,
    },
}

impl<'a> Steps<'a> {
    /// Steps that match a pattern of `checks`, or all if there is none, and that no earlier process
    /// has run; reported to `out`.
    pub fn new(
        out: &'a mut dyn Write,
        checks: &'a [CheckPattern],
        earlier: Earlier<'a>,
    ) -> Steps<'a> {
        Steps {
            out,
            checks,
            earlier,
            next: 0,
            watch: None,
            excuse: None,
            remark: Remark::default(),
        }
    }

    /// The remark on the step that runs.
    #[must_use]
    pub fn remark(&self) -> Remark {
        self.remark.clone()
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
            (index, Claim::Asked) if self.has_hung(check) => self.pass_by(index, check, case),
            (index, Claim::Asked) => {
                self.perform(index, check, case, body, Claim::Asked, Limit::Usual)
            }
            (_, Claim::NotAsked | Claim::Behind) => Ran::No,
        }
    }

    /// Runs a step with generated inputs, like [`Steps::run`]. If it takes longer than `limit`, the
    /// parent kills this process and reports the step as skipped.
    pub fn run_within(
        &mut self,
        check: &str,
        case: &str,
        limit: Duration,
        body: impl FnOnce() -> StepResult,
    ) -> Ran {
        let (index, Claim::Asked) = self.claim(check, case) else {
            return Ran::No;
        };
        if self.has_hung(check) {
            return self.pass_by(index, check, case);
        }
        let limit = Limit::Own {
            time: limit,
            skip: true,
        };
        if self.is_out_of_time() {
            let body = || Err(Stop::skip(OUT_OF_TIME));
            return self.perform(index, check, case, body, Claim::Asked, Limit::Usual);
        }
        self.perform(index, check, case, body, Claim::Asked, limit)
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
        self.perform(index, check, case, body, claim, Limit::Needed)
    }

    /// Runs a step that proves nothing by itself. It is reported only if it fails.
    pub fn prepare(&mut self, check: &str, case: &str, body: impl FnOnce() -> StepResult) -> Ran {
        let (index, claim) = self.claim(check, case);
        let claim = if claim == Claim::Behind {
            claim
        } else {
            Claim::NotAsked
        };
        self.perform(index, check, case, body, claim, Limit::Needed)
    }

    /// Prepares the next step, which has the same case, if that is selected and no earlier process
    /// has run it. If this takes longer than `limit`, the parent kills this process and reports
    /// nothing; the next process resumes after the attempt.
    pub fn attempt(&mut self, check: &str, case: &str, limit: Duration, body: impl FnOnce()) {
        if let (index, Claim::Asked) = self.claim(check, case)
            && !self.is_out_of_time()
            && !self.has_hung(check)
        {
            self.perform_quietly(index, check, case, limit, body);
        }
    }

    /// Runs a step that measures something that later steps need. Unlike an attempt, it is repeated
    /// in later processes, unless it ended one. Returns whether it ran.
    pub fn measure(
        &mut self,
        check: &str,
        case: &str,
        limit: Duration,
        body: impl FnOnce(),
    ) -> bool {
        let (index, claim) = self.claim(check, case);
        let is_new = claim != Claim::Behind;
        if self.earlier.deadly.contains(&index) || is_new && self.is_out_of_time() {
            return false;
        }
        self.perform_quietly(index, check, case, limit, body);
        true
    }

    /// Numbers a step that is not needed, as if it ran: numbers must not depend on what ran.
    pub fn pass_over(&mut self, check: &str, case: &str) {
        self.claim(check, case);
    }

    /// Whether a case of the check has hung as expected, so that others are not tried.
    fn has_hung(&self, check: &str) -> bool {
        self.earlier.hung.iter().any(|hung| hung == check)
    }

    /// Reports a case of such a check as skipped.
    fn pass_by(&mut self, index: usize, check: &str, case: &str) -> Ran {
        let body = || Err(Stop::skip(HUNG));
        self.perform(index, check, case, body, Claim::Asked, Limit::Usual)
    }

    /// Whether so many steps have exceeded their own time limit that no other one may.
    fn is_out_of_time(&self) -> bool {
        self.earlier.overruns.len() >= MAX_OVERRUNS
    }

    fn perform_quietly(
        &mut self,
        index: usize,
        check: &str,
        case: &str,
        limit: Duration,
        body: impl FnOnce(),
    ) {
        let limit = Limit::Own {
            time: limit,
            skip: false,
        };
        let body = || {
            body();
            Ok(())
        };
        self.perform(index, check, case, body, Claim::NotAsked, limit);
    }

    fn perform(
        &mut self,
        index: usize,
        check: &str,
        case: &str,
        body: impl FnOnce() -> StepResult,
        claim: Claim,
        limit: Limit,
    ) -> Ran {
        if self.earlier.deadly.contains(&index) {
            return Ran::Failed;
        }
        let (limit_ms, skip_at_limit) = match limit {
            Limit::Own { time, skip } => {
                let limit = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                (Some(limit), skip)
            }
            Limit::Usual | Limit::Needed => (None, false),
        };
        self.remark.take();
        self.say(&Event::Begin {
            index,
            check: check.to_owned(),
            case: case.to_owned(),
            limit_ms,
            skip_at_limit,
            needed: matches!(limit, Limit::Needed),
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
            Ok(()) => (Outcome::Pass, None, self.remark.take()),
            Err(Stop::Fail { cause, message }) => (Outcome::Fail, Some(cause), message),
            Err(Stop::Skip { reason }) => (Outcome::Skip, None, reason),
        };
        for text in process::take_remarks() {
            self.say(&Event::Remark { text });
        }
        let message = shortened(message, MESSAGE);
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
        let claim = if self.earlier.resume_after.is_some_and(|last| index <= last) {
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

/// Why steps with a time limit of their own are skipped after [`MAX_OVERRUNS`].
const OUT_OF_TIME: &str =
    "too slow for this check: several steps with generated inputs have run out of time";

/// Why the other cases of a check are skipped after one has hung as expected.
const HUNG: &str =
    "an earlier case of this check has exceeded the time limit of an expected failure";

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

    fn after(step: usize) -> Earlier<'static> {
        Earlier {
            resume_after: Some(step),
            ..Earlier::default()
        }
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
        let mut steps = Steps::new(&mut out, &[], Earlier::default());
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
        let mut steps = Steps::new(&mut out, &checks, after(0));
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
    fn a_step_that_ended_an_earlier_process_does_not_run_again() {
        let mut out = Vec::new();
        let earlier = Earlier {
            resume_after: Some(1),
            deadly: &[0, 1],
            ..Earlier::default()
        };
        let mut steps = Steps::new(&mut out, &[], earlier);
        assert_eq!(steps.run_always("a", "", || panic!("again")), Ran::Failed);
        assert_eq!(steps.prepare("b", "", || panic!("again")), Ran::Failed);
        assert_eq!(steps.run("c", "", || Ok(())), Ran::Fine);
        assert_eq!(outcomes(&events(&out)), [(String::new(), Outcome::Pass)]);
    }

    #[test]
    fn a_step_that_others_need_has_the_usual_time_limit() {
        let mut out = Vec::new();
        let mut steps = Steps::new(&mut out, &[], Earlier::default());
        steps.run_always("a", "", || Ok(()));
        steps.prepare("b", "", || Ok(()));
        steps.run("c", "", || Ok(()));
        let needed = events(&out).into_iter().filter_map(|event| match event {
            Event::Begin { needed, .. } => Some(needed),
            _ => None,
        });
        assert_eq!(needed.collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn a_long_message_is_shortened() {
        let mut out = Vec::new();
        let mut steps = Steps::new(&mut out, &[], Earlier::default());
        steps.run("a", "", || Err(Stop::error("x".repeat(10 * MESSAGE))));
        let events = events(&out);
        assert!(
            matches!(&events[1], Event::End(f) if f.message.len() < 2 * MESSAGE && f.message.contains("bytes omitted"))
        );
    }

    #[test]
    fn an_excused_failure_is_skipped() {
        let mut out = Vec::new();
        let mut steps = Steps::new(&mut out, &[], Earlier::default());
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
    fn a_remark_is_the_message_of_the_step_that_passes() {
        let mut out = Vec::new();
        let mut steps = Steps::new(&mut out, &[], Earlier::default());
        let remark = steps.remark();
        steps.run("a", "1", || {
            remark.add("7 of 24 inputs");
            remark.add("more");
            Ok(())
        });
        steps.run("a", "2", || Ok(()));
        let messages = events(&out).into_iter().filter_map(|event| match event {
            Event::End(finding) => Some(finding.message),
            _ => None,
        });
        assert_eq!(messages.collect::<Vec<_>>(), ["7 of 24 inputs; more", ""]);
    }

    #[test]
    fn steps_with_a_limit_are_skipped_after_some_exceeded_theirs() {
        let limit = Duration::from_secs(1);
        let mut out = Vec::new();
        let earlier = Earlier {
            resume_after: Some(1),
            deadly: &[1],
            overruns: &[1],
            ..Earlier::default()
        };
        let mut steps = Steps::new(&mut out, &[], earlier);
        assert!(steps.measure("a", "again", limit, || ()));
        assert!(!steps.measure("a", "deadly", limit, || panic!("ran again")));
        assert_eq!(steps.run_within("a", "1", limit, || Ok(())), Ran::Fine);
        let events = events(&out);
        let limited = |event: &&Event| {
            matches!(
                event,
                Event::Begin {
                    skip_at_limit: true,
                    ..
                }
            )
        };
        assert_eq!(events.iter().filter(limited).count(), 1);

        let mut out = Vec::new();
        let earlier = Earlier {
            overruns: &[0; MAX_OVERRUNS],
            ..Earlier::default()
        };
        let mut steps = Steps::new(&mut out, &[], earlier);
        assert!(!steps.measure("a", "m", limit, || panic!("ran")));
        steps.attempt("a", "1", limit, || panic!("ran"));
        steps.run_within("a", "1", limit, || panic!("ran"));
        assert_eq!(outcomes(&self::events(&out)), [("1".into(), Outcome::Skip)]);
    }

    #[test]
    fn other_cases_of_a_check_that_has_hung_are_skipped() {
        let mut out = Vec::new();
        let earlier = Earlier {
            hung: &["a".to_owned()],
            ..Earlier::default()
        };
        let limit = Duration::from_secs(1);
        let mut steps = Steps::new(&mut out, &[], earlier);
        steps.run("a", "1", || panic!("ran"));
        steps.attempt("a", "2", limit, || panic!("ran"));
        steps.run_within("a", "2", limit, || panic!("ran"));
        steps.run("b", "3", || Ok(()));
        let expected = [
            ("1", Outcome::Skip),
            ("2", Outcome::Skip),
            ("3", Outcome::Pass),
        ];
        let expected = expected.map(|(case, outcome)| (case.to_owned(), outcome));
        assert_eq!(outcomes(&events(&out)), expected);
    }

    #[test]
    fn a_panic_fails_its_step_only() {
        let mut out = Vec::new();
        let mut steps = Steps::new(&mut out, &[], Earlier::default());
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
        let mut steps = Steps::new(&mut out, &checks, after(0));
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
