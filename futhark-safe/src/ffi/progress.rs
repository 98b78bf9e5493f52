//! Failures of pending work, on a GPU backend.
//!
//! A call whose results are arrays returns before they are computed. If the work fails, the next
//! wait reports that, in whichever operation it happens, and the results contain arbitrary bytes of
//! device memory. From then on, using one is an error with the message of that failure.
//!
//! The C side numbers the outcomes of waits (`pending` in `futhark_table.h`), and a failure tells which one it is. All
//! values that one outcome completes or invalidates share it, so its failure is kept as long as one of them.

use std::sync::{Arc, OnceLock, Weak};

use crate::error::{Error, Result};

/// What completes or invalidates a value; `None` for a value that was complete when its call returned.
pub(super) type Pending = Option<Arc<Outcome>>;

/// The outcome of a wait, which can be in the future. Used under the lock of its context.
#[derive(Debug)]
pub(super) struct Outcome {
    number: u64,
    failure: OnceLock<Error>,
}

/// Later outcomes are greater.
pub(super) fn order(pending: &Pending) -> Option<u64> {
    pending.as_ref().map(|outcome| outcome.number)
}

/// The operation that errors about invalidated values report.
const VALUE: &str = "use of an invalidated value";

/// Returns the failure that invalidated values of one of these outcomes, if any.
#[inline(never)] // It would take registers from calls on host backends.
pub(super) fn verdicts<'v>(outcomes: impl IntoIterator<Item = &'v Pending>) -> Result<()> {
    let mut failures = outcomes
        .into_iter()
        .flatten()
        .filter_map(|of| of.failure.get());
    failures
        .next()
        .map_or(Ok(()), |error| Err(error.again(VALUE)))
}

/// The outcomes of a context, protected by its lock.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The last one of which there was a value: all others have happened.
    last: Weak<Outcome>,
}

impl Progress {
    fn last(&self, number: u64) -> Pending {
        self.last.upgrade().filter(|last| last.number == number)
    }

    /// The outcome of this number, for a value; 0 is none.
    pub(super) fn outcome(&mut self, number: u64) -> Pending {
        if number == 0 {
            return None;
        }
        let failure = OnceLock::new();
        let new = || Arc::new(Outcome { number, failure });
        let outcome = self.last(number).unwrap_or_else(new);
        self.last = Arc::downgrade(&outcome);
        Some(outcome)
    }

    /// Records a failure, which invalidates the values of this outcome.
    pub(super) fn invalidate(&self, number: u64, error: &Error) {
        if let Some(last) = self.last(number) {
            // The first failure is the cause of others.
            let _ = last.failure.set(error.again(VALUE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_failure_invalidates_only_values_of_its_number() {
        let text = Some("index out of bounds".to_owned());
        let error = Error::new(ErrorKind::Program, "sync", "").with_c(text, 2);
        let mut progress = Progress::default();
        let [done, a, b, again] = [0, 1, 2, 2].map(|number| progress.outcome(number));
        progress.invalidate(1, &error); // of values that were complete
        progress.invalidate(2, &error);
        let c = progress.outcome(3);
        progress.invalidate(3, &error);
        assert!(
            [&b, &again, &c]
                .map(|value| verdicts([value]))
                .iter()
                .all(Result::is_err)
        );
        assert!(verdicts([&done, &a]).is_ok());
        // It is kept as long as one of its values.
        let kept = Arc::downgrade(c.as_ref().unwrap());
        let other = c.clone();
        drop(c);
        assert!(kept.upgrade().is_some());
        drop(other);
        assert!(kept.upgrade().is_none());
    }
}
