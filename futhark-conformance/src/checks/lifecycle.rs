//! The check `lifecycle`: creation, use and end of contexts, and the lifetime of values.

use crate::compare::{Within, compare};
use crate::harness::answers::{self, Answers, again};
use crate::harness::calls::{download, upload};
use crate::harness::cases::{Cases, CheckResult, Stop, ensure};
use crate::harness::env::Env;
use crate::inputs::any_bits;
use crate::values::HostValue;
use futhark_manifest::EntryPoint;
use futhark_safe::dynamic::{Context, Value};
use std::fs;
use std::hint::black_box;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The number of contexts to create one after another, unless that takes too long.
const IN_A_ROW: usize = 20;

/// The time after which no further context is created: on Oclgrind, each takes up to some seconds.
const LONG_ENOUGH: Duration = Duration::from_millis(100);

/// The check: its cases between those of [`super::check_in_context`], which run even if it is not selected.
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let entries = answers::choose(env, cases, "lifecycle", MANY);
    cases.run("lifecycle", MANY, || many(env, &entries));
    let entries = answers::choose(env, cases, "lifecycle", TWO);
    cases.run("lifecycle", TWO, || two(env, &entries));
    cases.run("lifecycle", "a value outlives its context's handle", || {
        let contents = sample(env)?;
        let context = env.new_context()?;
        let value = upload(&context, &contents)?;
        drop(context);
        has(&value, &contents)
    });
    let mut run = |case: &str, body: &dyn Fn(&Context, Before<'_>) -> CheckResult| {
        let entries = answers::choose(env, cases, "lifecycle", case);
        cases.run_in_context(env, "lifecycle", case, |context| {
            body(context, Answers::from_calls(env, context, &entries))
        });
    };
    run("clear caches", &|context, before| {
        for _ in 0..2 {
            context.clear_caches()?;
            keeps_array(env, context)?;
        }
        again(&before, env, context)
    });
    run("another thread", &|context, before| {
        another_thread(env, context, &before)
    });
    if env.device().supports_threads() {
        run("threads", &|context, before| threads(env, context, &before));
    }
}

/// What a library must leave as it is in its process, each with its name.
#[derive(Debug)]
pub struct ProcessState(Vec<(String, String)>);

/// The state of this process: its streams and its folder; on the host, where no driver may change them, also its
/// environment, the files that it creates, its signals, and the rounding of floats.
pub fn process_state(env: &Env<'_>) -> ProcessState {
    let mut state: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| state.push((name.to_owned(), value));
    for (number, name) in ["standard input", "standard output", "standard error"]
        .iter()
        .enumerate()
    {
        let target = fs::read_link(format!("/proc/self/fd/{number}"));
        add(
            name,
            target.map_or_else(|_| "closed".to_owned(), |path| format!("{path:?}")),
        );
    }
    add(
        "current folder",
        format!("{:?}", std::env::current_dir().ok()),
    );
    if !env.program().backend.is_gpu() {
        add("environment", format!("{:?}", std::env::vars_os()));
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        for name in ["Umask", "SigBlk", "SigIgn", "SigCgt"] {
            let line = status.lines().find(|line| line.starts_with(name));
            add(name, line.unwrap_or_default().to_owned());
        }
        let third = |sign: f64| black_box(sign) / black_box(3.0);
        let subnormal = black_box(f64::MIN_POSITIVE) / black_box(2.0);
        add(
            "arithmetic of floats",
            format!("{:?}", [third(1.0), third(-1.0), subnormal]),
        );
    }
    ProcessState(state)
}

impl ProcessState {
    /// Compares with the state now.
    pub fn is_still(&self, env: &Env<'_>) -> CheckResult {
        for ((name, before), (_, now)) in self.0.iter().zip(&process_state(env).0) {
            ensure!(
                before == now,
                "the {name} of the process was {before}, and is {now} after all checks"
            );
        }
        Ok(())
    }
}

/// The results of calls before a case.
type Before<'a> = CheckResult<Answers<'a>>;

const MANY: &str = "many in a row";
const TWO: &str = "two at once";

/// Creates, uses and closes contexts, one after another.
fn many(env: &Env<'_>, entries: &[&EntryPoint]) -> CheckResult {
    let begun = Instant::now();
    // On a simulated device a call takes longer than many contexts.
    let before = match env.device().is_slow() {
        true => Err(Stop::skip("calls are slow")),
        false => Answers::from_calls(env, &*env.context()?, entries),
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

/// Uses a context alone, then beside a second one; frees the first, and uses the second.
fn two(env: &Env<'_>, entries: &[&EntryPoint]) -> CheckResult {
    env.forget_context();
    let first = env.new_context()?;
    let before = Answers::from_calls(env, &first, entries);
    keeps_array(env, &first)?;
    let second = env.new_context()?;
    works(env, &second, &before).map_err(|stop| stop.at("the second context"))?;
    works(env, &first, &before).map_err(|stop| stop.at("the first context"))?;
    drop(first);
    works(env, &second, &before).map_err(|stop| stop.at("after the first context was freed"))
}

/// Uses and frees a value on another thread than the one that created it, in both directions, one
/// thread at a time.
fn another_thread(env: &Env<'_>, context: &Context, before: &Before<'_>) -> CheckResult {
    let contents = sample(env)?;
    let mine = upload(context, &contents)?;
    let theirs = elsewhere(|| {
        has(&mine, &contents)?;
        drop(mine);
        Ok(upload(context, &contents)?)
    })?;
    has(&theirs, &contents)?;
    drop(theirs);
    let answered = elsewhere(|| again(before, env, context));
    answered.map_err(|stop| stop.at("on another thread"))?;
    keeps_array(env, context)
}

/// Uses several threads at a time: on one context, then each on its own context.
fn threads(env: &Env<'_>, context: &Context, before: &Before<'_>) -> CheckResult {
    const THREADS: usize = 3;
    const ROUNDS: usize = 5;
    /// The duration of a call, in seconds, above which each thread makes only one.
    const LONG: f64 = 0.05;
    let entries = before.iter().flat_map(Answers::entries);
    let seconds: f64 = entries.map(|entry| answers::seconds(env, entry)).sum();
    let rounds = if seconds > LONG { 1 } else { ROUNDS };
    let work = |own: bool| {
        let fresh = own.then(|| env.new_context()).transpose()?;
        let context = fresh.as_ref().unwrap_or(context);
        (0..rounds).try_for_each(|_| works(env, context, before))
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
fn works(env: &Env<'_>, context: &Context, before: &Before<'_>) -> CheckResult {
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
