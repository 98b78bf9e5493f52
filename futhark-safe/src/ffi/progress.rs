//! Failures of pending work, on a GPU backend.
//!
//! A call whose results are arrays returns before they are computed. If the work fails, the next
//! wait reports that, in whichever operation it happens, and the results contain arbitrary bytes of
//! device memory. From then on, using one is an error with the message of that failure.
//!
//! The C side numbers the outcomes of waits (`pending` in `futhark_table.h`). Each value has a [`Serial`], the number of the
//! outcome that completes or invalidates it, and a failure tells which number it invalidates. It is stored under that number
//! until the last value of it is dropped. So there are never more failures than values.

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// The number of the outcome that completes or invalidates a value; 0 for a value that was complete
/// when its call returned.
pub(super) type Serial = u64;

/// The values of a context that can be or are invalid, protected by its lock.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The largest serial of a value, and the number of live values of it.
    last: Serial,
    held: usize,
    /// Failures by the serial of the values that they invalidated, each with the number of these values; never 0.
    failures: BTreeMap<Serial, (Error, usize)>,
}

impl Progress {
    /// Counts a value of this serial.
    pub(super) fn hold(&mut self, serial: Serial) {
        if serial > self.last {
            // What is counted so far is complete, or counted with the failure.
            (self.last, self.held) = (serial, 0);
        }
        if serial == self.last && serial != 0 {
            self.held += 1;
        }
    }

    /// Removes one value of this serial from the count.
    pub(super) fn release(&mut self, serial: Serial) {
        if let Some((_, held)) = self.failures.get_mut(&serial) {
            *held -= 1;
            if *held == 0 {
                self.failures.remove(&serial);
            }
        } else if serial == self.last && serial != 0 {
            self.held -= 1;
        }
    }

    /// Records a failure that invalidates the values of this serial.
    pub(super) fn invalidate(&mut self, serial: Serial, error: &Error) {
        if serial == self.last && self.held > 0 {
            self.failures
                .insert(serial, (error.again(VALUE), self.held));
        }
    }

    /// Returns the failure that invalidated values of one of these serials, if any.
    #[inline(never)] // It would take registers from calls on host backends.
    pub(super) fn verdicts(&self, serials: impl IntoIterator<Item = Serial>) -> Result<()> {
        let mut failures = serials
            .into_iter()
            .filter_map(|serial| self.failures.get(&serial));
        match failures.next() {
            Some((error, _)) => Err(error.again(VALUE)),
            None => Ok(()),
        }
    }
}

/// The operation that errors about invalidated values report.
const VALUE: &str = "use of an invalidated value";

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

    fn value(progress: &mut Progress, serial: Serial) -> Serial {
        progress.hold(serial);
        serial
    }

    #[test]
    fn a_failure_invalidates_only_values_of_its_number() {
        let mut progress = Progress::default();
        let (done, a) = (value(&mut progress, 0), value(&mut progress, 1));
        let b = value(&mut progress, 2);
        progress.invalidate(2, &error());
        let c = value(&mut progress, 3);
        progress.invalidate(3, &error());
        assert!(progress.verdicts([b]).is_err() && progress.verdicts([c]).is_err());
        assert!(progress.verdicts([done, a]).is_ok());
    }

    #[test]
    fn a_failure_is_removed_with_the_last_value_that_it_invalidates() {
        let mut progress = Progress::default();
        let (a, b) = (value(&mut progress, 1), value(&mut progress, 1));
        progress.invalidate(1, &error());
        progress.release(a);
        assert!(progress.verdicts([b]).is_err());
        progress.release(b);
        assert!(progress.failures.is_empty());
        // Values dropped before the wait leave no failure behind.
        for serial in 2..1000 {
            progress.hold(serial);
            progress.release(serial);
            progress.invalidate(serial, &error());
        }
        assert!(progress.failures.is_empty());
        // Complete values are not counted.
        let done = value(&mut progress, 1000);
        let kept = value(&mut progress, 1001);
        let part = value(&mut progress, done);
        progress.release(part);
        progress.release(done);
        progress.invalidate(kept, &error());
        assert_eq!(progress.failures[&kept].1, 1);
    }
}
