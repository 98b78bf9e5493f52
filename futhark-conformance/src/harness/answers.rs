//! Calls that probably succeed: their arguments, how long they take, and their results. A check
//! repeats such a call to find out whether a context still works.
//!
//! The arguments of a test block may make a call slow. [`measure`] therefore tries them once, in a case
//! with a budget, and then generated arguments, which are small. Checks use the cheaper ones, and skip an
//! entry point that is slow with both.

use super::calls::{self, download, upload_all};
use super::cases::{Cases, CheckResult, Stop, skip};
use super::env::{Env, locked};
use super::make::Maker;
use super::test_cases::known_inputs;
use crate::compare::{Within, compare};
use crate::values::HostValue;
use futhark_manifest::EntryPoint;
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Value};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The extent of each dimension of generated arrays.
const EXTENT: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The first test case that succeeds.
    TestBlock,
    /// Generated, small.
    Generated,
}

/// The cheapest call of an entry point that was tried: its arguments and its duration in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    origin: Origin,
    seconds: f64,
}

/// The measured entry points.
pub type Costs = Mutex<BTreeMap<String, Cost>>;

/// The duration in seconds up to which calls may be repeated at will.
const CHEAP: f64 = 0.1;

/// The duration in seconds up to which calls may be repeated a few times.
const BEARABLE: f64 = 0.5;

/// The time limit of a first call in seconds, which may load code.
const FIRST: f64 = 3.0;

/// The factor of these durations: costly devices compile kernels in the first call, or interpret them.
fn patience(env: &Env<'_>) -> f64 {
    match env.device().has_costly_contexts() {
        true => 10.0,
        false => 1.0,
    }
}

fn cost(env: &Env<'_>, entry: &EntryPoint) -> Option<Cost> {
    locked(&env.costs).get(&entry.name).copied()
}

/// The duration of a call in seconds; 0 if it was not measured.
pub fn seconds(env: &Env<'_>, entry: &EntryPoint) -> f64 {
    cost(env, entry).map_or(0.0, |cost| cost.seconds)
}

/// A duration, rounded for people.
#[must_use]
pub fn duration(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{:.0} ms", seconds * 1e3)
    } else {
        format!("{seconds:.1} s")
    }
}

/// Measures entry points that are not measured yet, for the cases of `check`. Stops at the first
/// one that can be called a few times, if `one` suffices.
pub fn measure(
    env: &Env<'_>,
    cases: &mut Cases<'_>,
    check: &str,
    entries: &[&EntryPoint],
    one: bool,
) {
    let patience = patience(env);
    let limit = FIRST * patience;
    for entry in entries {
        if cost(env, entry).is_some() {
            continue;
        }
        // A program with `#[unsafe]` is only called with arguments of its test blocks.
        let origins: &[Origin] = match (known_inputs(env, entry).next(), &env.unchecked) {
            (None, _) => &[Origin::Generated],
            (Some(_), Some(_)) => &[Origin::TestBlock],
            (Some(_), None) => &[Origin::TestBlock, Origin::Generated],
        };
        for &origin in origins {
            let kind = match origin {
                Origin::TestBlock => "first call",
                Origin::Generated => "first generated call",
            };
            // If it exceeds this limit, the process ends. The next one does not run the case, so that the call counts
            // as this slow there.
            let mut seconds = Some(limit);
            let case = format!("{kind} of {}", entry.name);
            cases.run_quietly(check, &case, Some(Duration::from_secs_f64(limit)), || {
                seconds = first_call(env, entry, origin);
                Ok(())
            });
            // A failure is reported by the checks that make such a call.
            let Some(seconds) = seconds else { break };
            if cost(env, entry).is_none_or(|best| seconds < best.seconds) {
                locked(&env.costs).insert(entry.name.clone(), Cost { origin, seconds });
            }
            if seconds <= CHEAP * patience {
                break;
            }
        }
        if one && cost(env, entry).is_some_and(|cost| cost.seconds <= BEARABLE * patience) {
            break;
        }
    }
}

/// The duration of a call with such arguments in seconds; `None` if it fails.
fn first_call(env: &Env<'_>, entry: &EntryPoint, origin: Origin) -> Option<f64> {
    let context = env.context().ok()?;
    let once = || {
        let mut arguments = arguments_from(env, &context, entry, origin).ok()?;
        let begun = Instant::now();
        calls::call(&context, entry, &mut arguments).ok()?;
        Some(begun.elapsed().as_secs_f64())
    };
    let first = once();
    if context.sync().is_err() {
        env.forget_context();
        return None;
    }
    // The first call on a device may have compiled kernels.
    match first {
        Some(seconds) if seconds > CHEAP * patience(env) && env.device().compiles_kernels() => {
            once()
        }
        first => first,
    }
}

