//! Failures as the C side records them, the errors that they become, and on GPU backends the results that they
//! invalidate.
//!
//! A call whose results are arrays returns before they are computed. If the work fails, the next
//! wait reports that, in whichever operation it happens, and the results contain arbitrary bytes of
//! device memory. A successful wait confirms all pending values; a failing wait invalidates them.
//! From then on, using an invalidated value is an error with the message of that failure.
//!
//! Each value has a [`Serial`], the number of the outcome (success or failure) that will confirm or
//! invalidate it. Outcomes are counted, not waits, because a failing wait can record two failures.
//!
//! A failure is stored under the serial that it invalidates, until the last value of that serial
//! is dropped. So there are never more failures than values.

use std::collections::BTreeMap;

use futhark_sys::table as c;

use crate::error::{Call, Error, ErrorKind, Origin, Result};

/// A copy of the C side's `struct fut_failure`.
#[derive(Default)]
pub(super) struct Failure {
    /// `FUT_CAUSE_…`
    pub(super) cause: u32,
    /// `FUT_OF_…`
    pub(super) origin: u32,
    pub(super) code: i32,
    /// Text of futhark-sys.
    pub(super) words: Option<String>,
    /// Text of the runtime.
    pub(super) text: Option<String>,
}

/// A call that failed.
pub(super) struct Failed {
    pub(super) error: Error,
    pub(super) stage: Stage,
}

/// How far a failed call got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The C side rejected it before it called the generated function.
    Refused,
    /// An entry point rejected the sizes of its arguments, which it compares before anything else.
    Sizes,
    /// It ran.
    Started,
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Error {
        failed.error
    }
}

impl Failure {
    fn is_silent(&self) -> bool {
        self.words.is_none() && self.text.is_none()
    }

    /// Whether the failure can belong to an earlier call than the one that reported it.
    fn may_be_earlier(&self) -> bool {
        self.origin != c::FUT_OF_CALL
    }

    /// The calls that this failure, which `operation` reports, can belong to.
    ///
    /// The C side knows whether a failure is of the running call, of an earlier one or of either,
    /// and `Progress` which earlier calls have work that no wait has confirmed. A failed check of the
    /// program narrows these down to calls that started kernels with checks.
    fn origin(&self, progress: &Progress, operation: &Call) -> Origin {
        let by_check = self.cause == c::FUT_CAUSE_PROGRAM;
        let suspects = match self.origin {
            c::FUT_OF_CALL => return Origin::Operation,
            _ => progress.suspects(by_check),
        };
        let others = suspects.map(|mut calls| {
            calls.retain(|call| self.origin == c::FUT_OF_EARLIER || call != operation);
            calls
        });
        // If no call is pending, the wait itself failed.
        let nothing = others.as_ref().is_some_and(Vec::is_empty);
        match self.origin {
            c::FUT_OF_EARLIER if by_check || !nothing => {
                Origin::Earlier(others.filter(|_| !nothing))
            }
            c::FUT_OF_EITHER if !nothing => Origin::Either(others),
            _ => Origin::Operation,
        }
    }

    /// The error for a call that returned `status`.
    fn error(self, status: u32, operation: Call) -> Error {
        // The status first: it is known, and the cause is derived from the function that set the text.
        let kind = match (status, self.cause) {
            (c::FUT_MEMORY, _) => ErrorKind::OutOfMemory,
            (c::FUT_LOST, _) => ErrorKind::ContextLost,
            (c::FUT_UNAVAILABLE, _) => ErrorKind::Load,
            (c::FUT_REFUSED, _) | (_, c::FUT_CAUSE_ARGUMENT) => ErrorKind::InvalidArgument,
            (_, c::FUT_CAUSE_PROGRAM | c::FUT_CAUSE_SIZES) => ErrorKind::Program,
            _ => ErrorKind::Backend,
        };
        let words = match self.words {
            Some(words) => words.into(),
            None if !self.is_silent() => "".into(),
            None if kind == ErrorKind::OutOfMemory => "not enough memory".into(),
            None if kind == ErrorKind::ContextLost => {
                "the runtime failed, and there was no memory for its message".into()
            }
            None => Call::from(format!(
                "failed with code {} and without a message",
                self.code
            )),
        };
        Error::new(kind, operation, words).with_c(self.text, self.code)
    }
}

/// The number of the outcome that confirms or invalidates a value; 0 for a value that was complete
/// when its call returned.
pub(super) type Serial = u64;

