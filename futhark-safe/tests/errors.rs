//! Errors to the end: what they carry, that they do not stick, what `close` tells, and
//! that thousands of them cost nothing that lasts.
#![cfg(feature = "dynamic")]

#[path = "errors/earlier.rs"]
mod earlier;
mod support;

use std::sync::{Mutex, MutexGuard, PoisonError};

use futhark_safe::dynamic::{Arg, Array, Context, Library, Scalar, Value};
use futhark_safe::{Backend, Config, Error, ErrorKind};

const BACKENDS: [Backend; 3] = [Backend::C, Backend::Multicore, Backend::OpenCl];

/// Oclgrind cannot be used by two contexts of a process at a time, not even from plain C
/// (see SAFETY.md). What is measured here is of the whole process, too: tests take turns.
static TURN: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start(library: &Library) -> Context {
    let config = match library.backend() {
        Backend::Multicore => Config::new().num_threads(4),
        _ => Config::new(),
    };
    Context::new(library, &config).unwrap()
}

fn each(mut check: impl FnMut(&Library)) {
    let _turn = alone();
    for compiler in support::compilers() {
        for backend in BACKENDS {
            eprintln!("{} {backend}", compiler.version());
            check(&support::library("failures.fut", backend, &compiler));
        }
    }
}

fn array(ctx: &Context, data: &[i64]) -> Value {
    ctx.array_of(&[data.len()], data).unwrap().into()
}

fn scalars(values: &[i64]) -> Vec<Arg<'static>> {
    values.iter().map(|&v| Arg::Consume(v.into())).collect()
}

/// `gather`, and its result read: on GPUs the failure shows in the second.
fn gather(ctx: &Context, is: &[i64]) -> Result<Vec<i64>, Error> {
    let (xs, is) = (array(ctx, &[10, 20, 30]), array(ctx, is));
    let result = ctx.call("gather", vec![Arg::Borrow(&xs), Arg::Borrow(&is)])?;
    read(&result[0])
}

fn read(value: &Value) -> Result<Vec<i64>, Error> {
    match value {
        Value::Array(array) => Array::to_vec(array),
        other => panic!("an array, not {other:?}"),
    }
}

/// The line of the program in which `text` stands.
fn line_of(text: &str) -> u32 {
    let program = std::fs::read_to_string(support::program("failures.fut")).unwrap();
    let before = program.lines().take_while(|line| !line.starts_with(text));
    before.count() as u32 + 1
}

