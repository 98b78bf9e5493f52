//! Whether tests that need a Futhark compiler can run.

use std::io::Write as _;

use futhark_sys::compile::Compiler;

/// Whether no Futhark compiler is installed: then a line on stderr says that the test is skipped.
/// With `FUTHARK_TESTS_NEED_COMPILERS` the test fails instead.
pub fn no_compiler() -> bool {
    let Err(error) = Compiler::find() else {
        return false;
    };
    let needed = std::env::var_os("FUTHARK_TESTS_NEED_COMPILERS").is_some();
    assert!(!needed, "{error}");
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // Written directly, because the test harness captures `eprintln!`.
    let _ = writeln!(std::io::stderr(), "skipped {test}: {error}");
    true
}
