//! The check `compile`: the program compiles, or fails to compile as its test blocks say.

use crate::blocks::{ErrorPattern, TestBlocks};
use crate::harness::cases::{Cases, CheckResult, Stop, ensure, mismatch};
use crate::record::Cause;
use futhark_safe::compile::{Artifact, Build, Error, ErrorKind};

/// The result of compiling a program.
pub enum Compiled {
    /// A library.
    Yes(Box<Artifact>),
    /// A compile error, and the test blocks expect one. The case has compared its text with theirs.
    NoAsExpected,
    /// An unexpected compile error.
    No,
}

/// Compiles the program, and compares warnings and errors with the test blocks.
pub fn check(build: &Build, blocks: &TestBlocks, cases: &mut Cases<'_>) -> Compiled {
    let mut compiled = Compiled::No;
    let mut error_result = None;
    cases.run_always("compile", "", || {
        match (build.run(), &blocks.compile_error) {
            (Ok(artifact), None) => {
                let warnings = artifact.warnings().to_owned();
                compiled = Compiled::Yes(Box::new(artifact));
                check_warnings(blocks, &warnings)
            }
            (Ok(_), Some(expected)) => {
                mismatch!("the program compiles, but the test block expects {expected}")
            }
            (Err(error), Some(expected)) if error.kind() == ErrorKind::Program => {
                compiled = Compiled::NoAsExpected;
                let result = expected_error(expected, &error);
                error_result = Some(result.clone());
                result
            }
            (Err(error), _) => Err(failure(&error)),
        }
    });
    // Also reported as a case of `blocks`, because the test block states this error.
    if let Some(result) = error_result {
        cases.run("blocks", "compile error", || result);
    }
    compiled
}

/// Matches the expected error with the compiler's own text, which follows the first line of the
/// message.
fn expected_error(expected: &ErrorPattern, error: &Error) -> CheckResult {
    let message = format!("{error:#}");
    let compiler_output = message.split_once('\n').map_or("", |(_, output)| output);
    if expected.matches(compiler_output) {
        return Ok(());
    }
    mismatch!("expected {expected}, got:\n{message}")
}

/// Classifies a build error. A crash of the compiler is not an error of the program.
fn failure(error: &Error) -> Stop {
    let message = format!("{error:#}");
    // The compiler reports a limitation, mostly of one backend.
    if message.contains("Known compiler limitation") {
        return Stop::skip(format!("a known limitation of the compiler\n{message}"));
    }
    let cause = match error.kind() {
        ErrorKind::CompilerFailed => Cause::Crash,
        // Assertions in the C code compare the manifest with the header.
        ErrorKind::Manifest | ErrorKind::Layout | ErrorKind::C => Cause::Mismatch,
        _ => Cause::Error,
    };
    Stop::Fail { cause, message }
}

fn check_warnings(blocks: &TestBlocks, warnings: &str) -> CheckResult {
    let given = match warnings {
        "" => "none",
        warnings => warnings,
    };
    for pattern in &blocks.warnings {
        ensure!(
            pattern.matches(warnings),
            "expected a warning with {pattern}, got: {given}"
        );
    }
    Ok(())
}
