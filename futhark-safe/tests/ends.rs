//! What would end or block the process outside of a call. `futhark-sys/docs/process-ends.md` lists the
//! tests of everything else.

use std::process::Command;

use futhark_safe::dynamic::{Arg, Context, Value};
use futhark_safe::{Backend, Config, ErrorKind};

use super::support::{self, each, each_on_opencl};

/// Set in a child process: what the test does there.
const CHILD: &str = "FUTHARK_TEST_ENDS";

fn role() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// Misuse 46. The loader of the system would block until another process writes to the FIFO.
#[test]
fn a_fifo_as_a_driver_library_is_an_error() {
    let Some(compiler) = support::newest() else {
        return;
    };
    let drivers = [
        (Backend::OpenCl, "FUTHARK_LIBOPENCL"),
        (Backend::Cuda, "FUTHARK_LIBCUDA"),
        (Backend::Hip, "FUTHARK_LIBAMDHIP64"),
    ];
    let role = role();
    if let Some((backend, variable)) =
        (drivers.into_iter()).find(|(backend, _)| role.as_deref() == Some(backend.as_str()))
    {
        let library = support::library("failures.fut", backend, &compiler);
        let error = Context::new(&library, &Config::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Load, "{error}");
        for part in [variable, "not a regular file"] {
            assert!(error.to_string().contains(part), "{error}");
        }
        return;
    }
    let fifo = support::fifo("ends/driver.so");
    for (backend, variable) in drivers {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.env(variable, &fifo).env(CHILD, backend.as_str());
        support::run_again(program, "ends::a_fifo_as_a_driver_library_is_an_error");
    }
}

/// The limit on the memory of the process leaves no space for the stacks of so many threads.
#[test]
fn more_threads_than_the_system_permits_are_a_start_error() {
    if role().is_none() {
        let mut program = Command::new("sh");
        program.args(["-c", "ulimit -v 3000000 && exec \"$0\" \"$@\""]);
        program.arg(std::env::current_exe().unwrap());
        program.env(CHILD, "threads");
        let test = "ends::more_threads_than_the_system_permits_are_a_start_error";
        return support::run_again(program, test);
    }
    for compiler in support::compilers() {
        let library = support::library("failures.fut", Backend::Multicore, &compiler);
        for _ in 0..3 {
            let many = Config::new().num_threads(4096);
            let error = Context::new(&library, &many).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Start, "{error}");
            let text = error.to_string();
            assert!(text.contains("Failed to create worker"), "{text}");
            // The threads that were created have ended, so there is memory for others.
            let few = Context::new(&library, &Config::new().num_threads(4)).unwrap();
            support::works(&few).unwrap();
        }
    }
}

#[test]
fn an_invalid_build_option_is_a_start_error() {
    each_on_opencl(|library| {
        // SAFETY: no compiler knows it.
        let wrong = unsafe { Config::new().build_option("-no-such-option=x") };
        let error = Context::new(library, &wrong).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Start, "{error}");
        let context = Context::new(library, &Config::new()).unwrap();
        context.array(&[1i64, 2]).unwrap();
    });
}

/// OpenCL's runtime would end the process if an event is not complete.
#[test]
fn a_report_waits_for_pending_work() {
    each(|library| {
        let context = Context::new(library, &Config::new().profiling(true)).unwrap();
        let [xs, is] =
            [[10i64, 20, 30], [2, 0, 1]].map(|data| context.array(&data).unwrap().into());
        for _ in 0..3 {
            let arguments = vec![Arg::Borrow(&xs), Arg::Borrow(&is)];
            let pending: Vec<Value> = context.call("gather", arguments).unwrap();
            assert!(context.report().unwrap().contains("events"));
            drop(pending);
        }
    });
}