/// Arguments for an entry point, the same on each call; a skip if it is too slow.
pub fn arguments(env: &Env<'_>, context: &Context, entry: &EntryPoint) -> CheckResult<Vec<Value>> {
    let origin = match cost(env, entry) {
        Some(cost) if cost.seconds > BEARABLE * patience(env) => {
            skip!(
                "too slow for this check: a call of {} takes {}",
                entry.name,
                duration(cost.seconds)
            );
        }
        cost => cost.map_or(Origin::TestBlock, |cost| cost.origin),
    };
    arguments_from(env, context, entry, origin)
}

/// Arguments of this origin; generated ones, if no test block has any.
fn arguments_from(
    env: &Env<'_>,
    context: &Context,
    entry: &EntryPoint,
    origin: Origin,
) -> CheckResult<Vec<Value>> {
    if origin == Origin::TestBlock
        && let Some(known) = known_inputs(env, entry).next()
    {
        return upload_all(context, &known);
    }
    Maker::new(env, context, &entry.name, EXTENT).arguments(entry)
}

/// An entry point and its results for the arguments that [`arguments`] gives. Results of opaque
/// types are left out.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    pub entry: &'a EntryPoint,
    /// `None`: an opaque result. At least one is not.
    results: Vec<Option<HostValue>>,
}

impl<'a> Answer<'a> {
    /// Calls an entry point and keeps its results; a skip if it accepts no known arguments, or all results are opaque.
    pub fn from_call(
        env: &Env<'a>,
        context: &Context,
        entry: &'a EntryPoint,
    ) -> CheckResult<Answer<'a>> {
        let results = ask(env, context, entry)?;
        if results.iter().all(Option::is_none) {
            skip!("no result of {} can be compared", entry.name);
        }
        Ok(Answer { entry, results })
    }

    /// Calls the entry point with the smallest known arguments that accepts them, and keeps its results; a skip if none
    /// succeeds with results that can be compared.
    pub fn from_any_call(env: &Env<'a>, context: &Context) -> CheckResult<Answer<'a>> {
        let mut last = Stop::skip("no entry point succeeds with results that can be compared");
        for entry in by_size(env) {
            match Answer::from_call(env, context, entry) {
                Ok(answer) => return Ok(answer),
                // No other entry point works in a lost context.
                Err(stop) if context.sync().is_err() => return Err(stop),
                Err(stop @ Stop::Skip { .. }) => last = stop,
                Err(stop) => return Err(stop),
            }
        }
        Err(last)
    }

    /// Whether all known results are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let mut known = self.results.iter().flatten();
        known.all(|value| value.count() == 0)
    }

    /// Repeats the call, in the same context or in another one, and compares the results.
    pub fn ask_again(&self, env: &Env<'_>, context: &Context) -> CheckResult {
        let at = |stop: Stop| stop.at(&format!("{}, called again", self.entry.name));
        let now = match ask(env, context, self.entry) {
            Err(Stop::Skip { reason }) => return Err(at(Stop::error(reason))),
            now => now.map_err(at)?,
        };
        for (index, (now, before)) in now.iter().zip(&self.results).enumerate() {
            if let (Some(now), Some(before)) = (now, before) {
                compare(now, before, Within::Tolerance)
                    .map_err(|difference| at(difference.at(&format!("result {index}")).into()))?;
            }
        }
        Ok(())
    }
}

/// Repeats a call, if there was one that could be repeated, and waits for the context; otherwise fails as that one did.
pub fn again(before: &CheckResult<Answer<'_>>, env: &Env<'_>, context: &Context) -> CheckResult {
    match before {
        Ok(before) => before.ask_again(env, context)?,
        Err(Stop::Skip { .. }) => {}
        Err(stop) => return Err(stop.clone()),
    }
    context.sync().map_err(Stop::from)
}

fn ask(
    env: &Env<'_>,
    context: &Context,
    entry: &EntryPoint,
) -> CheckResult<Vec<Option<HostValue>>> {
    let outputs = calls::call(context, entry, &mut arguments(env, context, entry)?);
    let outputs = outputs.map_err(|error| match error.kind() {
        ErrorKind::ContextLost => Stop::from(error),
        _ => Stop::skip(format!(
            "{} accepts no known arguments: {error}",
            entry.name
        )),
    })?;
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
    let mut entries: Vec<&EntryPoint> = env.program().entries().iter().collect();
    // Stable: the order is the same in every process.
    entries.sort_by_cached_key(|entry| {
        let known = known_inputs(env, entry).next();
        known.map_or(usize::MAX, |inputs| {
            inputs.iter().map(HostValue::count).sum()
        })
    });
    entries
}
