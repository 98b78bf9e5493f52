//! Runs the cases of checks. A case is announced before it begins, so that the parent knows which one
//! killed the process, and reported when it has ended.
//!
//! Each process of a job lists the cases by running through all checks, and runs those that have not
//! ended in an earlier process, by their names. A list before the run would need a second process that
//! compiles, loads and starts the program, because the cases follow from its manifest.

use super::env::{Env, locked};
use crate::compare::Difference;
use crate::emulated::MISUSE_REPORTS;
use crate::lines::shortened;
use crate::parallel::panic_text;
use crate::pattern::CheckPattern;
use crate::protocol::{CaseStart, Earlier, Event};
use crate::record::{CaseResult, Cause, Outcome};
use futhark_safe::dynamic::Context;
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The most bytes of a message. Compilers and programs can print any amount.
const MESSAGE: usize = 64 << 10;

/// Why a case did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The promise does not hold.
    Fail {
        cause: Cause,
        /// What was expected, and what happened.
        message: String,
    },
    /// The promise could not be checked.
    Skip { reason: String },
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
    pub fn unless_empty(problems: impl IntoIterator<Item = String>) -> CheckResult {
        let problems: Vec<String> = problems.into_iter().collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(Stop::mismatch(problems.join("\n")))
    }

    /// The same result, with a location before the message of a failure, or after the reason of a
    /// skip: reports count skips by the first line.
    #[must_use]
    pub fn at(self, location: &str) -> Stop {
        match self {
            Stop::Fail { cause, message } => Stop::Fail {
                cause,
                message: format!("{location}: {message}"),
            },
            Stop::Skip { reason } => Stop::Skip {
                reason: format!("{reason}\nat {location}"),
            },
        }
    }
}

impl From<futhark_safe::Error> for Stop {
    fn from(error: futhark_safe::Error) -> Stop {
        Stop::error(format!("{error:#}"))
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Stop {
        Stop::error(error.to_string())
    }
}

impl From<Difference> for Stop {
    fn from(difference: Difference) -> Stop {
        Stop::mismatch(difference.message)
    }
}

/// Returns a wrong result from a case, with a formatted message.
macro_rules! mismatch {
    ($($message:tt)+) => {
        return Err($crate::harness::cases::Stop::mismatch(format!($($message)+)))
    };
}

/// Returns an error of an operation that must succeed from a case, with a formatted message.
macro_rules! error {
    ($($message:tt)+) => {
        return Err($crate::harness::cases::Stop::error(format!($($message)+)))
    };
}

/// Skips a case that cannot be checked, with a formatted reason.
macro_rules! skip {
    ($($reason:tt)+) => {
        return Err($crate::harness::cases::Stop::skip(format!($($reason)+)))
    };
}

/// Returns a wrong result from a case, unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !($condition) {
            $crate::harness::cases::mismatch!($($message)+);
        }
    };
}

pub(crate) use {ensure, error, mismatch, skip};

/// What the code of a case returns.
pub type CheckResult<T = ()> = Result<T, Stop>;

/// The number of cases that may exceed their budgets. Further cases with a budget are skipped, so that
/// a slow program takes bounded time.
pub const MAX_OVERRUNS: usize = 3;

/// A remark on the case that runs: for example, that it tried fewer inputs than usual. It becomes the
/// message of the result, if the case passes. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Remark(Arc<Mutex<String>>);

impl Remark {
    /// Adds to the remark on the case that runs, once.
    pub fn add(&self, text: &str) {
        let mut remark = locked(&self.0);
        if remark.contains(text) {
            return;
        }
        if !remark.is_empty() {
            remark.push_str("; ");
        }
        remark.push_str(text);
    }

    fn take(&self) -> String {
        std::mem::take(&mut *locked(&self.0))
    }
}

/// The cases of a job: decides which run, runs and reports them.
pub struct Cases<'a> {
    out: &'a mut dyn Write,
    checks: &'a [CheckPattern],
    earlier: &'a Earlier,
    /// The names of the cases that this process has begun.
    known: HashSet<String>,
    /// A case fails if the emulated device reports misuse during it.
    watch: Option<Watch>,
    /// The remark on the case that runs.
    pub remark: Remark,
}

