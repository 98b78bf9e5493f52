//! The duration of a call of each entry point, and the arguments to repeat a call with.
//!
//! Many checks repeat a call that is known to succeed. The arguments of a test block may make that
//! call slow. [`measure`] therefore tries them once, in a step with a budget, and
//! then generated arguments, which are small. Checks use the cheaper ones, and skip an entry point
//! that is slow with both.

use super::calls;
use super::cases::known_inputs;
use super::env::Env;
use super::make::{Maker, Random};
use super::steps::{StepResult, Steps, Stop};
use super::transfer::upload_all;
use futhark_manifest::EntryPoint;
use futhark_safe::dynamic::{Context, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The extent of each dimension of generated arrays.
const EXTENT: usize = 3;

/// The origin of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The first test case that succeeds.
    TestBlock,
    /// Generated, small.
    Generated,
}

/// The result of measuring an entry point.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cost {
    /// A call with these arguments takes this number of seconds.
    Seconds(Origin, f64),
    /// A call takes at least this number of seconds with any arguments.
    TooSlow(f64),
}

/// The measured entry points. Clones share them, also with other threads.
#[derive(Clone, Debug, Default)]
pub struct Costs(Arc<Mutex<BTreeMap<String, Cost>>>);

/// The limits of the duration of a call.
struct Limits {
    /// Calls up to this duration may be repeated at will.
    cheap: f64,
    /// Calls up to this duration may be repeated a few times.
    bearable: f64,
    /// The time limit of a first call.
    first: Duration,
}

/// Limits for hosts and real devices, whose first call may load code.
const QUICK: Limits = Limits {
    cheap: 0.1,
    bearable: 0.5,
    first: Duration::from_secs(3),
};

/// Limits for devices whose first call may compile kernels, or interprets them.
const COSTLY: Limits = Limits {
    cheap: 1.0,
    bearable: 5.0,
    first: Duration::from_secs(30),
};

fn limits(env: &Env<'_>) -> &'static Limits {
    if env.device.has_costly_contexts() {
        &COSTLY
    } else {
        &QUICK
    }
}

impl Costs {
    /// The origin of the arguments for an entry point.
    ///
    /// # Errors
    /// A skip if the entry point is too slow.
    pub fn origin(&self, env: &Env<'_>, entry: &EntryPoint) -> StepResult<Origin> {
        match self.get(entry) {
            Some(Cost::Seconds(origin, _)) => Ok(origin),
            Some(Cost::TooSlow(seconds)) => Err(too_slow(&entry.name, seconds)),
            None if known_inputs(env, entry).is_some() => Ok(Origin::TestBlock),
            None => Ok(Origin::Generated),
        }
    }

    /// The duration of a call in seconds; 0 if it was not measured.
    #[must_use]
    pub fn seconds(&self, entry: &EntryPoint) -> f64 {
        match self.get(entry) {
            Some(Cost::Seconds(_, seconds) | Cost::TooSlow(seconds)) => seconds,
            None => 0.0,
        }
    }

    fn get(&self, entry: &EntryPoint) -> Option<Cost> {
        let costs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        costs.get(&entry.name).copied()
    }

    fn set(&self, entry: &EntryPoint, cost: Cost) {
        let mut costs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        costs.insert(entry.name.clone(), cost);
    }
}

/// The skip for an entry point that is too slow to be called repeatedly.
#[must_use]
pub fn too_slow(entry: &str, seconds: f64) -> Stop {
    Stop::skip(format!(
        "too slow for this check: a call of {entry} takes {}",
        shown(seconds)
    ))
}

/// A duration, rounded for people.
#[must_use]
pub fn shown(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{:.0} ms", seconds * 1e3)
    } else {
        format!("{seconds:.1} s")
    }
}

/// Measures entry points that are not measured yet, for the steps of `check`. Stops at the first
/// one that can be called at will, if `one` suffices.
pub fn measure(
    env: &Env<'_>,
    steps: &mut Steps<'_>,
    check: &str,
    entries: &[&EntryPoint],
    one: bool,
) {
    let limits = limits(env);
    for entry in entries {
        if env.costs.get(entry).is_some() {
            continue;
        }
        let mut trials = Vec::new();
        for origin in [Origin::TestBlock, Origin::Generated] {
            if !is_worthwhile(env, entry, origin, &trials, limits) {
                continue;
            }
            let case = match origin {
                Origin::TestBlock => format!("first call of {}", entry.name),
                Origin::Generated => format!("first generated call of {}", entry.name),
            };
            let mut trial = Trial::OutOfTime;
            steps.need(check, &case, Some(limits.first), || {
                trial = call(env, entry, origin, limits);
                Ok(())
            });
            trials.push((origin, trial));
        }
        if let Some(cost) = judge(&trials, limits) {
            env.costs.set(entry, cost);
            if one && matches!(cost, Cost::Seconds(..)) {
                break;
            }
        }
    }
}

