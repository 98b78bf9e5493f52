//! Compilers, backends and libraries for the tests of the dynamic interface.
//!
//! Without a Futhark compiler, or without OpenCL, the tests that need it pass and one line on
//! stderr names the missing requirement. With `FUTHARK_TESTS_NEED_COMPILERS=1` they fail.
//!
//! For other targets, the tests are a part of `futhark-safe-typed-tests` (`tests/linked`), whose build script compiles the
//! programs; there, [`linked`] takes the place of the compilers.

#![allow(dead_code, reason = "each test binary uses some of it")]

#[cfg(linked_programs)]
mod linked;

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

#[cfg(not(linked_programs))]
pub use futhark_safe::compile::{Build, Compiler};
use futhark_safe::dynamic::{Arg, Context, Library, Opaque, Scalar, Value};
use futhark_safe::{Backend, Config, Element, Error, ErrorKind};
#[cfg(linked_programs)]
pub use linked::{Compiler, build, load};

/// If set, tests use every installed compiler on every backend.
const FULL: &str = "FUTHARK_TESTS_FULL";

pub fn full() -> bool {
    std::env::var_os(FULL).is_some()
}

#[cfg(linked_programs)]
fn installed() -> Vec<Compiler> {
    vec![Compiler]
}

/// The installed compilers, oldest first; none if these tests are skipped.
#[cfg(not(linked_programs))]
fn installed() -> Vec<Compiler> {
    static ALL: LazyLock<Vec<Compiler>> = LazyLock::new(|| {
        let all = Compiler::all();
        if all.is_empty() {
            let missing = Compiler::find().expect_err("there is none");
            skip("tests that run Futhark programs", &missing);
        }
        all
    });
    ALL.clone()
}

/// The newest compiler; `None` if these tests are skipped.
pub fn newest() -> Option<Compiler> {
    installed().pop()
}

/// The newest compiler, or every one with [`FULL`].
pub fn compilers() -> Vec<Compiler> {
    if full() {
        installed()
    } else {
        newest().into_iter().collect()
    }
}

/// Every backend with the newest compiler, and `c` with the older ones, since few of the promises
/// that these tests check depend on both. With [`FULL`] every pair.
fn pairs() -> Vec<(Compiler, Backend)> {
    let newest = newest();
    let of = |compiler: Compiler| {
        let all = full() || Some(compiler.program()) == newest.as_ref().map(Compiler::program);
        let mut backends = backends();
        backends.retain(|backend| all || *backend == Backend::C);
        backends
            .into_iter()
            .map(move |backend| (compiler.clone(), backend))
    };
    installed().into_iter().flat_map(of).collect()
}

/// Whether valgrind or LeakSanitizer finds leaks, in `ci/sanitize`: then few repetitions are enough,
/// and no test uses OpenCL, whose runtime has leaks.
pub fn leaks_are_counted() -> bool {
    std::env::var_os("FUTHARK_LEAKS").is_some_and(|value| value == "counted")
}

/// The backends that this machine can run.
pub fn backends() -> Vec<Backend> {
    let host = [Backend::C, Backend::Multicore];
    let device = (!cfg!(linked_programs) && !leaks_are_counted() && opencl_works())
        .then_some(Backend::OpenCl);
    host.into_iter().chain(device).collect()
}

fn opencl_works() -> bool {
    static WORKS: LazyLock<bool> = LazyLock::new(|| {
        let Some(compiler) = newest() else {
            return false;
        };
        let _device = lock_device();
        let start = || -> Result<Context, Error> {
            let build = build(&program("failures.fut"), Backend::OpenCl, &compiler);
            Context::new(&load(&build)?, &Config::new())
        };
        start()
            .inspect_err(|error| skip("tests on OpenCL", error))
            .is_ok()
    });
    *WORKS
}

/// Reports a missing requirement on stderr, directly, since the test harness captures `eprintln!`.
fn skip(tests: &str, missing: &dyn std::error::Error) {
    let needed = std::env::var_os("FUTHARK_TESTS_NEED_COMPILERS").is_some();
    assert!(!needed, "{missing}");
    let _ = writeln!(std::io::stderr(), "skipped {tests}: {missing}");
}

/// Oclgrind cannot be used by two contexts of a process at a time, not even from plain C
/// (see SAFETY.md).
static DEVICE: Mutex<()> = Mutex::new(());

/// The lock that a test holds while it has contexts of OpenCL.
pub fn lock_device() -> MutexGuard<'static, ()> {
    DEVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a check of `failures.fut` for each of the [`pairs`].
pub fn each(check: impl FnMut(&Library)) {
    each_of(&program("failures.fut"), check);
}

/// Runs a check of `source` for each of the [`pairs`].
pub fn each_of(source: &Path, mut check: impl FnMut(&Library)) {
    for (compiler, backend) in pairs() {
        eprintln!("{} {backend}", compiler.version());
        let library = library_of(source, backend, &compiler);
        let _device = (backend == Backend::OpenCl).then(lock_device);
        check(&library);
    }
}

