//! The check `settings`: the settings of a context change how it works, and never its results.

use crate::harness::answers::{self, Answers};
use crate::harness::cases::{Cases, CheckResult, Stop, ensure, mismatch, skip};
use crate::harness::env::Env;
use futhark_manifest::EntryPoint;
use futhark_safe::dynamic::Context;
use futhark_safe::{Config, ErrorKind};
use serde_json::Value as Json;

/// The maximal number of entry points of a program to check on a device whose contexts are slow to
/// create.
const MAX_ENTRIES_COSTLY: usize = 1;

/// The maximal number of tuning parameters of a program whose cache file PoCL writes. PoCL compiles a
/// kernel at its first call, but all of them, also those of the runtime, to write the file.
const MAX_PARAMETERS_POCL: usize = 1;

/// A name that is not a tuning parameter.
const NO_SUCH_PARAMETER: &str = "no such parameter";

/// Checks every kind of setting that the backend has.
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let program = env.program();
    cases.run("settings", "unknown", || unknown(env));
    if env.device().has_costly_contexts() && program.entries().len() > MAX_ENTRIES_COSTLY {
        return;
    }
    let mut run = |case: &str, body: &dyn Fn(&Calls<'_>) -> CheckResult| {
        let entries = answers::choose(env, cases, "settings", case);
        cases.run("settings", case, || body(&Calls { env, entries }));
    };
    run("profiling", &profiling);
    run("logging and debugging", &|calls| {
        calls.same_with(env.config().logging(true))?;
        calls.same_with(env.config().debugging(true))
    });
    if program.backend.has_threads() {
        run("number of threads", &|calls| {
            let any = env.random("threads").usize(3..9);
            for threads in [1, 2, any] {
                calls
                    .same_with(env.config().num_threads(threads))
                    .map_err(|stop| stop.at(&format!("{threads} threads")))?;
            }
            Ok(())
        });
    }
    run("tuning parameters", &tuning);
    run("cache file", &cache);
}

/// A parameter that the library lacks must be refused, and have no effect.
fn unknown(env: &Env<'_>) -> CheckResult {
    let config = Config::new().tuning_param(NO_SUCH_PARAMETER, 1);
    let Err(error) = Context::new(env.library, &config) else {
        mismatch!("a parameter was accepted");
    };
    let kind = error.kind();
    ensure!(
        matches!(kind, ErrorKind::InvalidArgument | ErrorKind::Unsupported),
        "a parameter was refused with an error of kind {kind:?}: {error}"
    );
    env.context()?.sync().map_err(Stop::from)
}

/// The calls of one case.
struct Calls<'a> {
    env: &'a Env<'a>,
    entries: Vec<&'a EntryPoint>,
}

impl<'a> Calls<'a> {
    /// The calls in the shared context, and their results.
    fn made(&self) -> CheckResult<Answers<'a>> {
        Answers::from_calls(self.env, &*self.env.context()?, &self.entries)
    }

    /// A context with other settings must give the same results as one without.
    fn same_with(&self, config: Config) -> CheckResult {
        let before = self.made()?;
        let context = Context::new(self.env.library, &config)?;
        before.ask_again(self.env, &context)?;
        context.close().map_err(|(_, error)| error.into())
    }
}

/// The report must be JSON, with the memory in use, and with events if profiling is on.
fn profiling(calls: &Calls<'_>) -> CheckResult {
    let env = calls.env;
    let before = calls.made()?;
    events(&env.context()?.report()?)?;
    let context = Context::new(env.library, &env.config().profiling(true))?;
    // Creating the context has computed the constants of the program.
    events(&context.report()?)?;
    before.ask_again(env, &context)?;
    let collected = events(&context.report()?)?;
    // Every operation of a device is an event; on the host only parallel loops are. Empty arrays
    // may cause no event.
    let on_device = env.program().backend.is_gpu() && before.has_elements();
    if on_device && collected == 0 {
        mismatch!("the report contains no event of the device");
    }
    ensure!(
        events(&context.report()?)? == 0,
        "the same events are reported twice"
    );
    context.pause_profiling()?;
    before.ask_again(env, &context)?;
    let paused = events(&context.report()?)?;
    context.unpause_profiling()?;
    before.ask_again(env, &context)?;
    let resumed = events(&context.report()?)?;
    ensure!(
        paused == 0,
        "{paused} events were collected while profiling was paused"
    );
    ensure!(
        (resumed > 0) == (collected > 0),
        "{collected} events were collected first, {resumed} after profiling was resumed"
    );
    Ok(())
}

