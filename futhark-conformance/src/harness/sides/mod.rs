//! Two sides that answer the same calls, and must give the same answers: the
//! library under test, other libraries of the program, a server program.

mod library;
mod session;
mod shrink;

pub use library::{Look, Side};
pub use session::{Session, Sides};
pub use shrink::shrink;

use super::calls::message_of;
use super::content::{Content, Difference, DifferenceKind, Within};
use crate::harness::steps::StepResult;
use crate::inputs::Input;
use futhark_safe::ErrorKind;

/// What can be called by name with a generated input.
pub trait Answer {
    /// Calls an entry point with an input, and looks into the results.
    ///
    /// # Errors
    /// If it cannot be called at all, or its results cannot be looked into.
    fn run(&self, entry: &str, arguments: &[Input]) -> StepResult<Outcome>;
}

/// What came of a call.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Its results.
    Values(Vec<Content>),
    /// It failed, or its arguments could not be made.
    Error {
        /// What kind of failure it was.
        kind: ErrorKind,
        /// The text.
        message: String,
    },
    /// The input is none for this library.
    Unfit,
}

impl Outcome {
    /// The failure that a library reports.
    #[must_use]
    pub fn of(error: &futhark_safe::Error) -> Outcome {
        Outcome::Error {
            kind: error.kind(),
            message: message_of(error),
        }
    }

    /// Whether this outcome is the expected one: results that agree, or an
    /// error where there must be one. Which text it has may depend on the
    /// backend, and often does.
    ///
    /// # Errors
    /// The first difference.
    pub fn agrees(&self, expected: &Outcome, within: Within) -> Result<(), Difference> {
        let form = |message| Difference {
            kind: DifferenceKind::Form,
            message,
        };
        match (self, expected) {
            (Outcome::Values(actual), Outcome::Values(expected)) => {
                if actual.len() != expected.len() {
                    let (expected, actual) = (expected.len(), actual.len());
                    return Err(form(format!("expected {expected} results, got {actual}")));
                }
                let mut pairs = actual.iter().zip(expected).enumerate();
                pairs.try_for_each(|(place, (actual, expected))| {
                    let at = |difference: Difference| difference.at(&format!("result {place}"));
                    actual.agrees(expected, within).map_err(at)
                })
            }
            (Outcome::Error { message, .. }, Outcome::Values(_)) => {
                Err(form(format!("expected results, got an error: {message}")))
            }
            (Outcome::Values(actual), Outcome::Error { message, .. }) => Err(form(format!(
                "expected an error ({}), got {actual:?}",
                message.trim()
            ))),
            (Outcome::Error { .. }, Outcome::Error { .. })
            | (Outcome::Unfit, _)
            | (_, Outcome::Unfit) => Ok(()),
        }
    }
}
