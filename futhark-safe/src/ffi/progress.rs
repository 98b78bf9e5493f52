//! The pending work of a context on a GPU backend, and the results that its failures invalidate.
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

use crate::error::{Call, Error, Result};

/// The number of the outcome that confirms or invalidates a value; 0 for a value that was complete
/// when its call returned.
pub(super) type Serial = u64;

/// The pending work of a context, protected by its lock.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The number of outcomes so far: a failing wait can add two.
    outcomes: Serial,
    /// The number of live pending values: those started since the last outcome.
    held: usize,
    /// Failures by the serial of the values that they invalidated.
    failures: BTreeMap<Serial, Invalidation>,
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
    /// Records a successful call, whose results may be pending. Returns their serial.
    pub(super) fn start(&mut self, call: &'static str, unchecked: Unchecked) -> Serial {
        add(&mut self.calls, call);
        match unchecked {
            Unchecked::Nothing => self.checking.clear(),
            Unchecked::Last => add(&mut self.checking, call),
            Unchecked::Earlier => {}
        }
        self.outcomes + 1
    }

    /// Returns the pending calls; with `by_check`, only those with unread kernel checks. `None` if
    /// there are more than [`MAX_NAMED`].
    pub(super) fn suspects(&self, by_check: bool) -> Option<Vec<Call>> {
        let calls = match by_check {
            true => &self.checking,
            false => &self.calls,
        };
        let all = calls.len() <= MAX_NAMED;
        all.then(|| calls.iter().map(|&call| call.into()).collect())
    }

    pub(super) fn hold(&mut self, serial: Serial) {
        // Only pending values are counted. An invalid one cannot be used to make another.
        if serial == self.outcomes + 1 {
            self.held += 1;
        }
    }

    /// Removes one value of this serial from the count.
    pub(super) fn release(&mut self, serial: Serial) {
        if serial == self.outcomes + 1 {
            self.held -= 1;
        } else if let Some(failure) = self.failures.get_mut(&serial) {
            failure.held -= 1;
            if failure.held == 0 {
                self.failures.remove(&serial);
            }
        }
    }

    /// Records a wait that succeeded: all pending values are complete. After one that failed, `invalidate` has recorded
    /// why.
    pub(super) fn confirm(&mut self) {
        self.outcomes += 1;
        self.held = 0;
        self.calls.clear();
        self.checking.clear();
    }

    /// Records a wait that failed: all pending values are invalid.
    pub(super) fn invalidate(&mut self, error: &Error) {
        if self.held > 0 {
            let failure = Invalidation {
                error: error.again(VALUE),
                held: self.held,
            };
            self.failures.insert(self.outcomes + 1, failure);
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

    #[cfg(loom)]
    impl crate::ffi::Core {
        /// How many failures are stored for values that they invalidated.
        pub(crate) fn stored_failures(&self) -> usize {
            self.locked().progress().failures.len()
        }
    }

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
        progress.invalidate(&error());
        assert!(progress.verdicts([a]).is_ok());
        let b = value(&mut progress);
        progress.invalidate(&error());
        let c = value(&mut progress);
        progress.invalidate(&error());
        assert!(progress.verdicts([b]).is_err() && progress.verdicts([c]).is_err());
        assert!(progress.verdicts([a]).is_ok());
    }

    #[test]
    fn a_failure_is_removed_with_the_last_value_that_it_invalidates() {
        let mut progress = Progress::default();
        let (a, b) = (value(&mut progress), value(&mut progress));
        progress.invalidate(&error());
        progress.release(a);
        assert!(progress.verdicts([b]).is_err());
        progress.release(b);
        assert!(progress.failures.is_empty());
        // Values dropped before the wait leave no failure behind.
        for _ in 0..1000 {
            let serial = value(&mut progress);
            progress.release(serial);
            progress.invalidate(&error());
        }
        assert!(progress.failures.is_empty());
        // Complete values are not counted.
        let done = value(&mut progress);
        progress.confirm();
        progress.hold(done);
        progress.release(done);
        progress.release(done);
        let kept = value(&mut progress);
        progress.invalidate(&error());
        assert_eq!(progress.failures[&kept].held, 1);
    }
}
