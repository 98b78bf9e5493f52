//! Compares two implementations of a program on the same calls. A *side* is the library under test,
//! another library of the program, or a server program.

mod library;
mod session;
mod shrink;

pub use library::{Look, Side};
pub use session::{Session, Sides};

use super::calls::message_of;
use super::content::{Content, Difference, DifferenceKind, Within};
use crate::harness::steps::StepResult;
use crate::inputs::Input;
use futhark_safe::ErrorKind;

/// A side of a comparison: calls entry points by name with generated inputs.
pub trait Answer {
    /// Calls an entry point with an input, and reads the results.
    ///
    /// # Errors
    /// If the call cannot be made, or its results cannot be read.
    fn run(&self, entry: &str, arguments: &[Input]) -> StepResult<Outcome>;
}

/// The outcome of a call.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The results.
    Values(Vec<Content>),
    /// The call failed, or its arguments could not be created.
    Error {
        /// The kind of the error.
        kind: ErrorKind,
        /// The message.
        message: String,
    },
    /// The input does not fit the entry point of this side.
    Unfit,
}

impl Outcome {
    /// The outcome for an error of the library.
    #[must_use]
    pub fn of(error: &futhark_safe::Error) -> Outcome {
        Outcome::Error {
            kind: error.kind(),
            message: message_of(error),
        }
    }

    /// Compares with the expected outcome: results must agree, and an error must be an error.
    /// Messages are not compared, because they depend on the backend.
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
