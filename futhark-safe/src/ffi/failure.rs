//! Failures as the C side records them, and the errors that they become.

use futhark_sys::table as c;

use super::progress::Progress;
use crate::error::{Call, Error, ErrorKind, Origin};

/// A copy of the C side's `struct fut_failure`.
#[derive(Default)]
pub(super) struct Failure {
    /// `FUT_CAUSE_…`
    pub(super) cause: u32,
    /// `FUT_OF_…`
    pub(super) origin: u32,
    /// The code that the C function returned.
    pub(super) code: i32,
    /// Text of futhark-sys.
    pub(super) words: Option<String>,
    /// Text of the runtime.
    pub(super) text: Option<String>,
}

impl Failure {
    /// Whether there is no text at all.
    pub(super) fn is_silent(&self) -> bool {
        self.words.is_none() && self.text.is_none()
    }

    /// Whether the failure can belong to an earlier call than the one that reported it.
    pub(super) fn may_be_earlier(&self) -> bool {
        self.origin != c::FUT_OF_CALL
    }

    /// The calls that this failure, which `operation` reports, can belong to.
    ///
    /// The C side knows whether a failure is of the running call, of an earlier one or of either,
    /// and `progress` which earlier calls have work that no wait has confirmed. A failed check of the
    /// program narrows these down to calls that started kernels with checks.
    pub(super) fn origin(&self, progress: &Progress, operation: &Call) -> Origin {
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
    pub(super) fn error(self, status: u32, operation: Call) -> Error {
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
        Error::from_c(kind, operation, words, self.text, self.code)
    }
}
