//! The check `errors`: a refused call reports a message, changes no value, and does not affect the
//! next call.

use crate::blocks::{Case, ErrorPattern, Expected};
use crate::harness::answers::{Answer, arguments, by_size};
use crate::harness::calls::{self, message_of, upload_all};
use crate::harness::cases::on_host;
use crate::harness::costs;
use crate::harness::env::Env;
use crate::harness::limits;
use crate::harness::make::{Random, small};
use crate::harness::snapshot::Held;
use crate::harness::steps::{StepResult, Steps, Stop};
use crate::harness::transfer::{download, upload};
use crate::values::HostValue;
use futhark_manifest::{ArrayType, Backend, ElemType, EntryPoint, TypeKind, TypeRef};
use futhark_safe::dynamic::{Arg, Context, Scalar, Value};
use futhark_safe::{Error, ErrorKind};
use std::time::{Duration, Instant};

/// The number of failing test cases to repeat, and the number on simulated devices, which are slow.
const MAX_CASES: usize = 12;
const MAX_CASES_SLOW: usize = 1;

/// The number of wrong sizes to try per entry point.
const MAX_SIZES: usize = 6;

/// The time after which no further size is tried.
const LONG_ENOUGH: Duration = Duration::from_secs(2);

/// The duration of a failing call after which it is not repeated.
const LONG: Duration = Duration::from_secs(1);

/// A number of bytes above the memory limit of this check.
const TOO_MUCH: usize = 1 << 30;

/// Checks every class of error that the program can show.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    let program = env.program();
    let (entries, most) = if env.device.is_slow() {
        (1, MAX_CASES_SLOW)
    } else {
        (usize::MAX, MAX_CASES)
    };
    let entries: Vec<_> = by_size(env).into_iter().take(entries).collect();
    costs::measure(env, steps, "errors", &entries, false);
    for entry in entries {
        let case = format!("arguments of {}", entry.name);
        env.step(steps, "errors", &case, |context| {
            refused(env, context, entry)
        });
        if entry
            .inputs
            .iter()
            .any(|input| array(env, input.ty).is_some())
        {
            let case = format!("sizes of {}", entry.name);
            env.step(steps, "errors", &case, |context| sizes(env, context, entry));
        }
    }
    let failing = env
        .blocks
        .cases
        .iter()
        .filter_map(|case| match &case.expected {
            Expected::Error(pattern) => Some((case, pattern)),
            _ => None,
        });
    for (case, pattern) in failing.take(most) {
        let name = format!("call {}", case.title());
        env.step(steps, "errors", &name, |context| {
            failing_call(env, context, case, pattern)
        });
    }
    // futhark-safe copies booleans to validate them, so their allocation fails outside of the
    // library.
    let mut arrays = program.types().iter().filter_map(|ty| ty.as_array());
    let first = arrays.find(|array| array.elem != ElemType::Bool);
    if let Some(array) = first.filter(|_| !program.backend.is_gpu()) {
        env.step(steps, "errors", "out of memory", |context| {
            out_of_memory(env, context, array)
        });
    }
}

/// A wrong number, type or ownership of arguments is refused before the program's code runs.
fn refused(env: &Env<'_>, context: &Context, entry: &EntryPoint) -> StepResult {
    let before = Answer::any(env, context);
    let nonsense = "no such entry point";
    invalid(context.call(nonsense, Vec::new()), "an unknown name")?;
    let mut kept = arguments(env, context, entry)?;
    let borrowed =
        |values: &[Value]| context.call(&entry.name, values.iter().map(Arg::Borrow).collect());
    if let Some(last) = kept.pop() {
        invalid(borrowed(&kept), "one argument too few")?;
        kept.push(last);
    }
    kept.push(Value::Scalar(Scalar::Bool(true)));
    invalid(borrowed(&kept), "one argument too many")?;
    kept.pop();
    if entry.consumed().next().is_some() {
        invalid(borrowed(&kept), "a borrow of a consumed argument")?;
    }
    for place in 0..kept.len() {
        let wrong = match entry.inputs[place].ty {
            TypeRef::Scalar(ElemType::U8) => Scalar::I8(1),
            _ => Scalar::U8(1),
        };
        let right = std::mem::replace(&mut kept[place], Value::Scalar(wrong));
        invalid(borrowed(&kept), &format!("a u8 or i8 as argument {place}"))?;
        kept[place] = right;
    }
    let mut held = Held::new(env.program());
    let again = arguments(env, context, entry)?;
    for ((value, input), alike) in kept.into_iter().zip(&entry.inputs).zip(&again) {
        held.hold_as(
            format!("the argument {}", input.name),
            input.ty,
            value,
            alike,
        )?;
    }
    as_before(env, context, before, &held)
}

