//! No failure of a program ends the process, on any backend, on any thread.
#![cfg(feature = "dynamic")]

mod support;

use futhark_safe::dynamic::{Arg, Context, Scalar, Value};
use futhark_safe::{Backend, Config, Kind};

/// The backends whose results are real on every machine that ci/setup made ready.
const BACKENDS: [Backend; 3] = [Backend::C, Backend::Multicore, Backend::OpenCl];

fn config(backend: Backend) -> Config {
    let config = Config::new();
    if backend == Backend::Multicore {
        config.num_threads(4)
    } else {
        config
    }
}

fn each(mut check: impl FnMut(Backend, &dyn Fn() -> Context)) {
    for compiler in support::compilers() {
        for backend in BACKENDS {
            let library = support::library("failures.fut", backend, &compiler);
            eprintln!("{} {backend}", compiler.version());
            check(backend, &|| {
                Context::new(&library, &config(backend)).unwrap()
            });
        }
    }
}

/// How often to lose a context: making one takes a fifth of a second on OpenCL.
fn runs(backend: Backend) -> usize {
    if backend == Backend::OpenCl { 5 } else { 100 }
}

fn scalars(values: &[i64]) -> Vec<Arg<'static>> {
    values.iter().map(|&v| Arg::Consume(v.into())).collect()
}

fn ok_after(context: &Context) {
    let results = context.call("replicate_top", scalars(&[5])).unwrap();
    assert!(matches!(results[0], Value::Scalar(Scalar::I64(5))));
}

#[test]
fn negative_size_is_an_error_and_the_context_goes_on() {
    each(|_, context| {
        let context = context();
        for _ in 0..100 {
            let error = context.call("array_top", scalars(&[-5])).unwrap_err();
            assert_eq!(error.kind(), Kind::Program, "{error}");
        }
        ok_after(&context);
    });
}

#[test]
fn huge_allocation_is_out_of_memory_and_the_context_goes_on() {
    each(|_, context| {
        let context = context();
        for _ in 0..100 {
            let error = context.call("array_top", scalars(&[1 << 46])).unwrap_err();
            assert_eq!(error.kind(), Kind::OutOfMemory, "{error}");
        }
        ok_after(&context);
    });
}

#[test]
fn overflowing_size_is_an_error() {
    each(|backend, context| {
        for _ in 0..runs(backend) {
            let one = context();
            let error = one.call("array_top", scalars(&[1 << 62])).unwrap_err();
            assert!(
                matches!(
                    error.kind(),
                    Kind::ContextLost | Kind::Program | Kind::OutOfMemory
                ),
                "{error}"
            );
        }
        ok_after(&context());
    });
}

#[test]
fn impossible_division_is_an_error() {
    each(|backend, context| {
        for entry in ["divide_top", "modulo_top"] {
            for _ in 0..runs(backend) {
                let one = context();
                let error = one.call(entry, scalars(&[i64::MIN, -1])).unwrap_err();
                assert_eq!(error.kind(), Kind::ContextLost, "{error}");
                // Lost stays lost, and says so.
                let again = one.call("divide_top", scalars(&[4, 2])).unwrap_err();
                assert_eq!(again.kind(), Kind::ContextLost, "{again}");
            }
        }
        ok_after(&context());
    });
}
