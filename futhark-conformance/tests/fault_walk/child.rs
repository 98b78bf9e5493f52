//! The process in which the device fails.

use crate::outcome::Ending;
use crate::script::{Failure, use_everything};
use futhark_safe::compile::Build;
use futhark_safe::dynamic::{Context, Library};
use futhark_safe::{Backend, Config, ErrorKind};
use std::path::Path;

/// Set in a process that is to meet a failure: the backend, and where it writes its ending.
pub const BACKEND: &str = "FUTHARK_WALK_BACKEND";
pub const REPORT: &str = "FUTHARK_WALK_REPORT";

pub fn is_wanted() -> bool {
    std::env::var_os(REPORT).is_some()
}

pub fn run() {
    let backend: Backend = std::env::var(BACKEND)
        .expect("the backend is named")
        .parse()
        .expect("it is one");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fault_walk/walk.fut");
    let build = Build::new(source, backend)
        .out_dir(crate::kept().join("walk"))
        .fast(true);
    let library = Library::build(&build).expect("the program compiles");
    let report = std::env::var_os(REPORT).expect("the report is named");
    let ending = meet(&library);
    std::fs::write(report, ending.to_string()).expect("the report can be written");
}

/// Uses everything until something fails, and looks what is left.
fn meet(library: &Library) -> Ending {
    let (operation, failure, context) = match attempt(library, None) {
        Ok(()) => return Ending::Fine,
        Err(ended) => ended,
    };
    let error = match failure {
        Failure::Told(error) => error,
        Failure::Wrong(what) => return Ending::Wrong(operation.to_owned(), what),
    };
    let (kind, text) = (error.kind(), format!("{error}"));
    let lost = kind == ErrorKind::ContextLost;
    let next = if lost { None } else { context };
    let again = match attempt(library, next) {
        Ok(()) => String::new(),
        Err((operation, failure, _)) => format!("{operation}: {failure:?}"),
    };
    Ending::Told {
        operation: operation.to_owned(),
        kind: format!("{kind:?}"),
        text,
        again,
    }
}

type Ended = (&'static str, Failure, Option<Context>);

/// Makes a context, if there is none, uses it, and closes it.
fn attempt(library: &Library, context: Option<Context>) -> Result<(), Ended> {
    let mut operation = "context";
    let context = match context {
        Some(context) => context,
        // The second device, if there is one: then the calling thread's is another.
        None => {
            let several =
                std::env::var("FUTHARK_EMULATED").is_ok_and(|all| all.contains("devices="));
            let config = Config::new().profiling(true);
            let config = if several { config.device("#1") } else { config };
            Context::new(library, &config).map_err(|error| (operation, error.into(), None))?
        }
    };
    match use_everything(&context, &mut operation) {
        Ok(()) => {}
        Err(failure) => return Err((operation, failure, Some(context))),
    }
    context
        .close()
        .map_err(|(context, error)| ("close", error.into(), Some(context)))
}
