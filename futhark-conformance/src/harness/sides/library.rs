//! A library of the program as a side.

use super::{Answer, Outcome};
use crate::harness::calls;
use crate::harness::content::Content;
use crate::harness::env::Env;
use crate::harness::steps::{StepResult, Stop};
use crate::inputs::{Failure, Input};
use futhark_manifest::Program;
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Library};
use std::cell::RefCell;
use std::rc::Rc;

/// How results are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// By their fields and variants, as far as they are accessible.
    Inside,
    /// In their stored form.
    Stored,
}

/// A library, with a context that is replaced when it is lost.
pub struct Side<'a> {
    env: &'a Env<'a>,
    /// The other library, if this is not the library under test.
    other: Option<Library>,
    look: Look,
    context: RefCell<Option<Rc<Context>>>,
}

impl<'a> Side<'a> {
    /// The library under test, with the context that all checks share.
    #[must_use]
    pub fn tested(env: &'a Env<'a>) -> Side<'a> {
        Side {
            env,
            other: None,
            look: Look::Inside,
            context: RefCell::default(),
        }
    }

    /// Another library of the same program.
    #[must_use]
    pub fn other(env: &'a Env<'a>, library: Library) -> Side<'a> {
        Side {
            env,
            other: Some(library),
            look: Look::Inside,
            context: RefCell::default(),
        }
    }

    /// The same side, with another way to read results.
    #[must_use]
    pub fn looking_at(self, look: Look) -> Side<'a> {
        Side { look, ..self }
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
        let outcome = call(&context, entry, arguments, self.look)?;
        if let Outcome::Error { kind, .. } = &outcome
            && *kind == ErrorKind::ContextLost
        {
            self.forget();
        }
        Ok(outcome)
    }
}

fn call(context: &Context, entry: &str, arguments: &[Input], look: Look) -> StepResult<Outcome> {
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
    let contents = pairs.map(|(output, value)| match look {
        Look::Inside => Content::take(program, output.ty, value),
        Look::Stored => {
            Content::take_stored(value).map(|content| content.without_units(program, output.ty))
        }
    });
    Ok(Outcome::Values(contents.collect::<StepResult<_>>()?))
}
