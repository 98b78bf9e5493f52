//! The check `settings`: what a context can be told before it exists changes
//! how it works, and never what it answers.

use crate::harness::answers::Answer;
use crate::harness::env::Env;
use crate::harness::steps::{StepResult, Steps, Stop};
use futhark_manifest::TypeRef;
use futhark_safe::dynamic::Context;
use futhark_safe::{Config, Error, ErrorKind};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// Where contexts are costly, only programs with so few entry points are asked.
const MAX_ENTRIES_COSTLY: usize = 1;

/// A name that no parameter has.
const NO_SUCH_PARAMETER: &str = "no such parameter";

/// Every kind of setting that the backend has.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    let program = env.program();
    steps.run("settings", "unknown", || unknown(env));
    if env.device.has_costly_contexts() && program.entries().len() > MAX_ENTRIES_COSTLY {
        return;
    }
    steps.run("settings", "profiling", || profiling(env));
    steps.run("settings", "logging and debugging", || {
        same_with(env, env.config().logging(true))?;
        same_with(env, env.config().debugging(true))
    });
    if program.backend.has_threads() {
        steps.run("settings", "number of threads", || {
            for threads in [1, 2, 5] {
                same_with(env, env.config().num_threads(threads))
                    .map_err(|stop| stop.at(&format!("{threads} threads")))?;
            }
            Ok(())
        });
    }
    steps.run("settings", "tuning parameters", || tuning(env));
    steps.run("settings", "cache file", || cache(env));
}

/// What the backend does not have is refused in words, and what is refused
/// leaves nothing behind.
fn unknown(env: &Env<'_>) -> StepResult {
    let mut wrong = vec![(
        "a parameter",
        Config::new().tuning_param(NO_SUCH_PARAMETER, 1),
    )];
    wrong.push(match env.program().backend.has_threads() {
        true => ("a device", Config::new().device("#0")),
        false => ("threads", Config::new().num_threads(2)),
    });
    for (what, config) in wrong {
        match Context::new(env.library, &config) {
            Ok(_) => return Err(Stop::mismatch(format!("{what} was accepted"))),
            Err(error) if refused(&error) => {}
            Err(error) => {
                return Err(Stop::mismatch(format!(
                    "{what} was refused with an error of kind {:?}: {error}",
                    error.kind()
                )));
            }
        }
    }
    let context = env.context()?;
    context.sync().map_err(Stop::from)
}

fn refused(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidArgument | ErrorKind::Unsupported
    )
}

/// A context with other settings answers as the one without.
fn same_with(env: &Env<'_>, config: Config) -> StepResult {
    let before = Answer::any(env, &*env.context()?)?;
    let context = Context::new(env.library, &config)?;
    before.ask_again(env, &context)?;
    context.close().map_err(|(_, error)| error.into())
}

/// The report is JSON, with the memory that was used, and with the events if
/// they are collected.
fn profiling(env: &Env<'_>) -> StepResult {
    let plain = env.context()?;
    let before = Answer::any(env, &plain)?;
    events(&plain.report()?)?;
    let context = Context::new(env.library, &env.config().profiling(true))?;
    // Constants of the program are computed at the start.
    events(&context.report()?)?;
    before.ask_again(env, &context)?;
    let collected = events(&context.report()?)?;
    // Whatever a device does is an event; on the host only parallel loops are. For arrays
    // without elements it may have nothing to do.
    let entry = before.entry();
    let results = entry.outputs.iter().map(|output| output.ty);
    let mut types = entry.inputs.iter().map(|input| input.ty).chain(results);
    let on_device = env.program().backend.is_gpu()
        && types.any(|ty| !matches!(ty, TypeRef::Scalar(_)))
        && !before.is_empty();
    if on_device && collected == 0 {
        return Err(Stop::mismatch(
            "nothing that the device did is in the report",
        ));
    }
    if events(&context.report()?)? != 0 {
        return Err(Stop::mismatch("the same events are reported twice"));
    }
    context.pause_profiling()?;
    before.ask_again(env, &context)?;
    let paused = events(&context.report()?)?;
    context.unpause_profiling()?;
    before.ask_again(env, &context)?;
    let resumed = events(&context.report()?)?;
    if paused > 0 {
        return Err(Stop::mismatch(format!(
            "{paused} events were collected while that was suspended"
        )));
    }
    if (resumed > 0) != (collected > 0) {
        return Err(Stop::mismatch(format!(
            "{collected} events were collected first, {resumed} after it was resumed"
        )));
    }
    Ok(())
}

