//! The checks. The page of a check in `docs/checks` is its entry: what it proves, how, and what it cannot
//! prove.
//!
//! A check derives its questions from the program's manifest and test blocks, and runs them as
//! cases in the environment of `harness`. The checks run in this order:
//!
//! 1. [`compile_and_check`]: `compile`, and on its artifact `manifest`, `header`, `symbols` and `plain`.
//! 2. [`check_in_context`]: the start of `lifecycle`, then each check that needs a context, in the order of
//!    [`ALL`], then the end of `lifecycle`.
//!
//! The patterns of the job (`--check`, or the choice of a quick run) are applied twice: to whole checks by `Cases::wants`, to single cases by `Cases::perform`.

mod arrays;
mod artifact;
mod blocks;
pub(crate) mod bridge;
mod compile;
mod consume;
pub(crate) mod device_code;
mod differential;
mod errors;
mod leaks;
mod lifecycle;
mod opaque;
pub(crate) mod plain;
mod properties;
mod server;
mod settings;
mod store;

pub use compile::Compiled;

use crate::blocks::{Case, TestBlocks};
use crate::cover::Topic;
use crate::harness::calls::message_of;
use crate::harness::cases::{Cases, CheckResult, ensure, error};
use crate::harness::env::Env;
use crate::pattern::CheckPattern;
use futhark_manifest::Backend;
use futhark_safe::compile::Build;

/// A check.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name in records and patterns.
    pub name: &'static str,
    /// The page of the check, which `futhark-conformance explain NAME` prints.
    pub page: &'static str,
    /// The function of a check that needs a context; `None` for the others.
    pub function: Option<CheckFunction>,
    /// What it asks about: a run chooses programs for it that have each construct of these topics.
    pub topics: &'static [Topic],
}

/// The function of a check, for a loaded program whose context can be created.
pub type CheckFunction = fn(&Env<'_>, &mut Cases<'_>);

macro_rules! check {
    ($name:literal, $function:expr, [$($topic:ident),+]) => {
        Check {
            name: $name,
            page: include_str!(concat!("../../docs/checks/", $name, ".md")),
            function: $function,
            topics: &[$(Topic::$topic),+],
        }
    };
}

/// All checks, in the order in which they run.
pub const ALL: &[Check] = &[
    check!("compile", None, [Program, Name, Case, Operator]),
    check!(
        "manifest",
        None,
        [Program, Name, Entry, Array, Opaque, Tuning]
    ),
    check!("header", None, [Program, Name, Entry, Array, Opaque]),
    check!("symbols", None, [Program, Name, Array, Opaque]),
    check!("plain", None, [Program, Entry, Array]),
    check!("lifecycle", Some(lifecycle::check), [Program]),
    check!("arrays", Some(arrays::check), [Array]),
    check!("index", Some(arrays::index), [Array]),
    check!("raw", Some(arrays::raw), [Array]),
    check!("blocks", Some(blocks::check), [Case, Failure, Operator]),
    check!(
        "differential",
        Some(differential::check),
        [Entry, Array, Opaque, Operator]
    ),
    check!("server", Some(server::check), [Entry, Array, Opaque]),
    check!(
        "bridge",
        Some(bridge::check),
        [Entry, Array, Opaque, Consumption, Failure]
    ),
    check!("errors", Some(errors::check), [Entry, Array, Failure]),
    check!("consume", Some(consume::check), [Consumption]),
    check!("opaque", Some(opaque::check), [Opaque]),
    check!("store", Some(store::check), [Opaque]),
    check!("settings", Some(settings::check), [Program, Tuning]),
    check!(
        "leaks",
        Some(leaks::check),
        [Program, Entry, Array, Opaque, Failure]
    ),
    check!("device-code", Some(device_code::check), [Program, Operator]),
];

impl Check {
    /// The check with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Check> {
        ALL.iter().find(|check| check.name == name)
    }

    /// What the check proves, in one sentence: the first paragraph of the page.
    #[must_use]
    pub fn about(&self) -> String {
        let paragraph = self.page.split("\n\n").nth(1).unwrap_or_default();
        paragraph.replace('\n', " ")
    }

    /// The sections of the C API reference that the check proves: the bold names on the page.
    pub fn sections(&self) -> impl Iterator<Item = &'static str> {
        self.page.split("**").skip(1).step_by(2)
    }
}