/// The pending work of a context, protected by its lock.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The call in which the context was lost.
    lost_in: Option<Call>,
    /// The number of outcomes so far: a failing wait can add two.
    waits: Serial,
    /// The number of live pending values: those started since the last outcome.
    held: usize,
    /// Failures by the serial of the values that they invalidated.
    failures: BTreeMap<Serial, Invalidation>,
    /// The calls since the last outcome.
    calls: Calls,
    /// The subset of `calls` with kernel checks (such as bounds checks) that were not read yet.
    checking: Calls,
}

/// A set of calls. One that has more than [`MAX_NAMED`] may lack some.
type Calls = Vec<&'static str>;

/// An error names at most this many earlier calls.
const MAX_NAMED: usize = 4;

/// Which calls have pending kernels that check the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unchecked {
    /// None.
    Nothing,
    /// The last call, and possibly earlier ones.
    Last,
    /// Only earlier ones.
    Earlier,
}

#[derive(Debug)]
struct Invalidation {
    error: Error,
    /// The number of live values that it invalidates; never 0.
    held: usize,
}

impl Progress {
    /// The failure of a call that returned `status`. `own` is its record, `other` that of a failure which the wait
    /// after it found.
    pub(super) fn failed(
        &mut self,
        status: u32,
        mut own: Failure,
        mut other: Option<Failure>,
        operation: Call,
        is_gpu: bool,
    ) -> Failed {
        if status == c::FUT_LOST {
            // Without a code the context is not lost, but refused to a forked process.
            let is_lost_now = self.lost_in.is_none() && own.code != 0;
            let mut error = own.error(status, operation.clone());
            if let Some(earlier) = &self.lost_in {
                error = error.with_origin(Origin::Earlier(Some(vec![earlier.clone()])));
            }
            if !is_lost_now {
                let stage = Stage::Refused;
                return Failed { error, stage };
            }
            self.lost_in = Some(operation);
            let stage = Stage::Started;
            return Failed { error, stage };
        }
        let stage = match status {
            c::FUT_REFUSED => Stage::Refused,
            c::FUT_FAILED if own.cause == c::FUT_CAUSE_SIZES => Stage::Sizes,
            _ => Stage::Started,
        };
        // The call returned a code without a text, and the text of the cause came with the wait.
        if status == c::FUT_FAILED && own.is_silent() {
            own = other.take().unwrap_or(own);
        }
        let mut error = self.attributed(own, status, &operation, is_gpu);
        if let Some(other) = other {
            error = error.with_also(self.attributed(other, c::FUT_FAILED, &operation, is_gpu));
        }
        // After these the C side has waited.
        if is_gpu && matches!(status, c::FUT_FAILED | c::FUT_MEMORY) {
            self.confirm();
        }
        Failed { error, stage }
    }

    /// The error of a failure, which invalidates all pending values if it can be that of an earlier call.
    fn attributed(
        &mut self,
        failure: Failure,
        status: u32,
        operation: &Call,
        is_gpu: bool,
    ) -> Error {
        let origin = failure.origin(self, operation);
        let may_be_earlier = failure.may_be_earlier();
        let error = failure.error(status, operation.clone()).with_origin(origin);
        if is_gpu && may_be_earlier {
            self.fail(&error);
        }
        error
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost_in.is_some()
    }

    /// Records a successful call, whose results may be pending. Returns their serial.
    pub(super) fn start(&mut self, call: &'static str, unchecked: Unchecked) -> Serial {
        add(&mut self.calls, call);
        match unchecked {
            Unchecked::Nothing => self.checking.clear(),
            Unchecked::Last => add(&mut self.checking, call),
            Unchecked::Earlier => {}
        }
        self.waits + 1
    }

    /// Returns the pending calls; with `by_check`, only those with unread kernel checks. `None` if
    /// there are more than [`MAX_NAMED`].
    fn suspects(&self, by_check: bool) -> Option<Vec<Call>> {
        let calls = match by_check {
            true => &self.checking,
            false => &self.calls,
        };
        let all = calls.len() <= MAX_NAMED;
        all.then(|| calls.iter().map(|&call| call.into()).collect())
    }

    pub(super) fn hold(&mut self, serial: Serial) {
        // Only pending values are counted. An invalid one cannot be used to make another.
        if serial == self.waits + 1 {
            self.held += 1;
        }
    }

    /// Removes one value of this serial from the count.
    pub(super) fn release(&mut self, serial: Serial) {
        if serial == self.waits + 1 {
            self.held -= 1;
        } else if let Some(failure) = self.failures.get_mut(&serial) {
            failure.held -= 1;
            if failure.held == 0 {
                self.failures.remove(&serial);
            }
        }
    }

