//! The expected results of a test case.

use super::input::{Input, load, text_values};
use crate::blocks::{Case, Expected, Source};
use crate::harness::calls::{self, elem_of, listed_outputs, listed_types};
use crate::harness::env::Env;
use crate::harness::steps::{StepResult, Stop};
use crate::values::{HostValue, data};
use futhark_manifest::{Backend, EntryPoint};

/// The values that a test case expects; `None` if it only expects success or an error.
///
/// # Errors
/// If the values cannot be read or computed, or if a result type has no notation.
pub fn values(
    env: &Env<'_>,
    entry: &EntryPoint,
    case: &Case,
) -> StepResult<Option<Vec<HostValue>>> {
    let values = match &case.expected {
        Expected::Success | Expected::Error(_) => return Ok(None),
        Expected::Values(source) => from(env, source),
        Expected::Auto => by_reference(env, entry, case),
    };
    let opaque = listed_types(env.program(), entry)
        .into_iter()
        .find(|ty| elem_of(env.program(), *ty).is_none());
    let values = match opaque {
        None => values,
        Some(ty) => Err(Stop::error(format!(
            "a result has type {}, whose values have no notation",
            env.program().name_of(ty)
        ))),
    };
    values
        .map(Some)
        .map_err(|stop| stop.at(&env.place(case.line)))
}

fn from(env: &Env<'_>, source: &Source) -> StepResult<Vec<HostValue>> {
    match source {
        Source::Text(text) => text_values(text),
        Source::File(file) => data::values(&load(env, file)?)
            .map_err(|error| Stop::error(format!("{} {error}", file.display()))),
        Source::Random(_) | Source::Script(_) | Source::ScriptFile(_) => {
            Err(Stop::error("expected results must be text or in a file"))
        }
    }
}

/// The results of the sequential backend, in a context of its own.
fn by_reference(env: &Env<'_>, entry: &EntryPoint, case: &Case) -> StepResult<Vec<HostValue>> {
    let input = Input::read(env, entry, case)?;
    let library = match env.library.backend() {
        Backend::C => env.library.clone(),
        _ => env.others.backend(Backend::C)?,
    };
    let fails = |stop: Stop| stop.at("the reference (backend c)");
    let context = env
        .context_of(&library)
        .map_err(|error| fails(error.into()))?;
    let arguments = input.make(env, &context, entry).map_err(fails)?;
    let (outputs, _) = calls::call(&context, entry, arguments);
    let outputs = outputs.map_err(|error| fails(error.into()))?;
    listed_outputs(env.program(), entry, &outputs)
}