impl<'a> Cases<'a> {
    /// Will run cases that match a pattern of `checks`, or all if there is none, and that have not ended in
    /// an earlier process, and those that later cases need, and report to `out`.
    pub fn new(
        out: &'a mut dyn Write,
        checks: &'a [CheckPattern],
        earlier: &'a Earlier,
    ) -> Cases<'a> {
        Cases {
            out,
            checks,
            earlier,
            known: HashSet::new(),
            watch: Watch::from_env(),
            remark: Remark::default(),
        }
    }

    /// Whether any case of the check may be selected. If not, its cases need not be listed.
    #[must_use]
    pub fn wants(&self, check: &str) -> bool {
        self.checks.is_empty() || self.checks.iter().any(|pattern| pattern.may_match(check))
    }

    /// Runs a case if it is selected and has not ended in an earlier process. If it takes longer than
    /// the usual time limit, the parent kills this process, and the case has failed.
    pub fn run(&mut self, check: &str, case: &str, body: impl FnOnce() -> CheckResult) -> Ran {
        self.perform(CaseStart::new(check, case), false, body)
    }

    /// Runs a case with generated inputs, like [`Cases::run`]. If it takes longer than its budget, or
    /// fails with an excuse, it is skipped.
    fn run_within(
        &mut self,
        check: &str,
        case: &str,
        budget: Duration,
        excuse: Option<String>,
        body: impl FnOnce() -> CheckResult,
    ) -> Ran {
        let start = CaseStart {
            budget: Some(budget),
            excuse,
            ..CaseStart::new(check, case)
        };
        self.perform(start, false, body)
    }

    /// Runs a case in the context that all checks share. If it fails, the next case gets a new context, so that a
    /// context that no longer works does not fail it too.
    pub fn run_in_context(
        &mut self,
        env: &Env<'_>,
        check: &str,
        case: &str,
        body: impl FnOnce(&Context) -> CheckResult,
    ) {
        let ran = self.run(check, case, || body(&*env.context()?));
        if ran == Ran::Failed {
            env.forget_context();
        }
    }

    /// Runs a case with generated inputs, and drops the shared context after a failure, as
    /// [`Cases::run_in_context`] does. The case is skipped if it takes longer than [`Env::limit`], or fails with an
    /// excuse.
    pub fn run_generated(
        &mut self,
        env: &Env<'_>,
        check: &str,
        case: &str,
        body: impl FnOnce() -> CheckResult,
    ) {
        let ran = self.run_within(check, case, env.limit(), env.excuse(), body);
        if ran == Ran::Failed {
            env.forget_context();
        }
    }

    pub fn skip(&mut self, check: &str, case: &str, reason: &str) {
        self.run(check, case, || Err(Stop::skip(reason)));
    }

    /// Runs a case that later ones need: also if it is not selected, and in each process of the job,
    /// unless it killed an earlier process.
    pub fn run_always(
        &mut self,
        check: &str,
        case: &str,
        body: impl FnOnce() -> CheckResult,
    ) -> Ran {
        let start = CaseStart {
            is_needed: true,
            ..CaseStart::new(check, case)
        };
        self.perform(start, !self.is_selected(check, case), body)
    }

    /// Runs something that later cases need and that proves nothing by itself, like
    /// [`Cases::run_always`]. It is reported only if it fails: not if it exceeds its budget.
    pub fn run_quietly(
        &mut self,
        check: &str,
        case: &str,
        budget: Option<Duration>,
        body: impl FnOnce() -> CheckResult,
    ) -> Ran {
        let start = CaseStart {
            budget,
            is_needed: true,
            ..CaseStart::new(check, case)
        };
        self.perform(start, true, body)
    }

    /// Obtains a value that later cases need, by [`Cases::run_quietly`]. `None` if that fails.
    pub fn obtain<T>(
        &mut self,
        check: &str,
        case: &str,
        body: impl FnOnce() -> CheckResult<T>,
    ) -> Option<T> {
        let mut value = None;
        self.run_quietly(check, case, None, || {
            value = Some(body()?);
            Ok(())
        });
        value
    }

    /// Prepares what all cases of a check need, by [`Cases::obtain`]. If that fails, the check is skipped with the reason.
    pub fn prepare<T>(
        &mut self,
        check: &str,
        what: &str,
        work: impl FnOnce() -> CheckResult<T>,
    ) -> Option<T> {
        let reason = match self.obtain(check, what, || Ok(work())) {
            Some(Ok(prepared)) => return Some(prepared),
            Some(Err(Stop::Skip { reason })) => reason,
            Some(Err(Stop::Fail { message, .. })) => message,
            None => "it ended an earlier process".to_owned(),
        };
        self.skip(check, "", &reason);
        None
    }

    /// Whether a case is selected and has not ended in an earlier process.
    #[must_use]
    pub fn will_run(&self, check: &str, case: &str) -> bool {
        let name = CaseStart::new(check, case).name();
        self.is_selected(check, case) && !self.earlier.ended.contains(&name)
    }

    fn is_selected(&self, check: &str, case: &str) -> bool {
        let mut checks = self.checks.iter();
        self.checks.is_empty() || checks.any(|pattern| pattern.matches(check, case))
    }

    /// Runs a case. If it `is_quiet`, it is reported only if it fails.
    fn perform(
        &mut self,
        case: CaseStart,
        is_quiet: bool,
        body: impl FnOnce() -> CheckResult,
    ) -> Ran {
        let name = case.name();
        // A case runs if later cases need it, or if it is new and selected. After too many overruns, a new case with a
        // budget is skipped, or not reported if it is needed. A case that killed an earlier process fails at once.
        let is_new = !self.earlier.ended.contains(&name);
        let runs = case.is_needed || is_new && self.is_selected(&case.check, &case.case);
        let is_out_of_time =
            is_new && case.budget.is_some() && self.earlier.overruns >= MAX_OVERRUNS;
        if !runs || case.is_needed && is_out_of_time {
            return Ran::No;
        }
        if self.earlier.fatal.contains(&name) {
            return Ran::Failed;
        }
        self.remark.take();
        self.say(&Event::Begin(case.clone()));
        let begun = Instant::now();
        let result = match self.known.insert(name.clone()) {
            true if is_out_of_time => Err(Stop::skip(OUT_OF_TIME)),
            true => caught(body),
            false => Err(Stop::error(format!(
                "two cases of this job have the name {name}; only the first one has run"
            ))),
        };
        let result = match &mut self.watch {
            Some(watch) => watch.judge(result),
            None => result,
        };
        let (outcome, cause, message) = match result {
            Ok(()) => (Outcome::Pass, None, self.remark.take()),
            Err(Stop::Fail { cause, message }) => (Outcome::Fail, Some(cause), message),
            Err(Stop::Skip { reason }) => (Outcome::Skip, None, reason),
        };
        let failed = outcome == Outcome::Fail;
        if is_new && (failed || !is_quiet) {
            let result = CaseResult {
                check: case.check,
                case: case.case,
                outcome,
                cause,
                message: shortened(message, MESSAGE),
                seconds: begun.elapsed().as_secs_f64(),
            };
            self.say(&Event::End(result.excused(case.excuse.as_deref())));
        } else {
            self.say(&Event::EndQuietly);
        }
        if failed { Ran::Failed } else { Ran::Fine }
    }

    pub fn say(&mut self, event: &Event) {
        // The parent is gone, so nothing reads the results.
        if event.write(self.out).is_err() {
            std::process::exit(1);
        }
    }
}

