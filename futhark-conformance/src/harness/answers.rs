//! Calls that are known to work, and what they answered: whether a context is
//! as good as before is found out by asking again.

use super::calls::{self, check_count};
use super::cases::known_inputs;
use super::env::Env;
use super::make::{Maker, Random};
use crate::compare::compare;
use crate::harness::steps::{StepResult, Stop};
use crate::harness::transfer::{download, upload};
use crate::values::HostValue;
use futhark_manifest::EntryPoint;
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Value};

/// How many elements made arrays have in each dimension.
const EXTENT: usize = 3;

/// An entry point, and what it answered to the arguments that [`arguments`]
/// gives. Results of opaque types are left out.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    entry: &'a EntryPoint,
    results: Vec<Option<HostValue>>,
}

impl<'a> Answer<'a> {
    /// What an entry point answers.
    ///
    /// # Errors
    /// A skip, if no arguments are known that it accepts, or if nothing of its
    /// answer can be compared.
    pub fn of(env: &Env<'a>, context: &Context, entry: &'a EntryPoint) -> StepResult<Answer<'a>> {
        let results = ask(env, context, entry)?;
        if results.iter().all(Option::is_none) {
            return Err(Stop::skip(format!(
                "nothing of what {} gives can be compared",
                entry.name
            )));
        }
        Ok(Answer { entry, results })
    }

    /// What some entry point of the program answers: one with little to do, as
    /// far as its arguments tell.
    ///
    /// # Errors
    /// A skip, if there is none.
    pub fn any(env: &Env<'a>, context: &Context) -> StepResult<Answer<'a>> {
        let mut last = Stop::skip("no entry point is known to answer anything");
        for entry in by_size(env) {
            match Answer::of(env, context, entry) {
                Ok(answer) => return Ok(answer),
                // A context that died answers nothing more.
                Err(stop) if context.sync().is_err() => return Err(stop),
                Err(stop @ Stop::Skip { .. }) => last = stop,
                Err(stop) => return Err(stop),
            }
        }
        Err(last)
    }

    /// The entry point.
    #[must_use]
    pub fn entry(&self) -> &'a EntryPoint {
        self.entry
    }

    /// Whether no result has an element, as far as they are known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let mut known = self.results.iter().flatten().peekable();
        known.peek().is_some() && known.all(|value| value.count() == 0)
    }

    /// Asks the same again: of this context, or of another one.
    ///
    /// # Errors
    /// If the answer is another one, or none.
    pub fn ask_again(&self, env: &Env<'_>, context: &Context) -> StepResult {
        let at = |stop: Stop| stop.at(&format!("{}, asked again", self.entry.name));
        let now = match ask(env, context, self.entry) {
            Err(Stop::Skip { reason }) => return Err(at(Stop::error(reason))),
            now => now.map_err(at)?,
        };
        for (place, (now, before)) in now.iter().zip(&self.results).enumerate() {
            if let (Some(now), Some(before)) = (now, before) {
                compare(now, before).map_err(|difference| {
                    at(Stop::mismatch(format!("result {place}: {difference}")))
                })?;
            }
        }
        Ok(())
    }
}

/// Arguments for an entry point, the same each time: those of a test case that
/// succeeds, or made ones.
///
/// # Errors
/// As [`Maker::value`].
pub fn arguments(env: &Env<'_>, context: &Context, entry: &EntryPoint) -> StepResult<Vec<Value>> {
    if let Some(known) = known_inputs(env, entry) {
        return known.iter().map(|value| upload(context, value)).collect();
    }
    let random = Random::new(env.seed, &entry.name);
    Maker::new(env.program(), context, random, EXTENT)
        .values(entry.inputs.iter().map(|input| input.ty))
}

fn ask(env: &Env<'_>, context: &Context, entry: &EntryPoint) -> StepResult<Vec<Option<HostValue>>> {
    let arguments = arguments(env, context, entry)?;
    let (outputs, _) = calls::call(context, entry, arguments);
    let outputs = outputs.map_err(|error| match error.kind() {
        ErrorKind::ContextLost => Stop::from(error),
        _ => Stop::skip(format!(
            "no arguments are known that {} accepts: {error}",
            entry.name
        )),
    })?;
    check_count(entry, &outputs)?;
    let results = outputs.iter().map(|output| match output {
        Value::Opaque(_) => Ok(None),
        value => download(value).map(Some),
    });
    results.collect()
}

/// The entry points with test cases, those with the least input first; then
/// the others.
#[must_use]
pub fn by_size<'a>(env: &Env<'a>) -> Vec<&'a EntryPoint> {
    let mut sized: Vec<(usize, &EntryPoint)> = env
        .program()
        .entries()
        .iter()
        .map(|entry| {
            let known = known_inputs(env, entry);
            let size = known.map_or(usize::MAX, |inputs| {
                inputs.iter().map(HostValue::count).sum()
            });
            (size, entry)
        })
        .collect();
    // Stable: the order is the same in every process.
    sized.sort_by_key(|(size, _)| *size);
    sized.into_iter().map(|(_, entry)| entry).collect()
}
