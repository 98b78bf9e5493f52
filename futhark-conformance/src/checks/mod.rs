//! The checks. Everything they ask follows from the program's manifest and its
//! test blocks.

mod algebra;
mod answers;
mod arrays;
mod blocks;
mod bridge;
mod build;
mod calls;
mod catalog;
mod consume;
mod content;
pub(crate) mod device_code;
mod differential;
mod env;
mod errors;
mod inside;
mod leaks;
mod library;
mod lifecycle;
mod make;
mod opaque;
mod others;
mod plain;
mod server;
mod settings;
mod sides;
mod store;

pub use blocks::title as case_title;
pub use build::{Compiled, build};
pub use catalog::{ALL, Check, Run, SECTIONS};
pub use env::Env;
pub use others::Others;

use crate::child::steps::Steps;
use crate::pattern::CheckPattern;

/// Runs the checks of a program that compiled.
pub fn run(env: &Env<'_>, steps: &mut Steps<'_>) {
    // What cannot even start can only be asked what its error is.
    if !lifecycle::start(env, steps) {
        skip_running(steps, "no context can be created");
        return;
    }
    for (name, check) in running() {
        if steps.wants(name) {
            check(env, steps);
        }
    }
    lifecycle::end(env, steps);
}

/// Reports the checks that need a context as skipped.
pub fn skip_running(steps: &mut Steps<'_>, reason: &str) {
    for (name, _) in running() {
        if steps.wants(name) {
            steps.skip(name, "", reason);
        }
    }
}

/// Whether each pattern can match something: one that no check can match is a slip.
///
/// # Errors
/// What is wrong, with the checks that there are.
pub fn must_exist(patterns: &[CheckPattern]) -> Result<(), String> {
    let unknown = |pattern: &&CheckPattern| !ALL.iter().any(|check| pattern.concerns(check.name));
    match patterns.iter().find(unknown) {
        None => Ok(()),
        Some(pattern) => {
            let names: Vec<&str> = ALL.iter().map(|check| check.name).collect();
            let pattern = pattern.to_string();
            Err(format!(
                "no check matches {pattern:?}; there are: {}",
                names.join(", ")
            ))
        }
    }
}

/// The checks that need a context, in order.
fn running() -> impl Iterator<Item = (&'static str, Run)> {
    ALL.iter()
        .filter_map(|check| Some((check.name, check.run?)))
}
