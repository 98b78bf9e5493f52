//! The checks. Everything they ask follows from the program's manifest and its
//! test blocks.

mod answers;
mod arrays;
mod blocks;
mod bridge;
mod build;
mod calls;
mod catalog;
mod consume;
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
mod settings;
mod store;

pub use build::{Compiled, build};
pub use catalog::{ALL, Check, Run, SECTIONS};
pub use env::Env;
pub use others::Others;

use crate::child::steps::Steps;

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
}

/// Reports the checks that need a context as skipped.
pub fn skip_running(steps: &mut Steps<'_>, reason: &str) {
    for (name, _) in running() {
        if steps.wants(name) {
            steps.skip(name, "", reason);
        }
    }
}

/// The checks that need a context, in order.
fn running() -> impl Iterator<Item = (&'static str, Run)> {
    ALL.iter()
        .filter_map(|check| Some((check.name, check.run?)))
}