/// Enlarges each array by one in each dimension. The manifest does not state the required sizes, so
/// the sequential backend must agree.
fn sizes(env: &Env<'_>, context: &Context, entry: &EntryPoint) -> StepResult {
    let before = Answer::of(env, context, entry);
    let most = if env.device.is_slow() { 1 } else { MAX_SIZES };
    let places = entry.inputs.iter().enumerate().flat_map(|(place, input)| {
        let rank = array(env, input.ty).map_or(0, |array| array.rank);
        (0..rank).map(move |dim| (place, dim))
    });
    let places: Vec<_> = places.take(most).collect();
    let mut held = Held::new(env.program());
    let begun = Instant::now();
    for (number, &(place, dim)) in places.iter().enumerate() {
        if begun.elapsed() > LONG_ENOUGH {
            let seconds = costs::shown(env.costs.seconds(entry));
            let remark = format!("{number} of {} sizes: a call takes {seconds}", places.len());
            env.remark.add(&remark);
            break;
        }
        let at = |stop: Stop| stop.at(&format!("argument {place}, enlarged in dimension {dim}"));
        let grown = |context: &Context| grown(env, context, entry, place, dim);
        let (result, observed) = calls::call(context, entry, grown(context)?);
        for ((value, input), alike) in observed.into_iter().zip(&entry.inputs).zip(grown(context)?)
        {
            if let Some(value) = value {
                let what = format!("the argument {}", input.name);
                held.hold_as(what, input.ty, value, &alike)?;
            }
        }
        held.check().map_err(at)?;
        match result {
            Err(error) => {
                has_message(&error).map_err(at)?;
                let again = calls::call(context, entry, grown(context)?).0;
                same_verdict(&error, again.err().as_ref()).map_err(at)?;
                if refuses_sizes(&error) {
                    as_sequential(env, entry, true, &grown).map_err(at)?;
                }
            }
            Ok(_) => as_sequential(env, entry, false, &grown).map_err(at)?,
        }
        context.sync().map_err(|error| at(error.into()))?;
    }
    as_before(env, context, before, &held)
}

/// The sequential backend must refuse the sizes that this backend refuses, and no others. Jobs of
/// the sequential backend compare with nothing: the other jobs of a run do so, and a library for
/// another backend would have to be compiled first.
fn as_sequential(
    env: &Env<'_>,
    entry: &EntryPoint,
    refused: bool,
    arguments: &dyn Fn(&Context) -> StepResult<Vec<Value>>,
) -> StepResult {
    if env.program().backend == Backend::C {
        return Ok(());
    }
    // The job of the sequential backend reports why there is no library.
    let Ok(library) = env.others.backend(Backend::C) else {
        return Ok(());
    };
    let context = env.context_of(&library)?;
    let result = calls::call(&context, entry, arguments(&context)?).0;
    match (refused, result) {
        (false, Err(error)) if refuses_sizes(&error) => Err(Stop::mismatch(format!(
            "the call succeeded, but backend c refuses it: {error}"
        ))),
        (true, Ok(_)) => Err(Stop::mismatch(
            "the call was refused because of its sizes, but succeeded on backend c",
        )),
        _ => Ok(()),
    }
}

/// Whether the sizes of the arguments do not fit each other.
fn refuses_sizes(error: &Error) -> bool {
    error.to_string().contains("invalid size")
}

