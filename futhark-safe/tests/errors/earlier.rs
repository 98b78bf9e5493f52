//! GPU failures that a later operation reports with the name of the failed call.

use futhark_safe::dynamic::{Arg, Context, Value};
use futhark_safe::{Error, ErrorKind};

use super::support::{array, call_one, each_on_opencl, opaque, read, scalars, start};

fn each(check: impl Fn(&Context)) {
    each_on_opencl(|library| check(&start(library)));
}

fn call(ctx: &Context, entry: &str, args: &[&Value]) -> Result<Value, Error> {
    call_one(
        ctx,
        entry,
        args.iter().map(|&arg| Arg::Borrow(arg)).collect(),
    )
}

fn calls(error: &Error) -> Vec<&str> {
    error.failed_calls().collect()
}

/// Operations on other values, with their names.
type Operations<'a> = Vec<(&'static str, Box<dyn Fn() -> Result<(), Error> + 'a>)>;

#[test]
fn each_operation_that_waits_names_the_call_that_failed() {
    each(|ctx| {
        let [xs, good, bad] = [&[10, 20, 30][..], &[0], &[5]].map(|data| array(ctx, data));
        let numbers = ctx.array(&[7i64, 8]).unwrap();
        let args = vec![Arg::Consume(1i64.into()), Arg::Consume(array(ctx, &[1, 2]))];
        let row = opaque(call_one(ctx, "row", args).unwrap());
        let stored = row.store().unwrap();
        let shared = call(ctx, "gather", &[&xs, &good]).unwrap();
        ctx.sync().unwrap();
        let operations: Operations<'_> = vec![
            ("sync", Box::new(|| ctx.sync())),
            ("clear_caches", Box::new(|| ctx.clear_caches())),
            ("report", Box::new(|| ctx.report().map(drop))),
            ("new array", Box::new(|| ctx.array(&[1i64]).map(drop))),
            ("read array", Box::new(|| numbers.to_vec::<i64>().map(drop))),
            ("index", Box::new(|| numbers.index(&[1]).map(drop))),
            ("store", Box::new(|| row.store().map(drop))),
            ("restore", Box::new(|| ctx.restore(&stored).map(drop))),
            ("field at of row", Box::new(|| row.project("at").map(drop))),
            ("copy", Box::new(|| numbers.try_clone().map(drop))),
            (
                "entry point total",
                Box::new(|| call(ctx, "total", &[&xs]).map(drop)),
            ),
            (
                "entry point divide_top",
                Box::new(|| ctx.call("divide_top", scalars(&[4, 2])).map(drop)),
            ),
        ];
        for (operation, run) in operations {
            let failed = call(ctx, "gather", &[&xs, &bad]).unwrap();
            let error = run().unwrap_err();
            assert_eq!(error.operation(), operation);
            assert!(error.is_from_earlier_call(), "{error}");
            assert_eq!(calls(&error), ["entry point gather"], "{operation}");
            assert_eq!(
                (error.kind(), error.code().is_some()),
                (ErrorKind::Program, true)
            );
            let text = error.c_message().unwrap();
            assert!(text.starts_with("Index [5] out of bounds"), "{text}");
            let start = format!("{operation}: an earlier call failed (entry point gather): Index");
            assert!(error.to_string().starts_with(&start), "{error}");
            // Only one operation reports it; the failed value keeps it.
            run().unwrap();
            let again = read::<i64>(&failed).unwrap_err();
            assert_eq!(calls(&again), ["entry point gather"], "{again}");
            assert!(again.is_from_earlier_call());
        }
        assert_eq!(read::<i64>(&shared).unwrap(), [10]);
    });
}

/// Only calls with checks in kernels are candidates.
#[test]
fn all_possibly_failed_calls_are_named() {
    each(|ctx| {
        let (xs, bad) = (array(ctx, &[10, 20, 30]), array(ctx, &[5]));
        // `good_map` has no checks.
        let before = call(ctx, "good_map", &[&xs]).unwrap();
        let failed = call(ctx, "gather", &[&xs, &bad]).unwrap();
        let after = call(ctx, "good_map", &[&xs]).unwrap();
        let error = ctx.sync().unwrap_err();
        assert_eq!(calls(&error), ["entry point gather"]);
        for value in [&before, &failed, &after] {
            assert_eq!(
                calls(&read::<i64>(value).unwrap_err()),
                ["entry point gather"]
            );
        }
        // `bounds_map` has checks, which all succeed.
        let three = array(ctx, &[0, 1, 2]);
        let failed = call(ctx, "gather", &[&xs, &bad]).unwrap();
        let other = call(ctx, "bounds_map", &[&xs, &three]);
        let error = ctx.sync().unwrap_err();
        assert!(error.is_from_earlier_call());
        let both = ["entry point gather", "entry point bounds_map"];
        assert_eq!(calls(&error), both);
        let text = error.to_string();
        let names = "one of the earlier calls failed (entry point gather, entry point bounds_map)";
        assert!(text.contains(names), "{text}");
        for value in [failed, other.unwrap()] {
            assert_eq!(calls(&read::<i64>(&value).unwrap_err()), both);
        }
    });
}

#[test]
fn a_call_with_an_internal_wait_reports_its_own_failure() {
    each(|ctx| {
        let [xs, good, bad] = [&[10, 20, 30][..], &[0], &[5]].map(|data| array(ctx, data));
        let own = call(ctx, "gather_total", &[&xs, &bad]).unwrap_err();
        assert!(!own.is_from_earlier_call());
        assert_eq!(calls(&own), ["entry point gather_total"]);
        assert!(
            own.to_string()
                .starts_with("entry point gather_total: Index"),
            "{own}"
        );
        // With another call pending, either can have failed, and the result of the other is invalidated.
        let pending = call(ctx, "gather", &[&xs, &good]).unwrap();
        let either = call(ctx, "gather_total", &[&xs, &bad]).unwrap_err();
        assert!(!either.is_from_earlier_call());
        let both = ["entry point gather", "entry point gather_total"];
        assert_eq!(calls(&either), both);
        assert!(
            either.to_string().contains("one of these calls failed"),
            "{either}"
        );
        assert_eq!(calls(&read::<i64>(&pending).unwrap_err()), both);
        // A failure on the host belongs to its own call. The wait after it confirms the results of
        // other calls.
        let pending = call(ctx, "gather", &[&xs, &good]).unwrap();
        let own = ctx.call("array_top", scalars(&[-5])).unwrap_err();
        assert_eq!(calls(&own), ["entry point array_top"]);
        assert!(own.also().is_none(), "{own}");
        assert_eq!(read::<i64>(&pending).unwrap(), [10]);
    });
}

/// A call that fails on the host waits for what is pending, so a later failure leaves the results of calls before it as they are.
#[test]
fn results_before_a_failure_on_the_host_are_complete() {
    each(|ctx| {
        let [xs, good, bad] = [&[10, 20, 30][..], &[2], &[5]].map(|data| array(ctx, data));
        let early = call(ctx, "gather", &[&xs, &good]).unwrap();
        ctx.call("divide_top", scalars(&[4, 0])).unwrap_err();
        let failed = call(ctx, "gather", &[&xs, &bad]).unwrap();
        read::<i64>(&failed).unwrap_err();
        assert_eq!(read::<i64>(&early).unwrap(), [30]);
    });
}
