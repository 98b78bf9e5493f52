//! Compilers and devices that a test needs.

use futhark_safe::compile::Compiler;
use std::io::Write as _;
use std::path::PathBuf;

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

/// Returns the value. Without a value, the test ends: [`or_skip`] has printed the reason.
#[allow(unused_macros, reason = "other test programs do not use it")]
macro_rules! needed {
    ($found:expr) => {
        match $found {
            Some(found) => found,
            None => return,
        }
    };
}

/// The newest Futhark compiler.
pub fn compiler() -> Option<Compiler> {
    or_skip(
        Compiler::all().pop().ok_or_else(|| {
            "no Futhark compiler; run ci/setup and source .toolchain/env.sh".to_owned()
        }),
    )
}

/// The newest Futhark compiler, or every one with `FUTHARK_TESTS_FULL`.
#[allow(dead_code, reason = "only tests of the host backends use it")]
pub fn compilers() -> Vec<Compiler> {
    let newest = compiler().into_iter().collect();
    match std::env::var_os("FUTHARK_TESTS_FULL") {
        Some(_) => Compiler::all(),
        None => newest,
    }
}

/// `None`, and a message, without `FUTHARK_TESTS_FULL`: for tests that take long.
#[allow(dead_code, reason = "other test programs do not use it")]
pub fn full() -> Option<()> {
    let full = std::env::var_os("FUTHARK_TESTS_FULL").map(drop);
    if full.is_none() {
        println!("skipped: FUTHARK_TESTS_FULL is not set");
    }
    full
}

/// The path of the newest Futhark compiler, absolute.
#[allow(dead_code, reason = "only tests that run commands use it")]
pub fn compiler_path() -> Option<PathBuf> {
    let path = compiler()?.program().to_owned();
    Some(path.canonicalize().unwrap_or(path))
}
