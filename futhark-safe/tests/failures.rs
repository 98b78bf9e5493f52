//! Failures of a program are errors and never end the process, on any backend and thread.

use futhark_safe::dynamic::{Arg, Context, Value};
use futhark_safe::{Backend, Config, ErrorKind};

use super::support::{self, array, call_one, each, each_on_opencl, read, says, scalars, start};

/// How often to lose a context: making one takes a fifth of a second on OpenCL.
fn runs(backend: Backend) -> usize {
    if backend == Backend::OpenCl { 5 } else { 20 }
}

#[test]
fn impossible_sizes_are_errors_and_the_context_survives() {
    each(|library| {
        let context = start(library);
        for (size, kind) in [
            (-5, ErrorKind::Program),
            (1 << 46, ErrorKind::OutOfMemory),
            (1 << 61, ErrorKind::Program),
            (1 << 62, ErrorKind::Program),
            (i64::MAX, ErrorKind::Program),
        ] {
            for _ in 0..100 {
                let error = context.call("array_top", scalars(&[size])).unwrap_err();
                assert_eq!(error.kind(), kind, "{size}: {error}");
            }
        }
        support::works(&context).unwrap();
    });
}

#[test]
fn min_divided_by_minus_one_loses_the_context() {
    each(|library| {
        for entry in ["divide_top", "modulo_top"] {
            for _ in 0..runs(library.backend()) {
                let mut one = start(library);
                let error = one.call(entry, scalars(&[i64::MIN, -1])).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::ContextLost, "{error}");
                // Later calls report the loss.
                let again = one.call("divide_top", scalars(&[4, 2])).unwrap_err();
                assert_eq!(again.kind(), ErrorKind::ContextLost, "{again}");
                assert!(
                    again.to_string().contains("lost in an earlier call"),
                    "{again}"
                );
                for _ in 0..2 {
                    let (same, error) = one.close().unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::ContextLost, "{error}");
                    one = same;
                }
            }
        }
        support::works(&start(library)).unwrap();
    });
}

/// On GPUs a failure is detected at the next wait. Every read of a pending result reports it.
#[test]
fn a_late_failure_invalidates_pending_results_only() {
    each(|library| {
        let context = start(library);
        let gather = |xs: &Value, is: &Value| {
            call_one(&context, "gather", vec![Arg::Borrow(xs), Arg::Borrow(is)])
        };
        let read = read::<i64>;
        let xs = array(&context, &[10, 20, 30]);
        let (good, bad) = (array(&context, &[2, 0]), array(&context, &[1, 3]));
        let early = gather(&xs, &good).unwrap();
        assert_eq!(read(&early).unwrap(), [30, 10]);
        let failed = gather(&xs, &bad);
        if library.backend() != Backend::OpenCl {
            assert_eq!(failed.unwrap_err().kind(), ErrorKind::Program);
            return;
        }
        let failed = failed.expect("kernels fail after the call has returned");
        let after = gather(&xs, &good).unwrap();
        for value in [&failed, &after, &failed] {
            says(read(value), ErrorKind::Program, "Index [3] out of bounds");
        }
        assert!(context.call("total", vec![Arg::Borrow(&failed)]).is_err());
        // Results that were complete before, and later ones, are valid.
        assert_eq!(read(&early).unwrap(), [30, 10]);
        assert_eq!(read(&xs).unwrap(), [10, 20, 30]);
        assert_eq!(read(&gather(&xs, &good).unwrap()).unwrap(), [30, 10]);
        context.sync().unwrap();
    });
}

/// Other contexts still work.
#[test]
fn a_context_that_cannot_start_reports_the_text_of_the_runtime() {
    each_on_opencl(|library| {
        for wrong in [
            Config::new().device("no such device"),
            Config::new().platform("no such platform"),
            Config::new().device("#9"),
        ] {
            let words = "Could not find acceptable OpenCL device";
            says(Context::new(library, &wrong), ErrorKind::Start, words);
        }
        support::works(&Context::new(library, &Config::new()).unwrap()).unwrap();
    });
}

/// Set in the child process that uses PoCL.
const ON_POCL: &str = "FUTHARK_TEST_ON_POCL";

/// Runs in a child process, since a process cannot change the platforms that it has loaded.
#[test]
fn a_known_bad_device_is_rejected() {
    if std::env::var_os(ON_POCL).is_some() {
        return pocl_is_rejected();
    }
    if !support::backends().contains(&Backend::OpenCl) {
        return;
    }
    let toolchain = std::env::var_os("FUTHARK_TOOLCHAIN").unwrap_or_default();
    let pocl = std::path::Path::new(&toolchain).join("pocl/lib/host/libpocl.so");
    if !pocl.is_file() {
        eprintln!("skipped: the toolchain has no PoCL");
        return;
    }
    let cache = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pocl-kernels");
    std::fs::create_dir_all(&cache).unwrap();
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    program.env(ON_POCL, "1").env("OCL_ICD_VENDORS", pocl);
    program.env("POCL_CACHE_DIR", cache);
    support::run_again(program, "failures::a_known_bad_device_is_rejected");
}

fn pocl_is_rejected() {
    for compiler in support::compilers() {
        let library = support::library("failures.fut", Backend::OpenCl, &compiler);
        for rejected in [Config::new(), Config::new().device("#0")] {
            let error = Context::new(&library, &rejected).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            let text = error.to_string();
            for part in [
                "Portable Computing Language",
                "i32.sum",
                "allow_known_bad_device",
            ] {
                assert!(text.contains(part), "{text}");
            }
        }
        // For a device that does not exist, the runtime reports its own error.
        let error = Context::new(&library, &Config::new().device("no such device")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Start, "{error}");
        // PoCL returns a code that the runtime does not expect, so it would end the process.
        let allowed = Config::new().allow_known_bad_device(true);
        // SAFETY: no compiler knows it.
        let wrong = unsafe { allowed.clone().build_option("-no-such-option=x") };
        says(
            Context::new(&library, &wrong),
            ErrorKind::Start,
            "called exit(",
        );
        let context = Context::new(&library, &allowed).unwrap();
        let xs = context.array(&[1i64, 2, 3]).unwrap();
        assert_eq!(xs.to_vec::<i64>().unwrap(), [1, 2, 3]);
    }
}
