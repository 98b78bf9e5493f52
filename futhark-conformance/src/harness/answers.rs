//! Calls that probably succeed: their arguments, how long they take, and their results. A check
//! repeats such a call to find out whether a context still works.
//!
//! The arguments of a test block may make a call slow. [`measure`] therefore tries them once, in a case
//! with a budget, and then generated arguments, which are small. Checks use the cheaper ones, and skip an
//! entry point that is slow with both.
//!
//! A case that may call any entry point calls those that [`choose`] returns.

use super::calls::{self, upload_all};
use super::cases::{Cases, CheckResult, Stop, skip};
use super::content::Content;
use super::env::{Env, locked};
use super::make::Maker;
use super::test_cases::known_inputs;
use crate::compare::Within;
use crate::values::HostValue;
use futhark_manifest::{EntryPoint, Program, TypeRef};
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

/// The measured entry points; `None` for one whose calls failed.
pub type Costs = Mutex<BTreeMap<String, Option<Cost>>>;

/// The duration in seconds up to which calls may be repeated at will.
const CHEAP: f64 = 0.1;

/// The duration in seconds up to which calls may be repeated a few times.
const BEARABLE: f64 = 0.5;

/// The duration of the calls of one case in seconds, after which it calls no further entry point.
const ENOUGH: f64 = 0.02;

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
    locked(&env.costs).get(&entry.name).copied().flatten()
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

/// The entry points that a case calls, from one that depends on the seed and the case: as many as are cheap together. They
/// are measured first; none, if the case will not run. Entry points with results that can be compared come first, then
/// those with test cases.
pub fn choose<'a>(
    env: &Env<'a>,
    cases: &mut Cases<'_>,
    check: &str,
    case: &str,
) -> Vec<&'a EntryPoint> {
    let mut chosen = Vec::new();
    if !cases.will_run(check, case) {
        return chosen;
    }
    let program = env.program();
    let mut entries: Vec<&EntryPoint> = program.entries().iter().collect();
    if !entries.is_empty() {
        let random = &mut env.random(&format!("{check} {case}"));
        let first = random.usize(..entries.len());
        entries.rotate_left(first);
    }
    entries.retain(|entry| env.must_be_ordered(entry).is_ok());
    entries.sort_by_cached_key(|entry| {
        let mut outputs = entry.outputs.iter();
        let can_be_compared = outputs.any(|output| can_be_read(program, output.ty));
        (!can_be_compared, known_inputs(env, entry).next().is_none())
    });
    let mut seconds = 0.0;
    for entry in entries {
        measure(env, cases, check, &[entry]);
        if let Some(cost) = cost(env, entry).filter(|cost| is_bearable(env, *cost)) {
            chosen.push(entry);
            seconds += cost.seconds;
        }
        if seconds > ENOUGH * patience(env) {
            break;
        }
    }
    chosen
}

/// Whether the contents of values of this type can be read.
fn can_be_read(program: &Program, ty: TypeRef) -> bool {
    let opaque = ty.as_type().and_then(|id| program.get(id).as_opaque());
    opaque.is_none_or(|opaque| opaque.ops.store.is_some())
}

fn is_bearable(env: &Env<'_>, cost: Cost) -> bool {
    cost.seconds <= BEARABLE * patience(env)
}

/// Measures entry points that are not measured yet, for the cases of `check`.
pub fn measure(env: &Env<'_>, cases: &mut Cases<'_>, check: &str, entries: &[&EntryPoint]) {
    let patience = patience(env);
    let limit = FIRST * patience;
    for entry in entries {
        if locked(&env.costs).contains_key(&entry.name) {
            continue;
        }
        // A program with `#[unsafe]` is only called with arguments of its test blocks.
        let origins: &[Origin] = match (known_inputs(env, entry).next(), &env.unchecked) {
            (None, _) => &[Origin::Generated],
            (Some(_), Some(_)) => &[Origin::TestBlock],
            (Some(_), None) => &[Origin::TestBlock, Origin::Generated],
        };
        let mut best: Option<Cost> = None;
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
            if best.is_none_or(|best| seconds < best.seconds) {
                best = Some(Cost { origin, seconds });
            }
            if seconds <= CHEAP * patience {
                break;
            }
        }
        locked(&env.costs).insert(entry.name.clone(), best);
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
        Some(cost) if !is_bearable(env, cost) => {
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

/// Entry points and their results for the arguments that [`arguments`] gives.
#[derive(Clone, Debug)]
pub struct Answers<'a>(Vec<Answer<'a>>);

/// An entry point and its results. Those that cannot be read are left out.
#[derive(Clone, Debug)]
struct Answer<'a> {
    entry: &'a EntryPoint,
    /// `None`: a result that cannot be read. At least one can.
    results: Vec<Option<Content>>,
}

