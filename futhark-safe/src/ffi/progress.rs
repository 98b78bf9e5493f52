//! GPU backends: which results can be believed.
//!
//! A call whose results are arrays returns before they are computed. If it fails, that
//! shows at the next wait, whoever waits, and its results hold whatever the device's
//! memory held. So each result remembers between which waits it was started, and a failure
//! that shows in a wait makes everything suspect that was started since the last one:
//! using such a value is an error with the message of that failure, then and later.
//!
//! A failure is remembered for as long as a value is that it makes suspect, so what is
//! remembered is never more than the values that are held.

use std::collections::BTreeMap;

use crate::error::{Call, Error, Result};

/// Between which waits a value was started: 0 for one that was complete when its call
/// returned, otherwise one more than the number of waits before.
pub(super) type Serial = u64;

/// The state of what was started, behind the context's lock.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// How many waits there were.
    waits: Serial,
    /// How many values are held that were started since.
    held: usize,
    /// What failed, by the serial of the values that it makes suspect.
    failures: BTreeMap<Serial, Failure>,
    /// The calls that were started since.
    calls: Calls,
    /// Those of them that started kernels with checks of the program.
    checking: Calls,
}

/// Different calls, as long as there are few.
#[derive(Debug)]
struct Calls(Option<Vec<&'static str>>);

/// More calls than this are not named.
const MAX_NAMED: usize = 4;

/// Which calls have started kernels that check the program and have not been waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unchecked {
    Nothing,
    /// The last call, and possibly earlier ones.
    Last,
    /// Only earlier ones.
    Earlier,
}

#[derive(Debug)]
struct Failure {
    error: Error,
    /// How many values are held that it makes suspect; never 0.
    held: usize,
}

impl Progress {
    /// A call was started that is not waited for.
    pub(super) fn start(&mut self, call: &'static str, unchecked: Unchecked) -> Serial {
        self.calls.add(call);
        match unchecked {
            Unchecked::Nothing => self.checking.clear(),
            Unchecked::Last => self.checking.add(call),
            Unchecked::Earlier => {}
        }
        self.waits + 1
    }

    /// The calls that may have failed unnoticed, by a check of the program or in any way; `None`
    /// for too many.
    pub(super) fn suspects(&self, by_check: bool) -> Option<Vec<Call>> {
        let calls = if by_check {
            &self.checking
        } else {
            &self.calls
        };
        let calls = calls.0.as_ref()?;
        Some(calls.iter().map(|&call| call.into()).collect())
    }

    /// There is one more value of this serial.
    pub(super) fn hold(&mut self, serial: Serial) {
        // What failed cannot be used, so nothing is made of it; what is complete stays so.
        if serial == self.waits + 1 {
            self.held += 1;
        }
    }

    /// There is one value less of this serial.
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

    /// A wait succeeded: everything is complete.
    pub(super) fn confirm(&mut self) {
        self.waits += 1;
        self.held = 0;
        self.calls.clear();
        self.checking.clear();
    }

    /// A wait failed: what is not confirmed is lost.
    pub(super) fn fail(&mut self, error: &Error) {
        if self.held > 0 {
            let failure = Failure {
                error: error.again(VALUE),
                held: self.held,
            };
            self.failures.insert(self.waits + 1, failure);
        }
        self.confirm();
    }

    /// Why a value of this serial cannot be believed, if so.
    pub(super) fn verdict(&self, serial: Serial) -> Result<()> {
        match self.failures.get(&serial) {
            Some(failure) => Err(failure.error.again(VALUE)),
            None => Ok(()),
        }
    }
}

/// The operation of errors about values that are suspect.
const VALUE: &str = "value of a failed call";

impl Default for Calls {
    fn default() -> Calls {
        Calls(Some(Vec::new()))
    }
}

impl Calls {
    fn add(&mut self, call: &'static str) {
        let Some(calls) = &mut self.0 else {
            return;
        };
        if calls.contains(&call) {
            return;
        }
        if calls.len() == MAX_NAMED {
            self.0 = None;
        } else {
            calls.push(call);
        }
    }

    fn clear(&mut self) {
        self.0.get_or_insert_default().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn error() -> Error {
        let text = Some("index out of bounds".to_owned());
        Error::from_c(Kind::Program, "sync", "", text, 2)
    }

    /// A value whose computation was started.
    fn value(progress: &mut Progress) -> Serial {
        let serial = progress.start("entry point f", Unchecked::Last);
        progress.hold(serial);
        serial
    }

    #[test]
    fn only_what_was_started_since_the_last_wait_is_suspect() {
        let mut progress = Progress::default();
        let early = value(&mut progress);
        progress.confirm();
        let (a, b) = (value(&mut progress), value(&mut progress));
        progress.fail(&error());
        let later = value(&mut progress);
        assert!(progress.verdict(0).is_ok());
        assert!(progress.verdict(early).is_ok());
        assert!(progress.verdict(later).is_ok());
        for lost in [a, b] {
            let error = progress.verdict(lost).unwrap_err();
            assert_eq!(error.kind(), Kind::Program);
            assert_eq!(error.code(), Some(2));
            assert_eq!(error.c_message(), Some("index out of bounds"));
        }
    }

    #[test]
    fn suspects_are_the_different_calls_since_the_last_wait() {
        let mut progress = Progress::default();
        let named = |names: &[&'static str]| Some(names.iter().map(|&name| name.into()).collect());
        assert_eq!(progress.suspects(false), named(&[]));
        progress.start("f", Unchecked::Last);
        progress.start("g", Unchecked::Earlier);
        progress.start("f", Unchecked::Last);
        assert_eq!(progress.suspects(false), named(&["f", "g"]));
        assert_eq!(progress.suspects(true), named(&["f"]));
        // A call that waited inside, and started no check after that.
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
    fn a_failure_with_nothing_under_way_taints_nothing() {
        let mut progress = Progress::default();
        let a = value(&mut progress);
        progress.confirm();
        progress.fail(&error());
        assert!(progress.verdict(a).is_ok());
        let b = value(&mut progress);
        progress.fail(&error());
        let c = value(&mut progress);
        progress.fail(&error());
        assert!(progress.verdict(b).is_err() && progress.verdict(c).is_err());
        assert!(progress.verdict(a).is_ok());
    }

    #[test]
    fn a_failure_is_forgotten_with_the_last_value_that_it_concerns() {
        let mut progress = Progress::default();
        let (a, b) = (value(&mut progress), value(&mut progress));
        progress.fail(&error());
        progress.release(a);
        assert!(progress.verdict(b).is_err());
        progress.release(b);
        assert!(progress.failures.is_empty());
        // Dropped before anybody waited.
        for _ in 0..1000 {
            let serial = value(&mut progress);
            progress.release(serial);
            progress.fail(&error());
        }
        assert!(progress.failures.is_empty());
        // Complete ones count for nothing.
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