/// Repeats a call that must fail by its test block. Each time it must report the error once, with
/// the same message.
fn failing_call(
    env: &Env<'_>,
    context: &Context,
    case: &Case,
    pattern: &ErrorPattern,
) -> StepResult {
    let program = env.program();
    let entry = program
        .entry(&case.entry)
        .ok_or_else(|| Stop::skip("the program has no such entry point"))?;
    let inputs = on_host(env, entry, &case.input)?;
    let before = Answer::any(env, context);
    let mut first: Option<Error> = None;
    let begun = Instant::now();
    for read in [Read::Sync, Read::Result, Read::Sync] {
        if begun.elapsed() > LONG {
            env.remark
                .add("the failing call is too slow to be repeated");
            break;
        }
        let arguments = upload_all(context, &inputs)?;
        let Some(error) = report(context, entry, arguments, read)? else {
            return Err(match first {
                None => Stop::skip("the call succeeds, which `blocks` reports"),
                Some(_) => Stop::mismatch("the call failed, but the repeated call succeeded"),
            });
        };
        let message = message_of(&error);
        if !pattern.matches(&message) {
            return Err(match first {
                None => Stop::skip("the message differs, which `blocks` reports"),
                Some(_) => Stop::mismatch(format!(
                    "expected an error with {pattern} again, got: {message}"
                )),
            });
        }
        has_message(&error)?;
        if error.kind() == ErrorKind::ContextLost {
            return lost(env, context, &inputs, entry);
        }
        if let Some(first) = &first {
            same_verdict(first, Some(&error))?;
        }
        context
            .sync()
            .map_err(|error| Stop::from(error).at("the error was reported twice"))?;
        first.get_or_insert(error);
    }
    as_before(env, context, before, &Held::new(program))
}

/// The operation that waits for the call.
#[derive(Clone, Copy, PartialEq)]
enum Read {
    Sync,
    Result,
}

/// Calls an entry point, and returns its error. A device may report it only at the next sync or
/// read. `None` if the call succeeds.
fn report(
    context: &Context,
    entry: &EntryPoint,
    arguments: Vec<Value>,
    read: Read,
) -> StepResult<Option<Error>> {
    let mut lent = Vec::new();
    let mut given = Vec::new();
    for (value, input) in arguments.into_iter().zip(&entry.inputs) {
        let (keep, give) = if input.unique {
            (None, Some(value))
        } else {
            (Some(value), None)
        };
        lent.push(keep);
        given.push(give);
    }
    let arguments = given.into_iter().zip(&lent).filter_map(|(give, keep)| {
        give.map(Arg::Consume)
            .or_else(|| keep.as_ref().map(Arg::Borrow))
    });
    let outputs = match context.call(&entry.name, arguments.collect()) {
        Err(error) => return Ok(Some(error)),
        Ok(outputs) => outputs,
    };
    if !context.library().backend().is_gpu() {
        return match context.sync() {
            Err(error) => Err(Stop::mismatch(format!(
                "the call succeeded and the sync failed, but this backend must report errors of the call itself: {error}"
            ))),
            Ok(()) => Ok(None),
        };
    }
    let array = outputs.iter().find_map(|value| match value {
        Value::Array(array) if !array.is_empty() => Some(array),
        _ => None,
    });
    let waited = match array.filter(|_| read == Read::Result) {
        Some(array) => array.to_bytes().map(drop),
        None => context.sync(),
    };
    Ok(waited.err())
}

/// A lost context must report its loss, and the call must fail in the same way in a new context.
fn lost(env: &Env<'_>, context: &Context, inputs: &[HostValue], entry: &EntryPoint) -> StepResult {
    let died = context.sync();
    env.forget_context();
    match died {
        Err(error) if error.kind() == ErrorKind::ContextLost => {}
        other => {
            return Err(Stop::mismatch(format!(
                "the context is lost, but sync returned {other:?}"
            )));
        }
    }
    let fresh = env.context()?;
    let result = calls::call(&fresh, entry, upload_all(&fresh, inputs)?).0;
    env.forget_context();
    match result {
        Err(error) => has_message(&error),
        Ok(_) => Err(Stop::mismatch("the same call succeeded in another context")),
    }
}

