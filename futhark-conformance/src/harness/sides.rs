//! Compares two implementations of a program on the same calls. A *side* is the library under test,
//! another library of the program, or a server program. A `Session` generates the calls.

use super::calls::{self, message_of};
use super::content::{Content, Difference, DifferenceKind, Reading, Within};
use super::env::Env;
use super::steps::{StepResult, Stop};
use crate::inputs::{Failure, Input};
use futhark_manifest::Program;
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Library};
use std::cell::RefCell;
use std::rc::Rc;

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

/// A library, with a context that is replaced when it is lost.
pub struct Side<'a> {
    env: &'a Env<'a>,
    /// The other library, if this is not the library under test.
    other: Option<Library>,
    reading: Reading,
    context: RefCell<Option<Rc<Context>>>,
}

impl<'a> Side<'a> {
    /// The library under test, with the context that all checks share.
    #[must_use]
    pub fn tested(env: &'a Env<'a>) -> Side<'a> {
        Side {
            env,
            other: None,
            reading: Reading::Parts,
            context: RefCell::default(),
        }
    }

    /// Another library of the same program.
    #[must_use]
    pub fn other(env: &'a Env<'a>, library: Library) -> Side<'a> {
        Side {
            env,
            other: Some(library),
            reading: Reading::Parts,
            context: RefCell::default(),
        }
    }

    /// The same side, with another way to read results.
    #[must_use]
    pub fn reading(self, reading: Reading) -> Side<'a> {
        Side { reading, ..self }
    }

    /// The program, as this library's manifest describes it.
    #[must_use]
    pub fn program(&self) -> &Program {
        match &self.other {
            Some(library) => library.program(),
            None => self.env.program(),
        }
    }

    /// The current context. Creates one if there is none.
    ///
    /// # Errors
    /// If no context can be created.
    pub fn context(&self) -> StepResult<Rc<Context>> {
        let Some(library) = &self.other else {
            return self.env.context();
        };
        if let Some(context) = &*self.context.borrow() {
            return Ok(Rc::clone(context));
        }
        let context = self.env.context_of(library);
        let context =
            context.map_err(|error| Stop::skip(format!("no context to compare with: {error}")))?;
        let context = Rc::new(context);
        *self.context.borrow_mut() = Some(Rc::clone(&context));
        Ok(context)
    }

    fn forget(&self) {
        match self.other {
            Some(_) => drop(self.context.take()),
            None => self.env.forget_context(),
        }
    }
}

impl Answer for Side<'_> {
    fn run(&self, entry: &str, arguments: &[Input]) -> StepResult<Outcome> {
        let context = self.context()?;
        let outcome = call(&context, entry, arguments, self.reading)?;
        if let Outcome::Error { kind, .. } = &outcome
            && *kind == ErrorKind::ContextLost
        {
            self.forget();
        }
        Ok(outcome)
    }
}

fn call(
    context: &Context,
    entry: &str,
    arguments: &[Input],
    reading: Reading,
) -> StepResult<Outcome> {
    let program = context.library().program();
    let Some(entry) = program.entry(entry) else {
        return Ok(Outcome::Unfit);
    };
    let values = match Input::upload_all(arguments, context, entry) {
        Ok(values) => values,
        Err(Failure::Library(error)) => return Ok(Outcome::of(&error)),
        Err(Failure::Unfit) => return Ok(Outcome::Unfit),
    };
    let outputs = match calls::call(context, entry, values).0 {
        Ok(outputs) => outputs,
        Err(error) => return Ok(Outcome::of(&error)),
    };
    calls::check_count(entry, &outputs)?;
    let pairs = entry.outputs.iter().zip(&outputs);
    let contents = pairs.map(|(output, value)| {
        let content = Content::take(program, output.ty, value, reading)?;
        Ok(match reading {
            Reading::Stored => content.without_units(program, output.ty),
            Reading::Parts | Reading::Elements => content,
        })
    });
    Ok(Outcome::Values(contents.collect::<StepResult<_>>()?))
}