/// Runs a check of `failures.fut` on OpenCL, for each of the [`compilers`].
pub fn each_on_opencl(check: impl Fn(&Library)) {
    for compiler in compilers()
        .iter()
        .filter(|_| backends().contains(&Backend::OpenCl))
    {
        eprintln!("{}", compiler.version());
        let library = library("failures.fut", Backend::OpenCl, compiler);
        let _device = lock_device();
        check(&library);
    }
}

/// A test program of this folder.
pub fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(name)
}

/// A build for tests: not optimised.
#[cfg(not(linked_programs))]
pub fn build(source: &Path, backend: Backend, compiler: &Compiler) -> Build {
    Build::new(source, backend)
        .compiler(compiler.clone())
        .out_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join("futhark"))
        .fast(true)
}

#[cfg(not(linked_programs))]
fn load(build: &Build) -> Result<Library, Error> {
    Library::build(build)
}

/// Builds and loads a test program of this folder.
pub fn library(name: &str, backend: Backend, compiler: &Compiler) -> Library {
    library_of(&program(name), backend, compiler)
}

/// Builds and loads a program, once for all tests of this binary.
pub fn library_of(source: &Path, backend: Backend, compiler: &Compiler) -> Library {
    type Key = (PathBuf, Backend, PathBuf);
    static LOADED: LazyLock<Mutex<HashMap<Key, Arc<OnceLock<Library>>>>> =
        LazyLock::new(Mutex::default);
    let key = (source.to_owned(), backend, compiler.program().to_owned());
    // The lock is not held while compilers run.
    let once = {
        let mut loaded = LOADED.lock().expect("no thread panics with this lock");
        Arc::clone(loaded.entry(key).or_default())
    };
    once.get_or_init(|| {
        load(&build(source, backend, compiler))
            .unwrap_or_else(|error| panic!("{} for {backend}: {error}", source.display()))
    })
    .clone()
}

/// A context, with four threads on multicore.
pub fn start(library: &Library) -> Context {
    let config = match library.backend() {
        Backend::Multicore => Config::new().num_threads(4),
        _ => Config::new(),
    };
    Context::new(library, &config).unwrap()
}

pub fn array(ctx: &Context, data: &[i64]) -> Value {
    ctx.array(data).unwrap().into()
}

/// The elements of an array.
pub fn read<T: Element>(value: &Value) -> Result<Vec<T>, Error> {
    match value {
        Value::Array(array) => array.to_vec(),
        other => panic!("expected an array, got {other:?}"),
    }
}

pub fn opaque(value: Value) -> Opaque {
    match value {
        Value::Opaque(opaque) => opaque,
        other => panic!("expected an opaque value, got {other:?}"),
    }
}

/// Calls an entry point that has one result.
pub fn call_one(ctx: &Context, entry: &str, args: Vec<Arg<'_>>) -> Result<Value, Error> {
    Ok(ctx.call(entry, args)?.remove(0))
}

/// Expects an error of this kind, with these words.
#[track_caller]
pub fn says<T>(result: Result<T, Error>, kind: ErrorKind, words: &str) {
    let error = result.map(drop).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

/// Arguments that are scalars.
pub fn scalars(values: &[i64]) -> Vec<Arg<'static>> {
    values.iter().map(|&v| Arg::Consume(v.into())).collect()
}

/// Runs a test again, in another process that `program` starts. Fails instead of blocking forever.
pub fn run_again(mut program: Command, test: &str) {
    let program = program.args(["--exact", test, "--nocapture"]);
    let mut child = program.stdout(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            panic!("{program:?}: the process is blocked");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(status.success(), "{program:?}: {status}");
}

/// Calls `replicate_top`, which needs memory and a kernel.
///
/// # Panics
///
/// If the result is wrong.
pub fn works(context: &Context) -> Result<(), Error> {
    let results = context.call("replicate_top", scalars(&[5]))?;
    assert!(matches!(results[0], Value::Scalar(Scalar::I64(5))));
    Ok(())
}

/// A path for a file that does not exist.
pub fn fresh(name: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    for file in [sum(&file), file.clone()] {
        let _ = std::fs::remove_file(file);
    }
    file
}

/// The file with the checksum of a file of device code.
pub fn sum(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".sum");
    name.into()
}

/// A FIFO that no process writes to.
pub fn fifo(name: &str) -> PathBuf {
    let file = fresh(name);
    let made = Command::new("mkfifo").arg(&file).status();
    assert!(made.unwrap().success());
    file
}

/// A writer for `Config::log_to`, and what it received.
pub fn log() -> (Log, Log) {
    let log = Log::default();
    (log.clone(), log)
}

#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8(bytes.clone()).unwrap()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