/// Refuses a pattern that matches no check, with the names of all checks.
pub fn must_exist(patterns: &[CheckPattern]) -> Result<(), String> {
    let unknown = |pattern: &&CheckPattern| !ALL.iter().any(|check| pattern.may_match(check.name));
    let Some(pattern) = patterns.iter().find(unknown) else {
        return Ok(());
    };
    let names: Vec<&str> = ALL.iter().map(|check| check.name).collect();
    Err(format!(
        "no check matches {:?}; the checks are: {}",
        pattern.to_string(),
        names.join(", ")
    ))
}

/// Compiles the program, and runs the checks that need no context.
pub fn compile_and_check(build: &Build, blocks: &TestBlocks, cases: &mut Cases<'_>) -> Compiled {
    let compiled = compile::check(build, blocks, cases);
    if let Compiled::Yes(artifact) = &compiled {
        cases.run("manifest", "", || artifact::manifest(artifact));
        cases.run("header", "", || artifact::header(artifact));
        cases.run("symbols", "", || artifact::symbols(artifact));
        cases.run("symbols", "imports", || artifact::imports(artifact));
        if artifact.program().backend == Backend::C {
            plain::check(artifact, blocks, cases);
        }
    }
    compiled
}

/// Runs the checks that need a context: those of which a case may be selected. The start of `lifecycle` always runs
/// (`Cases::run_always`), because the others need it.
pub fn check_in_context(env: &Env<'_>, cases: &mut Cases<'_>) {
    let process = lifecycle::process_state(env);
    // Without a context, only the start error itself can be checked.
    if !start(env, cases) {
        skip_in_context(cases, "no context can be created");
        return;
    }
    for (name, check) in checks_in_context() {
        if cases.wants(name) {
            check(env, cases);
        }
    }
    // The emulated HIP device reports leaks when the shared context is dropped. Reported only if it fails.
    cases.run_quietly("lifecycle", "end", None, || {
        env.forget_context();
        process.is_still(env)
    });
}

/// Creates the context that all checks share, before the first of them. Returns whether that succeeded: a program
/// whose constants fail has no context, which its test blocks may expect.
fn start(env: &Env<'_>, cases: &mut Cases<'_>) -> bool {
    let mut started = false;
    cases.run_always("lifecycle", "start", || {
        let context = env.context.get(|| env.new_context());
        started = context.is_ok();
        context.map_or_else(|error| accept_start_error(env, &error), |_| Ok(()))
    });
    started
}

/// Accepts the error of a program that does not start, if all its expected errors match it.
fn accept_start_error(env: &Env<'_>, error: &futhark_safe::Error) -> CheckResult {
    let test_cases = env.blocks.cases.iter();
    let mut expected = test_cases.filter_map(Case::expected_error).peekable();
    if expected.peek().is_none() {
        error!("failed to create a context: {error}");
    }
    let message = message_of(error);
    ensure!(
        expected.all(|pattern| pattern.matches(&message)),
        "failed to create a context, with another message than the test blocks expect: {message}"
    );
    Ok(())
}

/// Reports the checks that need a context as skipped.
pub fn skip_in_context(cases: &mut Cases<'_>, reason: &str) {
    for (name, _) in checks_in_context() {
        if cases.wants(name) {
            cases.skip(name, "", reason);
        }
    }
}

/// The checks that need a context, in order.
fn checks_in_context() -> impl Iterator<Item = (&'static str, CheckFunction)> {
    ALL.iter()
        .filter_map(|check| Some((check.name, check.function?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The sections of the C API reference in the Futhark User's Guide that make promises about every
    /// program. Sections about single drivers (command queues, binaries, PTX) are not included.
    const SECTIONS: &[&str] = &[
        "Error codes",
        "Configuration",
        "Context",
        "Values",
        "Arrays of Primitive Values",
        "Opaque Values",
        "Records",
        "Sums",
        "Arrays of Non-Primitive Values",
        "Entry points",
        "GPU",
        "Multicore",
        "General guarantees",
        "Manifest",
    ];

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = ALL.iter().map(|check| check.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert_eq!(Check::named("arrays").unwrap().name, "arrays");
        assert!(Check::named("array").is_none());
    }

    #[test]
    fn each_check_has_its_own_page() {
        for check in ALL {
            let title = format!("# `{}`\n", check.name);
            assert!(check.page.starts_with(&title), "{}", check.name);
        }
    }

    #[test]
    fn every_section_is_proved_by_some_check() {
        let proved: BTreeSet<_> = ALL.iter().flat_map(Check::sections).collect();
        assert_eq!(proved, SECTIONS.iter().copied().collect());
    }

    #[test]
    fn every_page_belongs_to_a_check() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/checks");
        for page in std::fs::read_dir(folder).unwrap() {
            let path = page.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(Check::named(name).is_some(), "{}", path.display());
        }
    }
}
