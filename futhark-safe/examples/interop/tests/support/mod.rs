//! Runs the binaries.

use std::io::Write as _;
use std::process::Command;

/// If set, as in the gate, a test that cannot run fails instead of being skipped.
const INSIST: &str = "FUTHARK_TESTS_NEED_COMPILERS";

/// The value, or `None` and a message on the standard error: the test is skipped.
///
/// # Panics
/// If tests must not be skipped.
pub fn or_skip<T>(found: Result<T, String>) -> Option<T> {
    found
        .map_err(|why| {
            assert!(std::env::var_os(INSIST).is_none(), "{why}");
            let thread = std::thread::current();
            let test = thread.name().unwrap_or("a test");
            // Written directly: the test harness hides the output of `eprintln!`.
            let _ = writeln!(std::io::stderr(), "skipped {test}: {why}");
        })
        .ok()
}

/// What the command prints on its standard output, if it succeeds, or otherwise on its standard error.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().unwrap();
    let [text, errors] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    match output.status.success() {
        true => Ok(text),
        false => Err(format!("{}: {text}{errors}", output.status)),
    }
}
