//! The check `errors`: a refused call reports a message, changes no value, and does not affect the
//! next call.

use crate::blocks::{Case, ErrorPattern};
use crate::harness::answers::{self, Answers, again, arguments, by_size};
use crate::harness::calls::{self, download, elem_of, message_of, upload, upload_all};
use crate::harness::cases::{Cases, CheckResult, Stop, ensure, mismatch, skip};
use crate::harness::env::Env;
use crate::harness::limits;
use crate::harness::test_cases::on_host;
use crate::inputs::small;
use futhark_manifest::{ArrayType, Backend, ElemType, EntryPoint};
use futhark_safe::dynamic::{Context, Value};
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
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let program = env.program();
    let (entries, most) = match env.device().is_slow() {
        true => (1, MAX_CASES_SLOW),
        false => (usize::MAX, MAX_CASES),
    };
    let mut entries: Vec<_> = by_size(env).into_iter().take(entries).collect();
    entries.retain(|entry| dimensions(env, entry).next().is_some());
    answers::measure(env, cases, "errors", &entries);
    for entry in entries {
        let case = format!("sizes of {}", entry.name);
        cases.run_in_context(env, "errors", &case, |context| sizes(env, context, entry));
    }
    let test_cases = env.blocks.cases.iter();
    let failing = test_cases.filter_map(|case| Some((case, case.expected_error()?)));
    for (case, pattern) in failing.take(most) {
        let name = format!("call {}", case.title());
        let entries = answers::choose(env, cases, "errors", &name);
        cases.run_in_context(env, "errors", &name, |context| {
            failing_call(env, context, case, pattern, &entries)
        });
    }
    // futhark-safe copies booleans to validate them, so their allocation fails outside of the
    // library.
    let mut arrays = program.types().iter().filter_map(|ty| ty.as_array());
    let first = arrays.find(|array| array.elem != ElemType::Bool);
    if let Some(array) = first.filter(|_| !program.backend.is_gpu()) {
        let entries = answers::choose(env, cases, "errors", "out of memory");
        cases.run_in_context(env, "errors", "out of memory", |context| {
            out_of_memory(env, context, array, &entries)
        });
    }
}

/// The dimensions of all arrays among the arguments: the number of the argument, and the dimension.
fn dimensions<'a>(
    env: &Env<'a>,
    entry: &'a EntryPoint,
) -> impl Iterator<Item = (usize, usize)> + use<'a> {
    let program = env.program();
    entry.inputs.iter().enumerate().flat_map(|(number, input)| {
        let rank = elem_of(program, input.ty).map_or(0, |(_, rank)| rank);
        (0..rank).map(move |dim| (number, dim))
    })
}

/// Enlarges each array by one in each dimension.
fn sizes(env: &Env<'_>, context: &Context, entry: &EntryPoint) -> CheckResult {
    let before = Answers::from_calls(env, context, &[entry]);
    let most = if env.device().is_slow() { 1 } else { MAX_SIZES };
    let dimensions: Vec<_> = dimensions(env, entry).take(most).collect();
    let begun = Instant::now();
    for (number, &(argument, dim)) in dimensions.iter().enumerate() {
        if begun.elapsed() > LONG_ENOUGH {
            let seconds = answers::duration(answers::seconds(env, entry));
            let count = dimensions.len();
            env.remark.add(&format!(
                "{number} of {count} sizes: a call takes {seconds}"
            ));
            break;
        }
        wrong_size(env, context, entry, (argument, dim)).map_err(|stop| {
            stop.at(&format!("argument {argument}, enlarged in dimension {dim}"))
        })?;
    }
    after_error(before, env, context)
}

/// The manifest does not state the required sizes, so the sequential backend must refuse the sizes
/// that this backend refuses, and no others.
fn wrong_size(
    env: &Env<'_>,
    context: &Context,
    entry: &EntryPoint,
    (argument, dim): (usize, usize),
) -> CheckResult {
    let call = |context: &Context| {
        let mut values = arguments(env, context, entry)?;
        let old = download(&values[argument])?;
        let mut shape = old.shape().to_vec();
        shape[dim] += 1;
        let mut random = env.random("sizes");
        values[argument] = upload(context, &small(&mut random, old.elem(), &shape))?;
        calls::call_observing(context, entry, &mut values)
    };
    let result = call(context)?;
    if let Err(error) = &result {
        has_message(error)?;
        let repeated = call(context)?.err();
        ensure!(
            repeated.as_ref().map(Error::kind) == Some(error.kind()),
            "the call failed: {error}\nbut the repeated call: {repeated:?}"
        );
    }
    context.sync()?;
    let refuses_sizes = |error: &Error| error.to_string().contains("invalid size");
    let is_comparable = result.as_ref().err().is_none_or(refuses_sizes);
    // Jobs of the sequential backend compare with nothing: the other jobs of a run do so, and a
    // library for another backend would have to be compiled first.
    if !is_comparable || env.program().backend == Backend::C {
        return Ok(());
    }
    // The job of the sequential backend reports why there is no library.
    let Ok(library) = env.sequential(&env.spec.compiler) else {
        return Ok(());
    };
    match (result, call(&env.context_of(&library)?)?) {
        (Ok(_), Err(error)) if refuses_sizes(&error) => {
            mismatch!("the call succeeded, but backend c refuses it: {error}")
        }
        (Err(_), Ok(_)) => {
            mismatch!("the call was refused because of its sizes, but succeeded on backend c")
        }
        _ => Ok(()),
    }
}

