//! The process in which the device fails.

use crate::outcome::Ending;
use crate::script::{Failure, use_everything, use_host_memory};
use crate::support;
use futhark_safe::compile::{Artifact, Build, Compiler};
use futhark_safe::dynamic::{Context, Library};
use futhark_safe::{Backend, Config, ErrorKind};
use std::path::Path;

/// Set in a process on a failing device: the library, and the file for the outcome.
pub const LIBRARY: &str = "FUTHARK_WALK_LIBRARY";
pub const REPORT: &str = "FUTHARK_WALK_REPORT";

pub fn is_wanted() -> bool {
    std::env::var_os(REPORT).is_some()
}

/// The program, compiled or found compiled.
pub fn build(backend: Backend, compiler: Compiler) -> Artifact {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fault_walk/walk.fut");
    let build = Build::new(source, backend)
        .compiler(compiler)
        .out_dir(support::kept().join("walk"))
        .flag("-DFUT_FAIL_ALLOCATIONS")
        .fast(true);
    build.run().expect("the program compiles")
}

pub fn run() {
    let library = std::env::var_os(LIBRARY).expect("the library is named");
    // SAFETY: the parent process built it from a program of this test.
    let library = unsafe { Library::open(library) }.expect("the library can be loaded");
    let report = std::env::var_os(REPORT).expect("the report is named");
    let ending = meet(&library);
    let text = serde_json::to_string(&ending).expect("it is plain data");
    std::fs::write(report, text).expect("the report can be written");
}

/// Runs the script until an operation fails, then once more.
fn meet(library: &Library) -> Ending {
    let (operation, failure, context) = match attempt(library, None) {
        Ok(()) => return Ending::Fine,
        Err(ended) => ended,
    };
    let error = match failure {
        Failure::Error(error) => error,
        Failure::Wrong(what) => return Ending::Wrong(operation.to_owned(), what),
    };
    let (kind, text) = (error.kind(), format!("{error}"));
    let lost = kind == ErrorKind::ContextLost;
    let next = if lost { None } else { context };
    let again = match attempt(library, next) {
        Ok(()) => String::new(),
        Err((operation, failure, _)) => format!("{operation}: {failure:?}"),
    };
    Ending::Error {
        operation: operation.to_owned(),
        kind: format!("{kind:?}"),
        text,
        again,
    }
}

type Ended = (&'static str, Failure, Option<Context>);

/// Runs the script in the context, or in a new one, and closes it.
fn attempt(library: &Library, context: Option<Context>) -> Result<(), Ended> {
    let mut operation = "context";
    let context = match context {
        Some(context) => context,
        // The second device, if there is one, because the first is the calling thread's.
        None => {
            let several =
                std::env::var("FUTHARK_EMULATED").is_ok_and(|all| all.contains("devices="));
            let config = Config::new().profiling(true);
            let config = match library.backend() {
                Backend::Multicore => config.num_threads(3),
                _ if several => config.device("#1"),
                _ => config,
            };
            Context::new(library, &config).map_err(|error| (operation, error.into(), None))?
        }
    };
    let mut used = use_everything(&context, &mut operation);
    if !library.backend().is_gpu() {
        used = used.and_then(|()| use_host_memory(&context, &mut operation));
    }
    if let Err(failure) = used {
        return Err((operation, failure, Some(context)));
    }
    context
        .close()
        .map_err(|(context, error)| ("close", error.into(), Some(context)))
}