#[test]
fn an_error_has_kind_code_text_operation_and_place() {
    each(|library| {
        let ctx = start(library);
        let error = gather(&ctx, &[0, 99]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Program);
        assert!(matches!(error.code(), Some(1 | 2)), "{:?}", error.code());
        let text = error.c_message().unwrap();
        assert!(
            text.contains("Index [99] out of bounds for array of shape [3]"),
            "{text}"
        );
        let on_gpu = library.backend() == Backend::OpenCl;
        let operation = if on_gpu {
            "read array"
        } else {
            "entry point gather"
        };
        assert_eq!(error.operation(), operation);
        let place = error.place().unwrap();
        assert!(place.file.ends_with("failures.fut"), "{place}");
        assert_eq!(place.line, line_of("entry gather"));
        assert!(place.column > 1);

        // 3 is what the runtime has for missing memory, but it answers 1 as well.
        let error = ctx.call("array_top", scalars(&[1 << 46])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
        assert!(error.code().is_some_and(|code| code != 0));

        let words = error.c_message().unwrap();
        assert!(words.starts_with("Failed to allocate memory in"), "{words}");
        assert!(
            words.trim_end().ends_with(" bytes"),
            "only the runtime's text: {words}"
        );
        let ours = error.to_string();
        assert!(
            ours.contains("no more memory for") || ours.contains("the device has"),
            "{ours}"
        );

        // A size below zero is found by our own code; the overflow of one, too.
        for (size, kind) in [(-5, ErrorKind::Program), (1 << 62, ErrorKind::ContextLost)] {
            let ctx = start(library);
            let error = ctx.call("array_top", scalars(&[size])).unwrap_err();
            if error.kind() != ErrorKind::OutOfMemory {
                assert_eq!((error.kind(), error.c_message()), (kind, None), "{error}");
            }
        }

        // A failure that is found on this side has neither code nor text of C.
        let error = ctx.call("total", vec![]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.code().is_none() && error.c_message().is_none() && error.place().is_none());
    });
}

/// The text of a failure is there for whoever meets it later, code and place included.
#[test]
fn a_late_failure_is_told_again_in_full() {
    type Wait = fn(&Context) -> Result<(), Error>;
    each(|library| {
        if library.backend() != Backend::OpenCl {
            return;
        }
        let ctx = start(library);
        let (xs, is) = (array(&ctx, &[1, 2]), array(&ctx, &[5]));
        let waits: [Wait; 3] = [Context::sync, Context::clear_caches, |ctx| {
            ctx.report().map(drop)
        }];
        for wait in waits {
            let failed = ctx.call("gather", vec![Arg::Borrow(&xs), Arg::Borrow(&is)]);
            let failed = failed.unwrap().remove(0);
            let first = wait(&ctx).unwrap_err();
            assert_eq!((first.kind(), first.code()), (ErrorKind::Program, Some(2)));
            for _ in 0..2 {
                let again = read(&failed).unwrap_err();
                assert_eq!(again.kind(), first.kind());
                assert_eq!(again.code(), first.code());
                assert_eq!(again.c_message(), first.c_message());
                assert_eq!(again.place(), first.place());
                assert_eq!(again.operation(), "value of a failed call");
            }
            wait(&ctx).unwrap();
        }
    });
}

/// A call that fails for a reason of its own while an earlier one fails on the device reports
/// both, each with its own kind, text and call.
#[test]
fn an_earlier_failure_keeps_its_own_text() {
    each(|library| {
        if library.backend() != Backend::OpenCl {
            return;
        }
        let ctx = start(library);
        let (xs, is) = (array(&ctx, &[1, 2]), array(&ctx, &[5]));
        let failed = ctx.call("gather", vec![Arg::Borrow(&xs), Arg::Borrow(&is)]);
        let failed = failed.unwrap().remove(0);
        let later = ctx.call("array_top", scalars(&[1 << 50])).unwrap_err();
        assert_eq!(later.kind(), ErrorKind::OutOfMemory, "{later}");
        assert!(!later.is_from_earlier_call());
        let also = later.also().expect("a second failure");
        assert!(also.is_from_earlier_call());
        let calls: Vec<_> = also.failed_calls().collect();
        assert_eq!(
            (also.kind(), &calls[..]),
            (ErrorKind::Program, &["entry point gather"][..])
        );
        for (error, text) in [(&later, "Failed to allocate"), (also, "Index [5] out of")] {
            let c_message = error.c_message().unwrap();
            assert!(c_message.starts_with(text), "{c_message}");
            assert!(later.to_string().contains(text), "{later}");
        }
        let earlier = read(&failed).unwrap_err();
        assert_eq!(
            (earlier.kind(), earlier.code()),
            (ErrorKind::Program, Some(2))
        );
        let text = earlier.c_message().unwrap();
        assert!(text.starts_with("Index [5] out of bounds"), "{text}");
        ctx.sync().unwrap();
    });
}

/// More build options than the runtime has room for are refused; those that are taken fit.
#[test]
fn build_options_fit() {
    each(|library| {
        if library.backend() != Backend::OpenCl {
            return;
        }
        let some = |n| (0..n).fold(Config::new(), |config, _| config.build_option("-DX"));
        drop(Context::new(library, &some(64)).unwrap());
        let empty = Config::new().build_option("");
        for (refused, why) in [(some(65), "more than 64"), (empty, "empty")] {
            let error = Context::new(library, &refused).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains(why), "{error}");
        }
    });
}

/// Resident memory of this process, in KiB.
fn memory() -> Option<usize> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split(' ').nth(1)?.parse::<usize>().ok()? * 4)
}

/// Runs `what` so often, after a tenth of it as warm-up; it may leave 8 bytes each time, as
/// a pool that is still growing would, and no more.
fn keeps_memory(n: usize, mut what: impl FnMut()) {
    (0..n.div_ceil(10)).for_each(|_| what());
    let before = memory();
    (0..n).for_each(|_| what());
    if let (Some(before), Some(after)) = (before, memory()) {
        let grown = after.saturating_sub(before);
        assert!(
            grown <= 1024 + n * 8 / 1024,
            "{grown} KiB more after {n} times"
        );
    }
}

/// Misuse 8 and 23: a failure leaves nothing behind, neither memory nor itself.
#[test]
fn errors_do_not_stick_and_do_not_pile_up() {
    each(|library| {
        let ctx = start(library);
        // Oclgrind interprets kernels, and keeps some memory for each launch.
        let n = if library.backend() == Backend::OpenCl {
            20
        } else {
            20_000
        };
        let round = || {
            gather(&ctx, &[0, 99]).unwrap_err();
            let fresh = array(&ctx, &[1, 2, 3]);
            assert_eq!(read(&fresh).unwrap(), [1, 2, 3]);
        };
        if library.backend() == Backend::OpenCl {
            (0..n).for_each(|_| round());
        } else {
            keeps_memory(n, round);
        }
        assert_eq!(gather(&ctx, &[2]).unwrap(), [30]);
    });
}

/// Misuse 8: contexts that are made and dropped, and such that cannot start.
#[test]
fn contexts_leave_nothing_behind() {
    each(|library| match library.backend() {
        Backend::OpenCl => (0..5).for_each(|_| drop(start(library))),
        _ => keeps_memory(1000, || drop(start(library))),
    });
}

/// Misuse 13: no context is returned, the message is.
#[test]
fn a_constant_that_fails_is_an_error_of_the_start() {
    let _turn = alone();
    for compiler in support::compilers() {
        for backend in BACKENDS {
            let library = support::library("bad_constant.fut", backend, &compiler);
            for _ in 0..3 {
                let error = Context::new(&library, &Config::new()).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Start, "{backend}: {error}");
                let text = error.c_message().unwrap();
                assert!(text.contains("division by zero"), "{backend}: {text}");
            }
        }
    }
}

