//! The checks `compile` and `manifest`: what can be said before anything runs;
//! those of the generated C are in [`library`].

use super::{library, plain};
use crate::blocks::{ErrorPattern, TestBlocks};
use crate::child::steps::{StepResult, Steps, Stop};
use crate::record::Cause;
use futhark_manifest::{Backend, Manifest};
use futhark_safe::compile::{Artifact, Build, Error, ErrorKind};

/// What became of the source.
pub enum Compiled {
    /// A library.
    Yes(Box<Artifact>),
    /// Nothing, as the test blocks say.
    NoAsExpected,
    /// Nothing.
    No,
}

/// Compiles the program and checks what comes out.
pub fn build(build: &Build, blocks: &TestBlocks, steps: &mut Steps<'_>) -> Compiled {
    let mut compiled = Compiled::No;
    let mut refusal = None;
    steps.run_always("compile", "", || {
        match (build.run(), &blocks.compile_error) {
            (Ok(artifact), None) => {
                let warnings = artifact.warnings().to_owned();
                compiled = Compiled::Yes(Box::new(artifact));
                check_warnings(blocks, &warnings)
            }
            (Ok(_), Some(expected)) => Err(Stop::mismatch(format!(
                "the compiler accepts it, but the test block expects {expected}"
            ))),
            (Err(error), Some(expected)) if error.kind() == ErrorKind::Program => {
                compiled = Compiled::NoAsExpected;
                let verdict = expected_error(expected, &error);
                refusal = Some(verdict.clone());
                verdict
            }
            (Err(error), _) => Err(failure(&error)),
        }
    });
    // It is what the block says, so it counts where only the blocks are asked for.
    if let Some(verdict) = refusal {
        steps.run("blocks", "compile error", || verdict);
    }
    if let Compiled::Yes(artifact) = &compiled {
        steps.run("manifest", "", || manifest(artifact));
        steps.run("header", "", || library::header(artifact));
        steps.run("symbols", "", || library::symbols(artifact));
        if artifact.program().backend == Backend::C {
            steps.run("plain", "", || plain::check(artifact, blocks));
        }
    }
    compiled
}

/// The first line of the message is ours, the compiler's own text begins behind it.
fn expected_error(expected: &ErrorPattern, error: &Error) -> StepResult {
    let message = error.to_string();
    let said = message.split_once('\n').map_or("", |(_, said)| said);
    if expected.matches(said) {
        return Ok(());
    }
    Err(Stop::mismatch(format!(
        "expected {expected}, got:\n{message}"
    )))
}

/// A compiler that dies on a program is no error of the program.
fn failure(error: &Error) -> Stop {
    let message = error.to_string();
    // A limit that the compiler knows of, mostly of one backend, and says so.
    if message.contains("Known compiler limitation") {
        return Stop::skip(format!(
            "a known limitation of the compiler: {}",
            limitation(&message)
        ));
    }
    let cause = match error.kind() {
        ErrorKind::CompilerFailed => Cause::Crash,
        // The C compiler compares our reading of the manifest with the header.
        ErrorKind::Manifest | ErrorKind::Layout | ErrorKind::C => Cause::Mismatch,
        _ => Cause::Error,
    };
    Stop::Fail { cause, message }
}

/// What the compiler says behind its standing phrases.
fn limitation(message: &str) -> &str {
    let standing = [
        "Known compiler limitation",
        "Revise your program",
        "Futhark compiler itself failed",
    ];
    let mut lines = message.lines().map(str::trim);
    lines
        .find(|line| !line.is_empty() && !standing.iter().any(|phrase| line.contains(phrase)))
        .unwrap_or(message)
}

fn check_warnings(blocks: &TestBlocks, warnings: &str) -> StepResult {
    match blocks
        .warnings
        .iter()
        .find(|pattern| !pattern.matches(warnings))
    {
        Some(pattern) => {
            let given = if warnings.is_empty() {
                "none"
            } else {
                warnings
            };
            Err(Stop::mismatch(format!(
                "expected a warning: {pattern}; warnings given: {given}"
            )))
        }
        None => Ok(()),
    }
}

/// That the C compiler took our file proves the types; what remains is that
/// nothing in the manifest is unknown or lost, at any depth.
fn manifest(artifact: &Artifact) -> StepResult {
    let wrong = |error: &dyn std::fmt::Display| Stop::mismatch(error.to_string());
    let manifest = Manifest::parse(artifact.manifest()).map_err(|error| wrong(&error))?;
    if let Some(finding) = manifest.check().first() {
        return Err(wrong(finding));
    }
    if let Some(warning) = manifest.warnings().first() {
        return Err(Stop::mismatch(format!(
            "something in the manifest is unknown: {warning}"
        )));
    }
    let again = Manifest::from_json(manifest.to_json()).map_err(|error| wrong(&error))?;
    if again != manifest {
        return Err(Stop::mismatch(
            "the manifest is another one after it was written and read",
        ));
    }
    let program = manifest.resolve().map_err(|error| wrong(&error))?;
    if &program != artifact.program() {
        return Err(Stop::mismatch(
            "the library carries another manifest than the compiler wrote",
        ));
    }
    let mut names: Vec<&str> = program.functions().map(|function| function.name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    if names.len() < all {
        return Err(Stop::mismatch(format!(
            "{} functions are listed twice",
            all - names.len()
        )));
    }
    if artifact
        .functions()
        .names()
        .iter()
        .any(|name| names.binary_search(&name.as_str()).is_err())
    {
        return Err(Stop::mismatch(
            "the library's table has a function that the manifest does not list",
        ));
    }
    Ok(())
}
