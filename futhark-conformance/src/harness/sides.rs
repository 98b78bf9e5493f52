//! Compares two implementations of a program on the same calls. A *side* is the library under test,
//! another library of the program, or a server program. A `Session` generates the calls.

use super::calls;
use super::content::{Content, Reading};
use super::env::{Env, locked};
use super::steps::{StepResult, skip};
use crate::compare::{Difference, Within};
use crate::inputs::{Input, Refusal};
use futhark_manifest::Program;
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Library};
use std::sync::{Arc, Mutex};

/// A side of a comparison: calls entry points by name with generated inputs.
pub trait Answer {
    /// Calls an entry point with an input, and reads the results.
    ///
    /// # Errors
    /// If the call cannot be made, or its results cannot be read.
    fn run(&self, entry: &str, arguments: &[Input]) -> StepResult<Outcome>;
}

/// The outcome of a call: its results, or why there are none.
pub type Outcome = Result<Vec<Content>, Refusal>;

/// Compares an outcome with the expected one: results must agree, and an error must be an error.
/// Messages are not compared, because they depend on the backend.
///
/// # Errors
/// The first difference.
pub fn agree(actual: &Outcome, expected: &Outcome, within: Within) -> Result<(), Difference> {
    match (actual, expected) {
        (Ok(actual), Ok(expected)) => {
            if actual.len() != expected.len() {
                let (expected, actual) = (expected.len(), actual.len());
                let message = format!("expected {expected} results, got {actual}");
                return Err(Difference::form(message));
            }
            let mut pairs = actual.iter().zip(expected).enumerate();
            pairs.try_for_each(|(place, (actual, expected))| {
                let at = |difference: Difference| difference.at(&format!("result {place}"));
                actual.agrees(expected, within).map_err(at)
            })
        }
        (Err(Refusal::Error { message, .. }), Ok(_)) => Err(Difference::form(format!(
            "expected results, got an error: {message}"
        ))),
        (Ok(actual), Err(Refusal::Error { message, .. })) => Err(Difference::form(format!(
            "expected an error ({}), got {actual:?}",
            message.trim()
        ))),
        (Err(_), Err(_)) | (Err(Refusal::Unfit), _) | (_, Err(Refusal::Unfit)) => Ok(()),
    }
}

/// A library, with a context that is replaced when it is lost.
pub struct Side<'a> {
    env: &'a Env<'a>,
    /// Another library of the same program, and its context; the library under test uses the context that
    /// all checks share.
    other: Option<(Library, Mutex<Option<Arc<Context>>>)>,
    reading: Reading,
}

impl<'a> Side<'a> {
    /// The library under test.
    #[must_use]
    pub fn tested(env: &'a Env<'a>, reading: Reading) -> Side<'a> {
        Side {
            env,
            other: None,
            reading,
        }
    }

    /// Another library of the same program.
    #[must_use]
    pub fn other(env: &'a Env<'a>, library: Library) -> Side<'a> {
        Side {
            env,
            other: Some((library, Mutex::default())),
            reading: Reading::Parts,
        }
    }

    /// The program, as this library's manifest describes it.
    #[must_use]
    pub fn program(&self) -> &Program {
        match &self.other {
            Some((library, _)) => library.program(),
            None => self.env.program(),
        }
    }

    /// The current context. Creates one if there is none.
    ///
    /// # Errors
    /// If no context can be created.
    pub fn context(&self) -> StepResult<Arc<Context>> {
        let Some((library, context)) = &self.other else {
            return self.env.context();
        };
        let mut context = locked(context);
        let new = || match self.env.context_of(library) {
            Ok(context) => Ok(Arc::new(context)),
            Err(error) => skip!("no context to compare with: {error}"),
        };
        Ok(Arc::clone(match &mut *context {
            Some(context) => context,
            none => none.insert(new()?),
        }))
    }
}

impl Answer for Side<'_> {
    fn run(&self, entry: &str, arguments: &[Input]) -> StepResult<Outcome> {
        let context = self.context()?;
        let outcome = call(&context, entry, arguments, self.reading)?;
        if matches!(&outcome, Err(Refusal::Error { kind, .. }) if *kind == ErrorKind::ContextLost) {
            let slot = self
                .other
                .as_ref()
                .map_or(&self.env.context, |(_, slot)| slot);
            let lost = locked(slot).take();
            drop(lost);
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
        return Ok(Err(Refusal::Unfit));
    };
    let outputs = Input::upload_all(arguments, context, entry)
        .and_then(|mut values| Ok(calls::call(context, entry, &mut values)?));
    let outputs = match outputs {
        Ok(outputs) => outputs,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let pairs = entry.outputs.iter().zip(&outputs);
    let contents = pairs.map(|(output, value)| {
        let content = Content::take(program, output.ty, value, reading)?;
        Ok(match reading {
            Reading::Stored => content.without_units(program, output.ty),
            Reading::Parts | Reading::Elements => content,
        })
    });
    contents.collect::<StepResult<_>>().map(Ok)
}
