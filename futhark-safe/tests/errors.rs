//! What an error contains, recovery after errors, and the errors of `close`.

mod earlier;

use futhark_safe::dynamic::{Arg, Context};
use futhark_safe::{Backend, Config, Error, ErrorKind};

use super::support::{self, array, each, each_of, each_on_opencl, read, says, scalars, start};

/// Calls `gather` and reads its result. On GPUs reading reports the failure.
fn gather(ctx: &Context, is: &[i64]) -> Result<Vec<i64>, Error> {
    let (xs, is) = (array(ctx, &[10, 20, 30]), array(ctx, is));
    let result = ctx.call("gather", vec![Arg::Borrow(&xs), Arg::Borrow(&is)])?;
    read(&result[0])
}

/// The line of the program that starts with `text`.
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

        // The runtime uses code 3 for missing memory, but returns 1 as well.
        let error = ctx.call("array_top", scalars(&[1 << 46])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
        assert!(error.code().is_some_and(|code| code != 0));

        let words = error.c_message().unwrap();
        assert!(words.starts_with("Failed to allocate memory in"), "{words}");
        assert!(
            words.trim_end().ends_with(" bytes"),
            "text of the runtime only: {words}"
        );
        let ours = error.to_string();
        assert!(
            ours.contains("no more memory for") || ours.contains("the device has"),
            "{ours}"
        );

        // The C side derives the kind from the place where the runtime detects the failure.
        let xs = ctx.array(&[1i64, 2]).unwrap();
        let error = xs.index_checked_by_c(&[2]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert_eq!(error.c_message(), Some("Index out of bounds."));

        // Our own code detects negative sizes and overflows, so C has no text.
        for size in [-5, 1 << 62] {
            let error = ctx.call("array_top", scalars(&[size])).unwrap_err();
            let found = (error.kind(), error.c_message());
            assert_eq!(found, (ErrorKind::Program, None), "{error}");
        }

        // A failure detected in Rust has neither code nor text of C.
        let error = ctx.call("total", vec![]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.code().is_none() && error.c_message().is_none() && error.place().is_none());
    });
}

/// A call that fails for a reason of its own while an earlier one fails on the device reports
/// both, each with its own kind, text and call.
#[test]
fn an_earlier_failure_keeps_its_own_text() {
    each_on_opencl(|library| {
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
        let earlier = read::<i64>(&failed).unwrap_err();
        assert_eq!(
            (earlier.kind(), earlier.code()),
            (ErrorKind::Program, Some(2))
        );
        let text = earlier.c_message().unwrap();
        assert!(text.starts_with("Index [5] out of bounds"), "{text}");
        ctx.sync().unwrap();
    });
}

/// 64 build options fit into the runtime's buffer; many more would overrun it. Oclgrind's compiler crashes on names
/// of files.
#[test]
fn build_options_that_the_runtime_or_the_compiler_cannot_bear_are_rejected() {
    each_on_opencl(|library| {
        // SAFETY: the device code has none of these names.
        let add = |config: Config, option: &str| unsafe { config.build_option(option) };
        let some = |n| (0..n).fold(Config::new(), |config, _| add(config, "-DX"));
        let one = |option: &str| add(Config::new(), option);
        drop(Context::new(library, &some(64)).unwrap());
        let values = one(" -D A=1 -I folder -cl-mad-enable");
        drop(Context::new(library, &values).unwrap());
        for (rejected, why) in [
            (some(65), "at most 64"),
            (one(""), "empty"),
            (one(" "), "empty"),
            (one("x"), "got `x`"),
            (one("-DA=1 x"), "got `x`"),
            (one("-I folder x"), "got `x`"),
            (one("-"), "got `-`"),
        ] {
            says(
                Context::new(library, &rejected),
                ErrorKind::InvalidArgument,
                why,
            );
        }
    });
}

/// For each tuning parameter the runtime counts the bytes of its name, and writes those of an identifier, in which `z`
/// is `zz`. The options of this program would overrun its buffer.
#[test]
fn names_that_the_runtime_cannot_bear_are_rejected() {
    if !support::backends().contains(&Backend::OpenCl) {
        return;
    }
    let source = support::fresh("long_name.fut");
    let name = "z".repeat(1000);
    let program = format!("entry {name} (xs: []i32) : []i32 = map (+ 1) xs\n");
    std::fs::write(&source, program).unwrap();
    let library = support::library_of(&source, Backend::OpenCl, &support::newest().unwrap());
    let _device = support::lock_device();
    let error = Context::new(&library, &Config::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    assert!(error.to_string().contains("names"), "{error}");
}

/// Misuse 23. `leaks.rs` watches the memory of thousands of failures.
#[test]
fn an_error_does_not_affect_later_calls() {
    each(|library| {
        let ctx = start(library);
        for _ in 0..20 {
            gather(&ctx, &[0, 99]).unwrap_err();
            let fresh = array(&ctx, &[1, 2, 3]);
            assert_eq!(read::<i64>(&fresh).unwrap(), [1, 2, 3]);
        }
        assert_eq!(gather(&ctx, &[2]).unwrap(), [30]);
    });
}

/// Misuse 13.
#[test]
fn a_failing_constant_is_a_start_error() {
    each_of(&support::program("bad_constant.fut"), |library| {
        for _ in 0..3 {
            let error = Context::new(library, &Config::new()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Start, "{error}");
            let text = error.c_message().unwrap();
            assert!(text.contains("division by zero"), "{text}");
        }
    });
}

#[test]
fn close_returns_a_context_that_is_in_use() {
    each(|library| {
        let ctx = start(library);
        let xs = array(&ctx, &[1, 2]);
        let (ctx, error) = ctx.close().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("has 1 other handle,"), "{error}");
        let clone = ctx.clone();
        let (ctx, _) = ctx.close().unwrap_err();
        assert_eq!(read::<i64>(&xs).unwrap(), [1, 2], "the context still works");
        drop((clone, xs));
        ctx.close().unwrap();
    });
}

/// The context is returned with the error, and works.
#[test]
fn close_reports_an_unreported_failure() {
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