    /// Records a wait that succeeded: all pending values are complete.
    pub(super) fn confirm(&mut self) {
        self.waits += 1;
        self.held = 0;
        self.calls.clear();
        self.checking.clear();
    }

    /// Records a wait that failed: all pending values are invalid.
    fn fail(&mut self, error: &Error) {
        if self.held > 0 {
            let failure = Invalidation {
                error: error.again(VALUE),
                held: self.held,
            };
            self.failures.insert(self.waits + 1, failure);
        }
        self.confirm();
    }

    /// Returns the failure that invalidated values of one of these serials, if any.
    #[inline(never)] // It would take registers from calls on host backends.
    pub(super) fn verdicts(&self, serials: impl IntoIterator<Item = Serial>) -> Result<()> {
        let mut failures = serials
            .into_iter()
            .filter_map(|serial| self.failures.get(&serial));
        match failures.next() {
            Some(failure) => Err(failure.error.again(VALUE)),
            None => Ok(()),
        }
    }
}

/// The operation that errors about invalidated values report.
const VALUE: &str = "use of an invalidated value";

fn add(calls: &mut Calls, call: &'static str) {
    if calls.len() <= MAX_NAMED && !calls.contains(&call) {
        calls.push(call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn error() -> Error {
        let text = Some("index out of bounds".to_owned());
        Error::new(ErrorKind::Program, "sync", "").with_c(text, 2)
    }

    fn value(progress: &mut Progress) -> Serial {
        let serial = progress.start("entry point f", Unchecked::Last);
        progress.hold(serial);
        serial
    }

    #[test]
    fn a_failing_wait_invalidates_only_values_since_the_last_wait() {
        let mut progress = Progress::default();
        let early = value(&mut progress);
        progress.confirm();
        let (a, b) = (value(&mut progress), value(&mut progress));
        progress.fail(&error());
        let later = value(&mut progress);
        assert!(progress.verdicts([0]).is_ok());
        assert!(progress.verdicts([early]).is_ok());
        assert!(progress.verdicts([later]).is_ok());
        for lost in [a, b] {
            let error = progress.verdicts([lost]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Program);
            assert_eq!(error.code(), Some(2));
            assert_eq!(error.c_message(), Some("index out of bounds"));
        }
    }

    #[test]
    fn suspects_are_the_distinct_calls_since_the_last_wait() {
        let mut progress = Progress::default();
        let named = |names: &[&'static str]| Some(names.iter().map(|&name| name.into()).collect());
        assert_eq!(progress.suspects(false), named(&[]));
        progress.start("f", Unchecked::Last);
        progress.start("g", Unchecked::Earlier);
        progress.start("f", Unchecked::Last);
        assert_eq!(progress.suspects(false), named(&["f", "g"]));
        assert_eq!(progress.suspects(true), named(&["f"]));
        // A call that waited before it returned, and started no check after that.
        progress.start("h", Unchecked::Nothing);
        assert_eq!(progress.suspects(true), named(&[]));
        for call in ["a", "b"] {
            progress.start(call, Unchecked::Last);
        }
        assert_eq!(progress.suspects(false), None);
        assert_eq!(progress.suspects(true), named(&["a", "b"]));
        progress.confirm();
        assert_eq!(progress.suspects(false), named(&[]));
    }

    #[test]
    fn each_failure_invalidates_only_values_pending_at_that_time() {
        let mut progress = Progress::default();
        let a = value(&mut progress);
        progress.confirm();
        progress.fail(&error());
        assert!(progress.verdicts([a]).is_ok());
        let b = value(&mut progress);
        progress.fail(&error());
        let c = value(&mut progress);
        progress.fail(&error());
        assert!(progress.verdicts([b]).is_err() && progress.verdicts([c]).is_err());
        assert!(progress.verdicts([a]).is_ok());
    }

    #[test]
    fn a_failure_is_removed_with_the_last_value_that_it_invalidates() {
        let mut progress = Progress::default();
        let (a, b) = (value(&mut progress), value(&mut progress));
        progress.fail(&error());
        progress.release(a);
        assert!(progress.verdicts([b]).is_err());
        progress.release(b);
        assert!(progress.failures.is_empty());
        // Values dropped before the wait leave no failure behind.
        for _ in 0..1000 {
            let serial = value(&mut progress);
            progress.release(serial);
            progress.fail(&error());
        }
        assert!(progress.failures.is_empty());
        // Complete values are not counted.
        let done = value(&mut progress);
        progress.confirm();
        progress.hold(done);
        progress.release(done);
        progress.release(done);
        let kept = value(&mut progress);
        progress.fail(&error());
        assert_eq!(progress.failures[&kept].held, 1);
    }
}