/// How many events a report holds.
fn events(report: &str) -> StepResult<usize> {
    let wrong = |what: String| Stop::mismatch(format!("{what}: {report}"));
    let json: Json = serde_json::from_str(report)
        .map_err(|error| wrong(format!("the report is no JSON ({error})")))?;
    if !json.get("memory").is_some_and(Json::is_object) {
        return Err(wrong("the report does not tell the memory".to_owned()));
    }
    let events = json
        .get("events")
        .and_then(Json::as_array)
        .ok_or_else(|| wrong("the report has no list of events".to_owned()))?;
    for event in events {
        let name = event.get("name").and_then(Json::as_str);
        let duration = event.get("duration").and_then(Json::as_f64);
        if name.is_none_or(str::is_empty) || duration.is_none_or(|us| us < 0.0) {
            return Err(wrong(format!(
                "an event without a name or a duration ({event})"
            )));
        }
    }
    Ok(events.len())
}

/// The parameters are those of the manifest, can be set, all at once, and are
/// what they were in the next context.
fn tuning(env: &Env<'_>) -> StepResult {
    let context = env.context()?;
    let parameters = context.tuning_params();
    if let Some((name, class)) = parameters
        .iter()
        .find(|(name, class)| name.is_empty() || class.is_empty())
    {
        return Err(Stop::mismatch(format!(
            "parameter {name:?} has the class {class:?}"
        )));
    }
    let listed = env.program().entries().iter().flat_map(|entry| {
        let names = entry.tuning_params.iter();
        names.map(move |name| (entry, name))
    });
    for (entry, name) in listed {
        if parameters.iter().all(|(known, _)| known != name) {
            return Err(Stop::mismatch(format!(
                "{} has a parameter {name}, which the library does not know",
                entry.name
            )));
        }
    }
    if parameters.is_empty() {
        return Ok(());
    }
    let set = parameters
        .iter()
        .fold(env.config(), |config, (name, class)| {
            config.tuning_param(name.as_str(), value_of(class))
        });
    same_with(env, set)?;
    same_with(env, env.config()).map_err(|stop| stop.at("without the settings again"))
}

/// A value that a parameter can have, and hardly has without being set.
fn value_of(class: &str) -> u32 {
    match class {
        "thread_block_size" => 32,
        "grid_size" => 3,
        "tile_size" => 4,
        "reg_tile_size" => 2,
        // From so little parallelism on the version for more of it is chosen.
        "threshold" => 1,
        _ => 16,
    }
}

/// The file is written, used and, if it is damaged, written anew. Backends that
/// compile nothing leave it alone.
fn cache(env: &Env<'_>) -> StepResult {
    let failed = |error: std::io::Error| Stop::error(error.to_string());
    let folder = tempfile::tempdir().map_err(failed)?;
    let file = folder.path().join("cache");
    let with = |what: &str| {
        same_with(env, env.device.config().cache_file(&file)).map_err(|stop| stop.at(what))
    };
    let read = |path: &Path| std::fs::read(path).ok();
    if !env.device.compiles_kernels() {
        with("a file that is not there")?;
        std::fs::write(&file, "the user's own").map_err(failed)?;
        with("a file of the user's")?;
        return match read(&file) {
            Some(text) if text == b"the user's own" => Ok(()),
            _ => Err(Stop::mismatch("a file of the user's was changed")),
        };
    }
    // The emulated device keeps what it compiled: there a context costs little.
    let costly = env.device.has_costly_contexts() && !env.device.is_emulated();
    match env.cache.as_deref().filter(|_| costly) {
        // Made by the first context of this run: another one would take as long.
        Some(first) => {
            copy(first, &file).map_err(failed)?;
            copy(&sum_of(first), &sum_of(&file)).map_err(failed)?;
        }
        None => with("cold")?,
    }
    let good = read(&file).ok_or_else(|| Stop::mismatch("the file was not written"))?;
    with("warm")?;
    if read(&file).as_ref() != Some(&good) {
        return Err(Stop::mismatch("a file that is good was written again"));
    }
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let mut damages = vec![("with a byte changed", flipped)];
    if !env.device.has_costly_contexts() {
        damages.push(("cut in half", good[..middle].to_vec()));
        damages.push(("empty", Vec::new()));
    }
    for (what, bytes) in damages {
        std::fs::write(&file, &bytes).map_err(failed)?;
        with(what)?;
        if read(&file).is_none_or(|now| now == bytes) {
            return Err(Stop::mismatch(format!("{what}, it was not written anew")));
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::copy(from, to).map(drop)
}

/// The file beside a cache file that holds its checksum.
fn sum_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".sum");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_looked_into() {
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