fn events(report: &str) -> CheckResult<usize> {
    let read: Json = serde_json::from_str(report).unwrap_or_default();
    let (true, Some(events)) = (read["memory"].is_object(), read["events"].as_array()) else {
        mismatch!("the report is not as documented: {report}");
    };
    let is_documented = |event: &Json| {
        let name = event["name"].as_str();
        let duration = event["duration"].as_f64();
        name.is_some_and(|name| !name.is_empty()) && duration.is_some_and(|seconds| seconds >= 0.0)
    };
    ensure!(
        events.iter().all(is_documented),
        "an event without a name or a duration: {report}"
    );
    Ok(events.len())
}

/// The parameters must be those of the manifest. All can be set at once, without an effect on the
/// next context.
fn tuning(calls: &Calls<'_>) -> CheckResult {
    let env = calls.env;
    let context = env.context()?;
    let parameters = context.tuning_params();
    for entry in env.program().entries() {
        for name in &entry.tuning_params {
            ensure!(
                parameters.iter().any(|known| known.name() == name),
                "{} has a parameter {name}, which the library lacks",
                entry.name
            );
        }
    }
    if parameters.is_empty() {
        return Ok(());
    }
    let set = parameters.iter().fold(env.config(), |config, param| {
        config.tuning_param(param.name(), value_of(param.class()))
    });
    calls.same_with(set)?;
    calls
        .same_with(env.config())
        .map_err(|stop| stop.at("in the next context, without these settings"))
}

/// A valid value that differs from the usual default.
fn value_of(class: &str) -> u32 {
    match class {
        "thread_block_size" => 32,
        "grid_size" => 3,
        "tile_size" => 4,
        "reg_tile_size" => 2,
        // A threshold this low selects the version with more parallelism.
        _ if class.starts_with("threshold") => 1,
        _ => 16,
    }
}

/// The cache file must be written and used. Backends without kernels must not touch it.
fn cache(calls: &Calls<'_>) -> CheckResult {
    let env = calls.env;
    let folder = tempfile::tempdir()?;
    let new = folder.path().join("cache");
    // The first context of this run wrote a file; another one would take as long. The emulated device caches
    // compiled kernels itself, so its contexts are fast.
    let costly = env.device().has_costly_contexts() && !env.device().is_emulated();
    let first = env.cache.as_ref().filter(|_| costly);
    let file = first.unwrap_or(&new);
    let with = |what: &str| {
        let cached = env.device().config().cache_file(file);
        calls.same_with(cached).map_err(|stop| stop.at(what))
    };
    if !env.device().compiles_kernels() {
        std::fs::write(file, "the user's own")?;
    } else if !env.device().needs_cache_file() {
        let entries = env.program().entries().iter();
        let parameters = entries.map(|entry| entry.tuning_params.len());
        if parameters.sum::<usize>() > MAX_PARAMETERS_POCL {
            skip!(
                "too slow for this check: PoCL compiles every kernel of the program to write the file"
            );
        }
    }
    if !file.is_file() {
        with("cold")?;
    }
    let before = std::fs::read(file);
    let before = before.map_err(|_| Stop::mismatch("the cache file was not written"))?;
    with("warm")?;
    ensure!(
        std::fs::read(file).is_ok_and(|now| now == before),
        "a valid cache file, or a file of the user, was changed"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_a_report_are_counted() {
        let good = r#"{"memory":{"device":8},"events":[{"name":"a","duration":0.5}]}"#;
        assert_eq!(events(good), Ok(1));
        for bad in [
            "",
            "[]",
            r#"{"memory":{}}"#,
            r#"{"events":[]}"#,
            r#"{"memory":{},"events":[{"name":"","duration":1}]}"#,
            r#"{"memory":{},"events":[{"name":"a","duration":-1}]}"#,
        ] {
            assert!(events(bad).is_err(), "{bad}");
        }
    }
}
