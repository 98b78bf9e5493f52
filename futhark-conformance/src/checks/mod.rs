//! The checks: one module each, under the name of the check.
//!
//! A check derives its questions from the program's manifest and test blocks, and runs them as
//! steps in the environment of `harness`. `catalog` lists the checks. They run in this order:
//!
//! 1. [`build`]: `compile`, and on its artifact `manifest`, `header`, `symbols` and `plain`.
//! 2. [`run`]: the start of `lifecycle`, then each check that needs a context, in the order of
//!    [`ALL`], then the end of `lifecycle`.

mod arrays;
mod blocks;
mod catalog;
mod compile;
mod consume;
pub(crate) mod device_code;
mod differential;
mod errors;
mod header;
mod index;
mod leaks;
mod lifecycle;
mod manifest;
mod opaque;
pub(crate) mod plain;
mod properties;
mod raw;
mod server;
mod settings;
mod store;
mod symbols;

pub use catalog::{ALL, Check, Run, must_exist};
pub use compile::Compiled;

use crate::blocks::TestBlocks;
use crate::harness::env::Env;
use crate::harness::steps::Steps;
use futhark_manifest::Backend;
use futhark_safe::compile::Build;

/// Compiles the program, and runs the checks that need no context.
pub fn build(build: &Build, blocks: &TestBlocks, steps: &mut Steps<'_>) -> Compiled {
    let compiled = compile::check(build, blocks, steps);
    if let Compiled::Yes(artifact) = &compiled {
        steps.run("manifest", "", || manifest::check(artifact));
        steps.run("header", "", || header::check(artifact));
        steps.run("symbols", "", || symbols::check(artifact));
        steps.run("symbols", "imports", || symbols::imports(artifact));
        if artifact.program().backend == Backend::C {
            plain::check(artifact, blocks, steps);
        }
    }
    compiled
}

/// Runs the checks that need a context.
pub fn run(env: &Env<'_>, steps: &mut Steps<'_>) {
    // Without a context, only the start error itself can be checked.
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

/// The checks that need a context, in order.
fn running() -> impl Iterator<Item = (&'static str, Run)> {
    ALL.iter()
        .filter_map(|check| Some((check.name, check.run?)))
}
