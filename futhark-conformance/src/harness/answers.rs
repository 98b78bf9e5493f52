//! Calls that are known to succeed, with their results. A check repeats such a call to find out
//! whether a context still works.

use super::calls::{self, check_count};
use super::cases::known_inputs;
pub use super::costs::arguments;
use super::env::Env;
use crate::compare::compare;
use crate::harness::steps::{StepResult, Stop};
use crate::harness::transfer::download;
use crate::values::HostValue;
use futhark_manifest::EntryPoint;
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Value};

/// An entry point and its results for the arguments that [`arguments`] gives. Results of opaque
/// types are left out.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    entry: &'a EntryPoint,
    results: Vec<Option<HostValue>>,
}

impl<'a> Answer<'a> {
    /// Calls an entry point and keeps its results.
    ///
    /// # Errors
    /// A skip if the entry point accepts no known arguments, or if all its results are opaque.
    pub fn of(env: &Env<'a>, context: &Context, entry: &'a EntryPoint) -> StepResult<Answer<'a>> {
        let results = ask(env, context, entry)?;
        if results.iter().all(Option::is_none) {
            return Err(Stop::skip(format!(
                "no result of {} can be compared",
                entry.name
            )));
        }
        Ok(Answer { entry, results })
    }

    /// Calls the entry point with the smallest known arguments that accepts them, and keeps its
    /// results.
    ///
    /// # Errors
    /// A skip if no entry point succeeds with results that can be compared.
    pub fn any(env: &Env<'a>, context: &Context) -> StepResult<Answer<'a>> {
        let mut last = Stop::skip("no entry point succeeds with results that can be compared");
        for entry in by_size(env) {
            match Answer::of(env, context, entry) {
                Ok(answer) => return Ok(answer),
                // No other entry point works in a lost context.
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

    /// Whether all known results are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let mut known = self.results.iter().flatten().peekable();
        known.peek().is_some() && known.all(|value| value.count() == 0)
    }

    /// Repeats the call, in the same context or in another one, and compares the results.
    ///
    /// # Errors
    /// If the call fails or a result differs.
    pub fn ask_again(&self, env: &Env<'_>, context: &Context) -> StepResult {
        let at = |stop: Stop| stop.at(&format!("{}, called again", self.entry.name));
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

/// Repeats a call, if there was one that could be repeated, and waits for the context.
///
/// # Errors
/// As [`Answer::ask_again`], and if the first call failed.
pub fn again(before: &StepResult<Answer<'_>>, env: &Env<'_>, context: &Context) -> StepResult {
    match before {
        Ok(before) => before.ask_again(env, context)?,
        Err(Stop::Skip { .. }) => {}
        Err(stop) => return Err(stop.clone()),
    }
    context.sync().map_err(Stop::from)
}

fn ask(env: &Env<'_>, context: &Context, entry: &EntryPoint) -> StepResult<Vec<Option<HostValue>>> {
    let arguments = arguments(env, context, entry)?;
    let (outputs, _) = calls::call(context, entry, arguments);
    let outputs = outputs.map_err(|error| match error.kind() {
        ErrorKind::ContextLost => Stop::from(error),
        _ => Stop::skip(format!(
            "{} accepts no known arguments: {error}",
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

/// The entry points: first those with test cases, in the order of the size of their arguments, then
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