/// The outcome of a case for the code that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// It did not run.
    No,
    /// It passed or was skipped.
    Fine,
    /// It failed: state that it shares with other cases may be damaged.
    Failed,
}

/// Why cases with a budget are skipped after [`MAX_OVERRUNS`].
const OUT_OF_TIME: &str =
    "too slow for this check: several cases with generated inputs have run out of time";

/// The result of a case. A panic is a bug in the check; the results of other checks are still valid.
fn caught(body: impl FnOnce() -> CheckResult) -> CheckResult {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic_text(&*panic);
        Err(Stop::error(format!("the check itself panicked: {text}")))
    })
}

/// The number of different reports to show; repeated lines in a row count once.
const MOST_LINES: usize = 5;

/// The file that the emulated device writes its misuse reports to. Each report is read once.
#[derive(Debug)]
struct Watch {
    file: File,
}

impl Watch {
    /// Opens the file at its end, if this process uses an emulated device.
    #[must_use]
    fn from_env() -> Option<Watch> {
        let mut file = File::open(std::env::var_os(MISUSE_REPORTS)?).ok()?;
        file.seek(SeekFrom::End(0)).ok()?;
        Some(Watch { file })
    }

    /// The result of a case, which fails if the device has reported misuse since the last case.
    fn judge(&mut self, result: CheckResult) -> CheckResult {
        let mut reports = String::new();
        if let Err(error) = self.file.read_to_string(&mut reports) {
            reports = format!("failed to read the reports of the device: {error}");
        }
        let mut lines: Vec<&str> = reports.lines().collect();
        lines.dedup();
        if lines.is_empty() {
            return result;
        }
        lines.truncate(MOST_LINES);
        let reports = format!("the emulated device: {}", lines.join("\n"));
        // Misuse is the cause in the report, because it may explain any other failure.
        Err(Stop::Fail {
            cause: Cause::Misuse,
            message: match result {
                Err(Stop::Fail { message, .. }) => format!("{message}\n{reports}"),
                Ok(()) | Err(Stop::Skip { .. }) => reports,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events_after(
        earlier: &Earlier,
        checks: &[&str],
        work: impl FnOnce(&mut Cases<'_>),
    ) -> Vec<Event> {
        let checks: Vec<CheckPattern> = checks.iter().map(|one| (*one).to_owned().into()).collect();
        let mut out = Vec::new();
        work(&mut Cases::new(&mut out, &checks, earlier));
        let lines = out.split(|&byte| byte == b'\n');
        lines.filter_map(Event::read).collect()
    }

    fn events_of(work: impl FnOnce(&mut Cases<'_>)) -> Vec<Event> {
        events_after(&Earlier::default(), &[], work)
    }

    fn results(events: &[Event]) -> Vec<&CaseResult> {
        let results = events.iter().filter_map(|event| match event {
            Event::End(result) => Some(result),
            _ => None,
        });
        results.collect()
    }

    fn outcomes(events: &[Event]) -> Vec<(&str, Outcome)> {
        let results = results(events).into_iter();
        results
            .map(|result| (&*result.case, result.outcome))
            .collect()
    }

    /// Earlier processes in which these cases have ended; `fatal`: those that killed it.
    fn after(ended: &[&str], fatal: &[&str]) -> Earlier {
        let owned = |name: &&str| (*name).to_owned();
        Earlier {
            ended: ended.iter().chain(fatal).map(owned).collect(),
            fatal: fatal.iter().map(owned).collect(),
            ..Earlier::default()
        }
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn cases_are_announced_and_reported() {
        let events = events_of(|cases| {
            assert_eq!(cases.run("a", "1", || Ok(())), Ran::Fine);
            let wrong = cases.run("a", "2", || Err(Stop::mismatch("no")));
            assert_eq!(wrong, Ran::Failed);
            cases.skip("b", "", "why");
        });
        assert!(
            matches!(&events[0], Event::Begin(CaseStart { check, case, .. }) if check == "a" && case == "1")
        );
        let expected = [
            ("1", Outcome::Pass),
            ("2", Outcome::Fail),
            ("", Outcome::Skip),
        ];
        assert_eq!(outcomes(&events), expected);
    }

    #[test]
    fn cases_that_have_ended_or_are_not_selected_do_not_run() {
        let earlier = after(&["a:1"], &[]);
        let events = events_after(&earlier, &["a:1*"], |cases| {
            assert!(cases.wants("a") && !cases.wants("b"));
            assert_eq!(cases.run("a", "1", || panic!("it has ended")), Ran::No);
            assert_eq!(cases.run("a", "2", || panic!("not selected")), Ran::No);
            assert_eq!(cases.run("a", "11", || Ok(())), Ran::Fine);
        });
        assert_eq!(outcomes(&events), [("11", Outcome::Pass)]);
    }

    #[test]
    fn two_cases_with_one_name_are_a_failure() {
        let events = events_of(|cases| {
            cases.run("a", "1", || Ok(()));
            cases.run("a", "1", || panic!("it ran"));
        });
        let second = results(&events)[1];
        assert_eq!(second.outcome, Outcome::Fail);
        assert!(second.message.contains("the name a:1;"));
    }

    #[test]
    fn needs_always_run_and_are_reported_if_they_fail() {
        let earlier = after(&["a:ended"], &[]);
        let events = events_after(&earlier, &["b"], |cases| {
            let failed = cases.run_always("a", "ended", || Err(Stop::error("known")));
            assert_eq!(failed, Ran::Failed);
            assert_eq!(cases.run_always("a", "fine", || Ok(())), Ran::Fine);
            assert_eq!(cases.run_always("b", "shown", || Ok(())), Ran::Fine);
            assert_eq!(cases.run_quietly("b", "quiet", None, || Ok(())), Ran::Fine);
            cases.run_quietly("a", "broken", None, || Err(Stop::error("new")));
            cases.run("b", "case", || Ok(()));
        });
        let expected = [
            ("shown", Outcome::Pass),
            ("broken", Outcome::Fail),
            ("case", Outcome::Pass),
        ];
        assert_eq!(outcomes(&events), expected);
        let needs = events.iter().filter_map(|event| match event {
            Event::Begin(start) => Some(start.is_needed),
            _ => None,
        });
        let expected = [true, true, true, true, true, false];
        assert_eq!(needs.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_ended_an_earlier_process_does_not_run_again() {
        let earlier = after(&[], &["a", "b"]);
        let events = events_after(&earlier, &[], |cases| {
            assert_eq!(cases.run_always("a", "", || panic!("again")), Ran::Failed);
            assert_eq!(
                cases.run_quietly("b", "", None, || panic!("again")),
                Ran::Failed
            );
            assert_eq!(cases.run("c", "", || Ok(())), Ran::Fine);
        });
        assert_eq!(outcomes(&events), [("", Outcome::Pass)]);
    }

    #[test]
    fn a_long_message_is_shortened() {
        let events = events_of(|cases| {
            cases.run("a", "", || Err(Stop::error("x".repeat(10 * MESSAGE))));
        });
        let message = &results(&events)[0].message;
        assert!(message.len() < 2 * MESSAGE && message.contains("bytes omitted"));
    }

    #[test]
    fn an_excused_failure_is_skipped() {
        let events = events_of(|cases| {
            let why = || Some("why".to_owned());
            let wrong = cases.run_within("a", "1", SECOND, why(), || Err(Stop::mismatch("no")));
            assert_eq!(wrong, Ran::Failed);
            cases.run_within("a", "2", SECOND, why(), || Ok(()));
        });
        assert!(
            matches!(&events[0], Event::Begin(CaseStart { excuse: Some(why), .. }) if why == "why")
        );
        assert_eq!(results(&events)[0].message, "why: mismatch: no");
        let expected = [("1", Outcome::Skip), ("2", Outcome::Pass)];
        assert_eq!(outcomes(&events), expected);
    }

    #[test]
    fn a_remark_is_the_message_of_the_case_that_passes() {
        let events = events_of(|cases| {
            let remark = cases.remark.clone();
            cases.run("a", "1", || {
                remark.add("7 of 24 inputs");
                remark.add("more");
                Ok(())
            });
            cases.run("a", "2", || Ok(()));
        });
        let messages = results(&events).into_iter();
        let messages: Vec<&str> = messages.map(|result| &*result.message).collect();
        assert_eq!(messages, ["7 of 24 inputs; more", ""]);
    }

    #[test]
    fn cases_with_a_budget_are_skipped_after_some_exceeded_theirs() {
        let earlier = after(&["a:again"], &["a:fatal"]);
        let events = events_after(&earlier, &[], |cases| {
            let again = cases.run_quietly("a", "again", Some(SECOND), || Ok(()));
            assert_eq!(again, Ran::Fine);
            let fatal = cases.run_quietly("a", "fatal", Some(SECOND), || panic!("ran again"));
            assert_eq!(fatal, Ran::Failed);
            assert_eq!(
                cases.run_within("a", "1", SECOND, None, || Ok(())),
                Ran::Fine
            );
        });
        assert_eq!(outcomes(&events), [("1", Outcome::Pass)]);
        let earlier = Earlier {
            overruns: MAX_OVERRUNS,
            ..earlier
        };
        let events = events_after(&earlier, &[], |cases| {
            let again = cases.run_quietly("a", "again", Some(SECOND), || Ok(()));
            assert_eq!(again, Ran::Fine);
            let new = cases.run_quietly("a", "new", Some(SECOND), || panic!("ran"));
            assert_eq!(new, Ran::No);
            cases.run_within("a", "1", SECOND, None, || panic!("ran"));
        });
        assert_eq!(outcomes(&events), [("1", Outcome::Skip)]);
    }

    #[test]
    fn a_panic_fails_its_case_only() {
        let events = events_of(|cases| {
            assert_eq!(cases.run("a", "1", || panic!("oh {}", 1)), Ran::Failed);
            assert_eq!(cases.run("a", "2", || Ok(())), Ran::Fine);
        });
        assert!(results(&events)[0].message.contains("oh 1"));
    }
}
