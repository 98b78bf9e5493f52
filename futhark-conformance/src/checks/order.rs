//! Runs the checks in order.
//!
//! 1. [`build`]: `compile`, and on its artifact `manifest`, `header`, `symbols` and `plain`.
//! 2. [`run`]: the start of `lifecycle`, then each check that needs a context, in the order of
//!    [`ALL`], then the end of `lifecycle`.

use super::catalog::{ALL, Run};
use super::compile::{self, Compiled};
use super::{header, lifecycle, manifest, plain, symbols};
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