impl<'a> Answers<'a> {
    /// Calls the entry points and keeps their results, and names them in the remark on the case; a skip if none accepts
    /// known arguments and returns a result that can be compared.
    pub fn from_calls(
        env: &Env<'a>,
        context: &Context,
        entries: &[&'a EntryPoint],
    ) -> CheckResult<Answers<'a>> {
        let mut last = Stop::skip("no entry point succeeds with results that can be compared");
        let mut answers = Vec::new();
        for entry in entries {
            match ask(env, context, entry) {
                Ok(results) if results.iter().all(Option::is_none) => {
                    last = Stop::skip(format!("no result of {} can be compared", entry.name));
                }
                Ok(results) => answers.push(Answer { entry, results }),
                // No other entry point works in a lost context.
                Err(stop) if context.sync().is_err() => return Err(stop),
                Err(stop @ Stop::Skip { .. }) => last = stop,
                Err(stop) => return Err(stop),
            }
        }
        if answers.is_empty() {
            return Err(last);
        }
        let names: Vec<&str> = answers.iter().map(|answer| &*answer.entry.name).collect();
        env.remark.add(&format!("calls of {}", names.join(", ")));
        Ok(Answers(answers))
    }

    pub fn entries(&self) -> impl Iterator<Item = &'a EntryPoint> {
        self.0.iter().map(|answer| answer.entry)
    }

    /// Whether the entry points have an argument or a result that is not a scalar, and whose elements are not all known
    /// to be none.
    #[must_use]
    pub fn has_elements(&self) -> bool {
        self.0.iter().any(|answer| {
            let types = answer.entry.inputs.iter().map(|input| input.ty);
            let mut types = types.chain(answer.entry.outputs.iter().map(|output| output.ty));
            let mut known = answer.results.iter().flatten();
            types.any(|ty| !matches!(ty, TypeRef::Scalar(_)))
                && known.any(|value| value.bytes() > 0)
        })
    }

    /// Repeats the calls, in the same context or in another one, and compares the results.
    pub fn ask_again(&self, env: &Env<'_>, context: &Context) -> CheckResult {
        self.0.iter().try_for_each(|answer| {
            let name = &answer.entry.name;
            let at = |stop: Stop| stop.at(&format!("{name}, called again"));
            answer.ask_again(env, context).map_err(at)
        })
    }
}

impl Answer<'_> {
    fn ask_again(&self, env: &Env<'_>, context: &Context) -> CheckResult {
        let now = match ask(env, context, self.entry) {
            Err(Stop::Skip { reason }) => return Err(Stop::error(reason)),
            now => now?,
        };
        for (index, (now, before)) in now.iter().zip(&self.results).enumerate() {
            if let (Some(now), Some(before)) = (now, before) {
                now.agrees(before, Within::Tolerance)
                    .map_err(|difference| difference.at(&format!("result {index}")))?;
            }
        }
        Ok(())
    }
}

/// Repeats calls, if there were some that could be repeated, and waits for the context; otherwise fails as they did.
pub fn again(before: &CheckResult<Answers<'_>>, env: &Env<'_>, context: &Context) -> CheckResult {
    match before {
        Ok(before) => before.ask_again(env, context)?,
        Err(Stop::Skip { .. }) => {}
        Err(stop) => return Err(stop.clone()),
    }
    context.sync().map_err(Stop::from)
}

fn ask(env: &Env<'_>, context: &Context, entry: &EntryPoint) -> CheckResult<Vec<Option<Content>>> {
    let program = env.program();
    let outputs = calls::call(context, entry, &mut arguments(env, context, entry)?);
    let outputs = outputs.map_err(|error| match error.kind() {
        ErrorKind::ContextLost => Stop::from(error),
        _ => Stop::skip(format!(
            "{} accepts no known arguments: {error}",
            entry.name
        )),
    })?;
    let results = outputs.iter().zip(&entry.outputs).map(|(value, output)| {
        let content = Content::accessible(program, output.ty, value)?;
        Ok(content.map(|content| content.without_units(program, output.ty)))
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
