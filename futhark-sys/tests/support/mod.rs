//! Programs of tests, and contexts of their tables.

#![allow(dead_code, reason = "each test binary uses some of it")]

use std::ffi::CStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use futhark_manifest::Backend;
use futhark_sys::compile::{Build, Compiler};
use futhark_sys::table::{Context, FUT_LOST, Setting, Table};

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

/// The newest compiler, or every one with `FUTHARK_TESTS_FULL`.
pub fn compilers() -> Vec<Compiler> {
    let all = Compiler::all();
    let newest = all.len().saturating_sub(1);
    let first = if is_full() { 0 } else { newest };
    all[first..].to_vec()
}

/// Whether tests that take long run.
pub fn is_full() -> bool {
    std::env::var_os("FUTHARK_TESTS_FULL").is_some()
}

pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A program in a folder of its own.
pub struct Source {
    pub folder: PathBuf,
    pub file: PathBuf,
}

impl Source {
    pub fn new(folder: &Path, program: &str) -> Source {
        let file = folder.join("program.fut");
        std::fs::write(&file, program).unwrap();
        Source {
            folder: folder.to_owned(),
            file,
        }
    }

    /// `None` if the test is skipped, see [`no_compiler`].
    pub fn to_compile(name: &str, program: &str) -> Option<Source> {
        (!no_compiler()).then(|| Source::new(&folder(name), program))
    }

    /// A build in the same folder, not optimised.
    pub fn build(&self, backend: Backend) -> Build {
        let build = Build::new(&self.file, backend);
        build.out_dir(&self.folder).fast(true)
    }
}

/// Creates a context, and returns the status.
pub fn context(table: &Table, settings: &[Setting]) -> (*mut Context, u32) {
    let mut status = FUT_LOST as i32;
    let (first, n) = (settings.as_ptr(), settings.len() as u32);
    // SAFETY: the table is valid, and the callers' settings live until the context is freed.
    let context = unsafe { table.raw().context_new.unwrap()(first, n, &raw mut status) };
    (context, status as u32)
}

pub fn free(table: &Table, context: *mut Context) {
    // SAFETY: the callers pass a live context without values, and do not use it again.
    unsafe { table.raw().context_free.unwrap()(context) };
}

/// The text of ours about the last failure.
pub fn failure(table: &Table, context: *mut Context) -> String {
    // SAFETY: the callers pass a live context whose last call failed.
    let failure = unsafe { table.raw().failure.unwrap()(context, 0) };
    // SAFETY: it is valid until the next call.
    let words = unsafe { (*failure).words };
    // SAFETY: as above; the failures of these tests have words.
    let words = unsafe { CStr::from_ptr(words) };
    words.to_str().unwrap().to_owned()
}