/// The outcome of a first call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trial {
    /// It succeeded after this number of seconds.
    Seconds(f64),
    /// It failed, which the checks that make such a call report.
    Failed,
    /// It exceeded the time limit.
    OutOfTime,
}

/// Whether to try arguments of this origin, after earlier trials.
fn is_worthwhile(
    env: &Env<'_>,
    entry: &EntryPoint,
    origin: Origin,
    earlier: &[(Origin, Trial)],
    limits: &Limits,
) -> bool {
    match (origin, earlier) {
        (Origin::TestBlock, _) => known_inputs(env, entry).is_some(),
        (Origin::Generated, []) => true,
        (Origin::Generated, [(_, before), ..]) => {
            let is_slow = match before {
                Trial::Seconds(seconds) => *seconds > limits.cheap,
                Trial::Failed => false,
                Trial::OutOfTime => true,
            };
            // A program with `#[unsafe]` is only called with arguments of its test blocks.
            is_slow && env.unchecked.is_none()
        }
    }
}

/// What follows from the trials of an entry point. `None` if every call failed.
fn judge(trials: &[(Origin, Trial)], limits: &Limits) -> Option<Cost> {
    let durations = trials.iter().filter_map(|(origin, trial)| match trial {
        Trial::Seconds(seconds) => Some((*origin, *seconds)),
        Trial::OutOfTime => Some((*origin, limits.first.as_secs_f64())),
        Trial::Failed => None,
    });
    let (origin, seconds) = durations.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    Some(if seconds <= limits.bearable {
        Cost::Seconds(origin, seconds)
    } else {
        Cost::TooSlow(seconds)
    })
}

/// Calls the entry point with such arguments.
fn call(env: &Env<'_>, entry: &EntryPoint, origin: Origin, limits: &Limits) -> Trial {
    let Ok(context) = env.context() else {
        return Trial::Failed;
    };
    let once = || {
        let Ok(arguments) = arguments_from(env, &context, entry, origin) else {
            return Trial::Failed;
        };
        let begun = Instant::now();
        let outputs = calls::call(&context, entry, arguments).0;
        let seconds = begun.elapsed().as_secs_f64();
        outputs.map_or(Trial::Failed, |_| Trial::Seconds(seconds))
    };
    let first = once();
    if context.sync().is_err() {
        env.forget_context();
        return Trial::Failed;
    }
    // The first call on a device may have compiled kernels.
    match first {
        Trial::Seconds(seconds) if seconds > limits.cheap && env.device.compiles_kernels() => {
            once()
        }
        first => first,
    }
}

/// Arguments for an entry point, the same on each call.
///
/// # Errors
/// As [`Maker::value`]; a skip if the entry point is too slow.
pub fn arguments(env: &Env<'_>, context: &Context, entry: &EntryPoint) -> StepResult<Vec<Value>> {
    let origin = env.costs.origin(env, entry)?;
    arguments_from(env, context, entry, origin)
}

fn arguments_from(
    env: &Env<'_>,
    context: &Context,
    entry: &EntryPoint,
    origin: Origin,
) -> StepResult<Vec<Value>> {
    if origin == Origin::TestBlock
        && let Some(known) = known_inputs(env, entry)
    {
        return upload_all(context, &known);
    }
    let random = Random::new(env.seed, &entry.name);
    Maker::new(env, context, random, EXTENT).arguments(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_bearable_arguments_are_used() {
        let block = |trial| (Origin::TestBlock, trial);
        let generated = |trial| (Origin::Generated, trial);
        let judge = |trials: &[(Origin, Trial)]| judge(trials, &QUICK);
        assert_eq!(
            judge(&[block(Trial::Seconds(0.3)), generated(Trial::Seconds(0.01))]),
            Some(Cost::Seconds(Origin::Generated, 0.01))
        );
        assert_eq!(
            judge(&[block(Trial::Seconds(0.3)), generated(Trial::Failed)]),
            Some(Cost::Seconds(Origin::TestBlock, 0.3))
        );
        assert_eq!(
            judge(&[block(Trial::OutOfTime), generated(Trial::Seconds(2.0))]),
            Some(Cost::TooSlow(2.0))
        );
        assert_eq!(judge(&[block(Trial::OutOfTime)]), Some(Cost::TooSlow(3.0)));
        assert_eq!(judge(&[block(Trial::Failed)]), None);
    }
}
