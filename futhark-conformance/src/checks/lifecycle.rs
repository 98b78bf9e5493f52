//! The check `lifecycle`: creation, use and end of contexts, and the lifetime of values.

use crate::compare::{Within, compare};
use crate::harness::answers::{self, Answer, again, by_size};
use crate::harness::calls::{download, upload};
use crate::harness::cases::{Cases, CheckResult, Stop};
use crate::harness::env::Env;
use crate::inputs::any_bits;
use crate::values::HostValue;
use futhark_safe::dynamic::{Context, Value};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The number of contexts to create one after another, unless that takes too long.
const IN_A_ROW: usize = 20;

/// The time after which no further context is created: on Oclgrind, each takes up to some seconds.
const LONG_ENOUGH: Duration = Duration::from_millis(100);

/// The check: its cases between those of [`super::check_in_context`], which run even if it is not selected.
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    answers::measure(env, cases, "lifecycle", &by_size(env), true);
    cases.run("lifecycle", "many in a row", || many(env));
    cases.run("lifecycle", "two at once", || two(env));
    cases.run("lifecycle", "a value outlives its context's handle", || {
        let contents = sample(env)?;
        let context = env.new_context()?;
        let value = upload(&context, &contents)?;
        drop(context);
        has(&value, &contents)
    });
    cases.run_in_context(env, "lifecycle", "clear caches", |context| {
        let before = Answer::from_any_call(env, context);
        for _ in 0..2 {
            context.clear_caches()?;
            keeps_array(env, context)?;
        }
        again(&before, env, context)
    });
    cases.run_in_context(env, "lifecycle", "another thread", |context| {
        another_thread(env, context)
    });
    if env.device().supports_threads() {
        cases.run_in_context(env, "lifecycle", "threads", |context| threads(env, context));
    }
}

/// Creates, uses and closes contexts, one after another.
fn many(env: &Env<'_>) -> CheckResult {
    let begun = Instant::now();
    // On a simulated device a call takes longer than many contexts.
    let before = match env.device().is_slow() {
        true => Err(Stop::skip("calls are slow")),
        false => Answer::from_any_call(env, &*env.context()?),
    };
    for number in 0..IN_A_ROW {
        if number > 0 && begun.elapsed() > LONG_ENOUGH {
            break;
        }
        let at = |stop: Stop| stop.at(&format!("context {number}"));
        let context = env.new_context().map_err(|error| at(error.into()))?;
        works(env, &context, &before).map_err(at)?;
        context.close().map_err(|(_, error)| at(error.into()))?;
    }
    Ok(())
}

/// Uses two contexts, one of which is freed first.
fn two(env: &Env<'_>) -> CheckResult {
    let (first, second) = (env.new_context()?, env.new_context()?);
    let before = Answer::from_any_call(env, &first);
    keeps_array(env, &first)?;
    works(env, &second, &before).map_err(|stop| stop.at("the second context"))?;
    drop(first);
    works(env, &second, &before).map_err(|stop| stop.at("after the first context was freed"))
}

/// Uses and frees a value on another thread than the one that created it, in both directions, one
/// thread at a time.
fn another_thread(env: &Env<'_>, context: &Context) -> CheckResult {
    let contents = sample(env)?;
    let mine = upload(context, &contents)?;
    let theirs = elsewhere(|| {
        has(&mine, &contents)?;
        drop(mine);
        Ok(upload(context, &contents)?)
    })?;
    has(&theirs, &contents)?;
    drop(theirs);
    let before = Answer::from_any_call(env, context);
    let answered = elsewhere(|| again(&before, env, context));
    answered.map_err(|stop| stop.at("on another thread"))?;
    keeps_array(env, context)
}

/// Uses several threads at a time: on one context, then each on its own context.
fn threads(env: &Env<'_>, context: &Context) -> CheckResult {
    const THREADS: usize = 3;
    const ROUNDS: usize = 5;
    /// The duration of a call, in seconds, above which each thread makes only one.
    const LONG: f64 = 0.05;
    let before = Answer::from_any_call(env, context);
    let rounds = match &before {
        Ok(before) if answers::seconds(env, before.entry) > LONG => 1,
        _ => ROUNDS,
    };
    let work = |own: bool| {
        let fresh = own.then(|| env.new_context()).transpose()?;
        let context = fresh.as_ref().unwrap_or(context);
        (0..rounds).try_for_each(|_| works(env, context, &before))
    };
    for (own, contexts) in [(false, "on one context"), (true, "each on its own context")] {
        let results: CheckResult<Vec<()>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| work(own))).collect();
            threads.into_iter().map(joined).collect()
        });
        results.map_err(|stop| stop.at(&format!("{THREADS} threads, {contexts}")))?;
    }
    Ok(())
}

/// Runs a function on another thread, and waits for it.
fn elsewhere<T: Send>(work: impl FnOnce() -> CheckResult<T> + Send) -> CheckResult<T> {
    thread::scope(|scope| joined(scope.spawn(work)))
}

fn joined<T>(thread: ScopedJoinHandle<'_, CheckResult<T>>) -> CheckResult<T> {
    thread
        .join()
        .unwrap_or_else(|_| Err(Stop::error("the check itself panicked on its thread")))
}

/// A context must keep arrays, and give the same results as before.
fn works(env: &Env<'_>, context: &Context, before: &CheckResult<Answer<'_>>) -> CheckResult {
    keeps_array(env, context)?;
    again(before, env, context)
}

fn keeps_array(env: &Env<'_>, context: &Context) -> CheckResult {
    match sample(env) {
        Ok(contents) => has(&upload(context, &contents)?, &contents),
        Err(_) => Ok(()),
    }
}

fn has(value: &Value, contents: &HostValue) -> CheckResult {
    Ok(compare(&download(value)?, contents, Within::Bits)?)
}

/// Contents for an array of the program's first array type; a skip if there is none.
fn sample(env: &Env<'_>) -> CheckResult<HostValue> {
    let mut arrays = env.program().types().iter().filter_map(|ty| ty.as_array());
    let array = arrays.next();
    let array = array.ok_or_else(|| Stop::skip("the program has no array type"))?;
    let shape = vec![2; array.rank];
    Ok(any_bits(&mut env.random("lifecycle"), array.elem, &shape))
}