/// Creates an array above a memory limit, which is restored after the call.
fn out_of_memory(env: &Env<'_>, context: &Context, array: &ArrayType) -> StepResult {
    let before = Answer::any(env, context);
    let mut shape = vec![1; array.rank];
    shape[0] = TOO_MUCH / array.elem.size();
    // The pages are never written, so they use no memory.
    let contents = vec![0; TOO_MUCH];
    let limited = limits::limit_to_current()
        .ok_or_else(|| Stop::skip("this system cannot limit the memory of a process"))?;
    let result = context.array_from_bytes(array.elem, &shape, &contents);
    drop(limited);
    match result {
        Ok(_) => Err(Stop::mismatch(
            "an array larger than the memory limit was created",
        )),
        Err(error) if error.kind() == ErrorKind::OutOfMemory => {
            has_message(&error)?;
            context.sync()?;
            as_before(env, context, before, &Held::new(env.program()))
        }
        Err(error) => Err(Stop::mismatch(format!(
            "expected an out-of-memory error, got one of kind {:?}: {error}",
            error.kind()
        ))),
    }
}

/// After an error, held values must be unchanged, and a call must give the same results as before.
fn as_before(
    env: &Env<'_>,
    context: &Context,
    before: StepResult<Answer<'_>>,
    held: &Held<'_>,
) -> StepResult {
    held.check()?;
    match before {
        Ok(before) => before
            .ask_again(env, context)
            .map_err(|stop| stop.at("after the error")),
        // No call is known to succeed; at least a sync must.
        Err(_) => context.sync().map_err(Stop::from),
    }
}

/// An error from the C side must have a message and a suitable kind.
fn has_message(error: &Error) -> StepResult {
    let message = message_of(error);
    let message = message.trim();
    if message.is_empty() || message.ends_with("without a message") {
        return Err(Stop::mismatch(format!(
            "an error without a message: {error}"
        )));
    }
    match error.kind() {
        ErrorKind::Program | ErrorKind::OutOfMemory | ErrorKind::ContextLost => Ok(()),
        kind => Err(Stop::mismatch(format!(
            "expected an error of the program, got one of kind {kind:?}: {error}"
        ))),
    }
}

/// A repeated call must fail again, with the same kind of error.
fn same_verdict(first: &Error, second: Option<&Error>) -> StepResult {
    match second {
        Some(second) if second.kind() == first.kind() => Ok(()),
        Some(second) => Err(Stop::mismatch(format!(
            "expected an error of kind {:?} again, got one of kind {:?}: {second}",
            first.kind(),
            second.kind()
        ))),
        None => Err(Stop::mismatch(
            "the call failed, but the repeated call succeeded",
        )),
    }
}

fn invalid<T>(result: Result<T, Error>, what: &str) -> StepResult {
    match result {
        Err(error) if error.kind() == ErrorKind::InvalidArgument => Ok(()),
        Err(error) => Err(Stop::mismatch(format!(
            "{what} was refused with an error of kind {:?}: {error}",
            error.kind()
        ))),
        Ok(_) => Err(Stop::mismatch(format!("{what} was accepted"))),
    }
}

/// The arguments of the entry point, with one array enlarged in one dimension.
fn grown(
    env: &Env<'_>,
    context: &Context,
    entry: &EntryPoint,
    place: usize,
    dim: usize,
) -> StepResult<Vec<Value>> {
    let mut values = arguments(env, context, entry)?;
    let old = download(&values[place])?;
    let mut shape = old.shape().to_vec();
    shape[dim] += 1;
    let mut random = Random::new(env.seed, "sizes");
    values[place] = upload(context, &small(&mut random, old.elem(), &shape))?;
    Ok(values)
}

fn array<'a>(env: &Env<'a>, ty: TypeRef) -> Option<&'a ArrayType> {
    match &env.program().get(ty.as_type()?).kind {
        TypeKind::Array(array) => Some(array),
        TypeKind::Opaque(_) => None,
    }
}