/// Repeats a call that must fail by its test block. Each time it must report the error once, with
/// the same message.
fn failing_call(
    env: &Env<'_>,
    context: &Context,
    case: &Case,
    pattern: &ErrorPattern,
    entries: &[&EntryPoint],
) -> CheckResult {
    let program = env.program();
    let entry = program
        .entry(&case.entry)
        .ok_or_else(|| Stop::skip("the program has no such entry point"))?;
    let inputs = on_host(env, entry, &case.input)?;
    let before = Answers::from_calls(env, context, entries);
    let mut kind = None;
    let begun = Instant::now();
    // The second call waits by reading a result.
    for read_result in [false, true, false] {
        if begun.elapsed() > LONG {
            env.remark
                .add("the failing call is too slow to be repeated");
            break;
        }
        let error = report(context, entry, upload_all(context, &inputs)?, read_result)?;
        let error = match (error, kind) {
            (Some(error), _) if pattern.matches(&message_of(&error)) => error,
            (None, None) => skip!("the call succeeds, which `blocks` reports"),
            (Some(_), None) => skip!("the message differs, which `blocks` reports"),
            (error, Some(_)) => {
                let actual = error.map_or_else(|| "results".to_owned(), |e| message_of(&e));
                mismatch!("expected an error with {pattern} again, got: {actual}");
            }
        };
        has_message(&error)?;
        if error.kind() == ErrorKind::ContextLost {
            let died = context.sync();
            env.forget_context();
            ensure!(
                matches!(&died, Err(error) if error.kind() == ErrorKind::ContextLost),
                "the context is lost, but sync returned {died:?}"
            );
            let fresh = env.context()?;
            after_error(before, env, &fresh)?;
            let again = calls::call(&fresh, entry, &mut upload_all(&fresh, &inputs)?);
            env.forget_context();
            return match again {
                Err(error) => has_message(&error),
                Ok(_) => mismatch!("the same call succeeded in another context"),
            };
        }
        context
            .sync()
            .map_err(|error| Stop::from(error).at("the error was reported twice"))?;
        let first = *kind.get_or_insert(error.kind());
        ensure!(
            error.kind() == first,
            "expected an error of kind {first:?} again, got one of kind {:?}: {error}",
            error.kind()
        );
    }
    after_error(before, env, context)
}

/// Calls an entry point, and returns its error. A device may report it only at the next sync or
/// read. `None` if the call succeeds.
fn report(
    context: &Context,
    entry: &EntryPoint,
    mut arguments: Vec<Value>,
    read_result: bool,
) -> CheckResult<Option<Error>> {
    // The arguments must live until the call has ended.
    let outputs = match calls::start(context, entry, &mut arguments) {
        Err(error) => return Ok(Some(error)),
        Ok(outputs) => outputs,
    };
    let array = outputs.iter().find_map(|value| match value {
        Value::Array(array) if !array.is_empty() => Some(array),
        _ => None,
    });
    let waited = match array.filter(|_| read_result) {
        Some(array) => array.to_bytes().map(drop),
        None => context.sync(),
    };
    match waited {
        Err(error) if !context.library().backend().is_gpu() => mismatch!(
            "the call succeeded and the sync failed, but this backend must report errors of the call itself: {error}"
        ),
        waited => Ok(waited.err()),
    }
}

/// Creates an array above a memory limit, which is restored after the call.
fn out_of_memory(
    env: &Env<'_>,
    context: &Context,
    array: &ArrayType,
    entries: &[&EntryPoint],
) -> CheckResult {
    let before = Answers::from_calls(env, context, entries);
    let mut shape = vec![1; array.rank];
    shape[0] = TOO_MUCH / array.elem.size();
    // The pages are never written, so they use no memory.
    let contents = vec![0; TOO_MUCH];
    let limited = limits::limit_to_current()
        .ok_or_else(|| Stop::skip("this system cannot limit the memory of a process"))?;
    let result = context.array_from_bytes(array.elem, &shape, &contents);
    drop(limited);
    let Err(error) = result else {
        mismatch!("an array larger than the memory limit was created");
    };
    let kind = error.kind();
    ensure!(
        kind == ErrorKind::OutOfMemory,
        "expected an out-of-memory error, got one of kind {kind:?}: {error}"
    );
    has_message(&error)?;
    context.sync()?;
    after_error(before, env, context)
}

/// After an error, a call must give the same results as before.
fn after_error(before: CheckResult<Answers<'_>>, env: &Env<'_>, context: &Context) -> CheckResult {
    again(&before, env, context).map_err(|stop| stop.at("after the error"))
}

/// An error from the C side must have a message and a suitable kind.
fn has_message(error: &Error) -> CheckResult {
    let message = message_of(error);
    let message = message.trim();
    ensure!(
        !message.is_empty() && !message.ends_with("without a message"),
        "an error without a message: {error}"
    );
    let kind = error.kind();
    ensure!(
        matches!(
            kind,
            ErrorKind::Program | ErrorKind::OutOfMemory | ErrorKind::ContextLost
        ),
        "expected an error of the program, got one of kind {kind:?}: {error}"
    );
    Ok(())
}