#[test]
fn close_hands_the_context_back_while_it_is_in_use() {
    each(|library| {
        let ctx = start(library);
        let xs = array(&ctx, &[1, 2]);
        let (ctx, error) = ctx.close().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(
            error.to_string().contains("1 values or other handles"),
            "{error}"
        );
        let clone = ctx.clone();
        let (ctx, _) = ctx.close().unwrap_err();
        assert_eq!(read(&xs).unwrap(), [1, 2], "it works as before");
        drop((clone, xs));
        ctx.close().unwrap();
    });
}

/// What nobody was told of, `close` tells; then the context can go on.
#[test]
fn close_tells_what_nobody_was_told() {
    each(|library| {
        let ctx = start(library);
        let (xs, is) = (array(&ctx, &[1, 2]), array(&ctx, &[5]));
        let failed = ctx.call("gather", vec![Arg::Borrow(&xs), Arg::Borrow(&is)]);
        drop((xs, is));
        if library.backend() != Backend::OpenCl {
            assert_eq!(failed.unwrap_err().kind(), ErrorKind::Program);
            ctx.close().unwrap();
            return;
        }
        drop(failed.unwrap());
        let (ctx, error) = ctx.close().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Program);
        assert!(error.to_string().contains("Index [5]"), "{error}");
        assert_eq!(gather(&ctx, &[1]).unwrap(), [20]);
        ctx.close().unwrap();
    });
}

#[test]
fn a_lost_context_says_so_when_it_is_closed() {
    each(|library| {
        let ctx = start(library);
        ctx.call("divide_top", scalars(&[i64::MIN, -1]))
            .unwrap_err();
        let (ctx, error) = ctx.close().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ContextLost, "{error}");
        assert_eq!(ctx.close().unwrap_err().1.kind(), ErrorKind::ContextLost);
    });
}

/// Misuse 7: threads whose calls fail, each with a message of its own, on one context.
#[test]
fn threads_get_their_own_messages() {
    each(|library| {
        let ctx = start(library);
        std::thread::scope(|scope| {
            for thread in 1..=4i64 {
                let ctx = &ctx;
                scope.spawn(move || {
                    let rounds = if ctx.library().backend() == Backend::OpenCl {
                        5
                    } else {
                        300
                    };
                    for round in 0..rounds {
                        let index = -1000 * thread - round;
                        let (xs, is) = (array(ctx, &[1]), array(ctx, &[index]));
                        let arguments = vec![Arg::Borrow(&xs), Arg::Borrow(&is)];
                        let error = ctx.call("gather_total", arguments).unwrap_err();
                        assert!(error.to_string().contains(&index.to_string()), "{error}");
                        let sum = ctx.call("replicate_top", scalars(&[thread])).unwrap();
                        assert!(matches!(sum[0], Value::Scalar(Scalar::I64(n)) if n == thread));
                    }
                });
            }
        });
    });
}

/// Misuse 16: values outlive their context, and are dropped on other threads while calls run.
#[test]
fn values_outlive_their_context() {
    each(|library| {
        let ctx = start(library);
        let values: Vec<Value> = (0..50).map(|i| array(&ctx, &[i, i + 1])).collect();
        let kept = array(&ctx, &[7]);
        std::thread::scope(|scope| {
            let ctx = &ctx;
            scope.spawn(move || drop(values));
            for _ in 0..5 {
                assert_eq!(gather(ctx, &[0]).unwrap(), [10]);
            }
        });
        drop(ctx);
        assert_eq!(read(&kept).unwrap(), [7]);
        std::thread::spawn(move || drop(kept)).join().unwrap();
    });
}

/// The runtime only says that sizes are invalid; the error has those of all arguments.
#[test]
fn sizes_that_do_not_fit_are_in_the_error() {
    each(|library| {
        let ctx = start(library);
        let xs = array(&ctx, &[1, 2, 3]);
        let args = vec![
            Arg::Consume(1i64.into()),
            Arg::Consume(array(&ctx, &[1, 2])),
        ];
        let row = ctx.call("row", args).unwrap().remove(0);
        let args = vec![Arg::Borrow(&xs), Arg::Borrow(&row)];
        let error = ctx.call("add_row", args).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Program, "{error}");
        let sizes = "(argument 0 `xs` is [3]i64, argument 1 `r` is [2]i64)";
        assert!(error.to_string().contains(sizes), "{error}");
        let c_message = error.c_message().unwrap();
        assert_eq!(
            c_message.trim_end(),
            "Error: entry point arguments have invalid sizes."
        );
    });
}

/// The C side decides the kind by the place where the runtime notices a failure.
#[test]
fn what_a_function_of_c_refuses_is_an_invalid_argument() {
    each(|library| {
        let ctx = start(library);
        let Value::Array(xs) = array(&ctx, &[1, 2]) else {
            panic!("an array")
        };
        let error = xs.index_checked_by_c(&[2]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert_eq!(error.c_message(), Some("Index out of bounds."));
    });
}
