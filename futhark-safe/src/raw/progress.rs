//! GPU backends: which results can be believed.
//!
//! A call whose results are arrays returns before they are computed. If it fails, that
//! shows at the next wait, whoever waits, and its results hold whatever the device's
//! memory held. So each result remembers when it was started, and a failure that shows
//! in a wait makes everything suspect that was started since the last successful one:
//! using such a value is an error with the message of that failure, then and later.

use crate::error::{Error, Kind};

/// When a value was started: 0 for one that was complete when its call returned.
pub(super) type Serial = u64;

/// The state of what was started, behind the context's lock.
#[derive(Debug, Default)]
pub(super) struct Progress {
    started: Serial,
    confirmed: Serial,
    failures: Vec<Failure>,
}

#[derive(Debug)]
struct Failure {
    first: Serial,
    last: Serial,
    kind: Kind,
    message: String,
}

impl Progress {
    /// Something was started that is not waited for.
    pub(super) fn start(&mut self) -> Serial {
        self.started += 1;
        self.started
    }

    /// A wait succeeded: everything is complete.
    pub(super) fn confirm(&mut self) {
        self.confirmed = self.started;
    }

    /// A wait failed: what is not confirmed is lost.
    pub(super) fn fail(&mut self, error: &Error) {
        if self.confirmed < self.started {
            self.failures.push(Failure {
                first: self.confirmed + 1,
                last: self.started,
                kind: error.kind(),
                message: error.to_string(),
            });
        }
        self.confirm();
    }

    /// Why a value of this serial cannot be believed, if so.
    pub(super) fn verdict(&self, serial: Serial) -> Result<(), Error> {
        if serial == 0 {
            return Ok(());
        }
        // Ascending and apart, so the first range that does not end before is the one.
        let i = self
            .failures
            .partition_point(|failure| failure.last < serial);
        match self.failures.get(i) {
            Some(failure) if failure.first <= serial => Err(Error::new(
                failure.kind,
                "value of a failed call",
                format!(
                    "this value was still being computed when a failure showed: {}",
                    failure.message
                ),
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error() -> Error {
        Error::new(Kind::Program, "sync", "index out of bounds")
    }

    #[test]
    fn only_what_was_started_since_the_last_wait_is_suspect() {
        let mut progress = Progress::default();
        let early = progress.start();
        progress.confirm();
        let (a, b) = (progress.start(), progress.start());
        progress.fail(&error());
        let later = progress.start();
        assert!(progress.verdict(0).is_ok());
        assert!(progress.verdict(early).is_ok());
        assert!(progress.verdict(later).is_ok());
        for lost in [a, b] {
            let error = progress.verdict(lost).unwrap_err();
            assert_eq!(error.kind(), Kind::Program);
            assert!(error.to_string().contains("index out of bounds"));
        }
    }

    #[test]
    fn a_failure_with_nothing_under_way_taints_nothing() {
        let mut progress = Progress::default();
        let a = progress.start();
        progress.confirm();
        progress.fail(&error());
        assert!(progress.verdict(a).is_ok());
        let b = progress.start();
        progress.fail(&error());
        let c = progress.start();
        progress.fail(&error());
        assert!(progress.verdict(b).is_err() && progress.verdict(c).is_err());
        assert!(progress.verdict(a).is_ok());
    }
}
