//! Runs the binaries.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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

/// A process that hangs, for example in a driver, must not block the tests.
const LIMIT: Duration = Duration::from_secs(120);

/// What the command prints on its standard output, if it succeeds in time, or otherwise on its standard error.
pub fn run(command: &mut Command) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The output is shorter than the buffer of a pipe, so the process never waits for a reader.
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{command:?} does not end within {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let (mut output, mut errors) = (String::new(), String::new());
    child.stdout.unwrap().read_to_string(&mut output).unwrap();
    child.stderr.unwrap().read_to_string(&mut errors).unwrap();
    if status.success() {
        Ok(output)
    } else {
        Err(format!("{status}: {output}{errors}"))
    }
}
