//! Thousands of contexts, values and failing calls leak no memory.
#![cfg(target_os = "linux")]

mod support;

use support::{array, call_one, opaque, read, scalars};

use futhark_safe::dynamic::{Arg, Context, Library, Scalar, Value};
use futhark_safe::{Backend, Config, ErrorKind};

/// These backends allocate memory of the process, which the tests measure. QEMU keeps 280 kB of each thread that has ended,
/// so `ci/full` sets `FUTHARK_LEAKS` under it.
fn backends() -> &'static [Backend] {
    match std::env::var_os("FUTHARK_LEAKS").is_some_and(|value| value == "without-threads") {
        true => &[Backend::C],
        false => &[Backend::C, Backend::Multicore],
    }
}

/// The number of measurements, after equal amounts of work. A leak grows between all of them,
/// unlike the pages of the allocator.
const MEASUREMENTS: usize = 5;

/// Growth between two measurements that is not a leak, in bytes: the allocator keeps a few pages.
const NOISE: usize = 16 << 10;

fn times(n: usize) -> usize {
    if support::leaks_are_counted() {
        n / 50
    } else {
        n
    }
}

/// These tests measure the memory of the process, so they run one at a time.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Lets all threads allocate from one arena. By default glibc gives new threads arenas of their own, whose pages
/// are touched one after the other, which looks like a leak.
fn use_one_arena() {
    #[cfg(target_env = "gnu")]
    {
        const M_ARENA_MAX: i32 = -8;
        unsafe extern "C" {
            safe fn mallopt(parameter: i32, value: i32) -> i32;
        }
        // The allocator of a sanitizer has no arenas, and refuses.
        assert!(mallopt(M_ARENA_MAX, 1) == 1 || support::leaks_are_counted());
    }
}

/// Repeats `work` and fails if memory grows each time.
fn watch(what: &str, mut work: impl FnMut()) {
    let mut resident = Vec::new();
    for _ in 0..MEASUREMENTS {
        work();
        resident.push(resident_bytes());
    }
    eprintln!("{what}: {resident:?} bytes resident");
    let growth = resident.windows(2).map(|w| w[1].saturating_sub(w[0]));
    let least = growth.min().unwrap_or(0);
    assert!(
        least <= NOISE || support::leaks_are_counted(),
        "{what}: memory grew by {least} bytes or more each time: {resident:?}"
    );
}

/// The resident memory of the process without mapped files.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.trim().parse::<usize>().ok())
        .unwrap()
        << 10
}

fn each(mut check: impl FnMut(&dyn Fn(&str) -> Library, &dyn Fn(&Library) -> Context)) {
    use_one_arena();
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    for compiler in support::compilers() {
        for &backend in backends() {
            eprintln!("{} {backend}", compiler.version());
            let library = |name: &str| support::library(name, backend, &compiler);
            let context = |library: &Library| {
                let config = match backend {
                    Backend::Multicore => Config::new().num_threads(2),
                    _ => Config::new(),
                };
                Context::new(library, &config).unwrap()
            };
            check(&library, &context);
        }
    }
}

/// A good call, and one for each failure that the context survives.
fn calls(context: &Context) {
    let good = context.call("replicate_top", scalars(&[5])).unwrap();
    assert!(matches!(good[0], Value::Scalar(Scalar::I64(5))));
    let error = context.call("array_top", scalars(&[-5])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Program, "{error}");
    let error = context.call("array_top", scalars(&[1 << 46])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    let (xs, is) = (array(context, &[1, 2, 3]), array(context, &[0, 7]));
    let arguments = vec![Arg::Borrow(&xs), Arg::Borrow(&is)];
    let error = context.call("gather", arguments).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Program, "{error}");
    let arguments = vec![Arg::Consume(xs), Arg::Consume(1i64.into())];
    let error = context.call("gather", arguments).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
}

#[test]
fn contexts_leak_no_memory() {
    each(|library, context| {
        let library = library("failures.fut");
        watch("contexts", || {
            for _ in 0..times(200) {
                let context = context(&library);
                calls(&context);
                // Values outlive the context that made them.
                let xs = array(&context, &[1, 2]);
                drop(context);
                drop(xs);
            }
        });
    });
}

/// The runtime keeps blocks of 1 MiB and more until a context is freed, by one thread for all.
#[test]
fn large_blocks_of_worker_threads_are_freed() {
    if !support::full() && !support::leaks_are_counted() {
        return println!("skipped: FUTHARK_TESTS_FULL is not set");
    }
    each(|library, context| {
        let library = library("growing.fut");
        watch("large blocks", || {
            for _ in 0..times(6).max(2) {
                let context = context(&library);
                let sizes = array(&context, &[150_000; 4]);
                context.call("grow_map", vec![Arg::Borrow(&sizes)]).unwrap();
            }
        });
    });
}

#[test]
fn contexts_that_do_not_start_leak_no_memory() {
    each(|library, _| {
        let library = library("failures.fut");
        watch("starts that fail", || {
            for _ in 0..times(500) {
                let wrong = Config::new().tuning_param("nonsense", 1);
                let error = Context::new(&library, &wrong).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
            }
        });
    });
}

/// The length of a parallel loop.
const ROWS: usize = 16;

/// One row of the loop fails.
#[test]
fn failures_in_parallel_loops_leak_no_memory() {
    let column = |good: i64, bad: i64| {
        let mut column = vec![good; ROWS];
        column[ROWS - 1] = bad;
        column
    };
    let busy = vec![10_000; ROWS];
    let failures = [
        (
            "bounds_map",
            [vec![1; ROWS], column(3, 99)],
            ErrorKind::Program,
        ),
        (
            "replicate_map",
            [column(1000, -5), busy.clone()],
            ErrorKind::Program,
        ),
        (
            "replicate_map",
            [column(1000, 1 << 46), busy.clone()],
            ErrorKind::OutOfMemory,
        ),
    ];
    each(|library, context| {
        let context = context(&library("failures.fut"));
        let call = |entry: &str, columns: [&[i64]; 2]| {
            let [a, b] = columns.map(|column| array(&context, column));
            context.call(entry, vec![Arg::Borrow(&a), Arg::Borrow(&b)])
        };
        watch("failures in loops", || {
            for _ in 0..times(100) {
                call("replicate_map", [&[1000; ROWS], &busy]).unwrap();
                for (entry, [a, b], kind) in &failures {
                    assert_eq!(call(entry, [a, b]).unwrap_err().kind(), *kind);
                }
            }
        });
    });
}

/// At top level, and in loops, where workers hold memory of their own.
#[test]
fn lost_contexts_are_freed() {
    each(|library, context| {
        let library = library("failures.fut");
        watch("lost contexts", || {
            for run in 0..times(100) {
                if run % 5 == 0 {
                    // The caller computes the first row, a worker the last.
                    lose_in_a_loop(&context(&library), 0);
                    lose_in_a_loop(&context(&library), ROWS - 1);
                }
                let context = context(&library);
                // Of 1 MiB: the runtime keeps the memory for later.
                drop(array(&context, &[1; 1 << 17]));
                let kept = array(&context, &[2; 4096]);
                let error = context.call("divide_top", scalars(&[i64::MIN, -1]));
                assert_eq!(error.unwrap_err().kind(), ErrorKind::ContextLost);
                drop(context);
                drop(kept);
            }
        });
    });
}

fn lose_in_a_loop(context: &Context, row: usize) {
    let mut divisors = [3; ROWS];
    // The second run of a loop is parallel.
    for last in [3, 3, -1] {
        divisors[row] = last;
        let columns =
            [[i64::MIN; ROWS], divisors, [2000; ROWS]].map(|column| array(context, &column));
        let result = context.call("divide_map", columns.iter().map(Arg::Borrow).collect());
        match last {
            3 => drop(result.unwrap()),
            _ => assert_eq!(result.unwrap_err().kind(), ErrorKind::ContextLost),
        }
    }
}

/// The runtime fails after it started threads, and before the context is complete.
#[test]
fn contexts_lost_while_they_start_are_freed() {
    each(|library, _| {
        let library = library("lost_constant.fut");
        let two = match library.backend() {
            Backend::Multicore => Config::new().num_threads(2),
            _ => Config::new(),
        };
        watch("starts that are lost", || {
            for _ in 0..times(100) {
                let error = Context::new(&library, &two).unwrap_err();
                assert!(error.to_string().contains("integer overflow"), "{error}");
            }
        });
    });
}

/// Arrays that are shared and consumed, records, sums, arrays of records, stored values.
#[test]
fn values_of_every_kind_leak_no_memory() {
    each(|library, context| {
        let arrays = context(&library("../typed/programs/basics.fut"));
        let opaques = context(&library("../typed/programs/stored.fut"));
        watch("values", || {
            for _ in 0..times(1000) {
                arrays_of_scalars(&arrays);
                records(&opaques);
                sums(&opaques);
                arrays_of_records(&opaques);
            }
        });
    });
}

fn arrays_of_scalars(context: &Context) {
    let xs: Value = context.array(&[1i32, 2, 3]).unwrap().into();
    let alias = call_one(context, "identity", vec![Arg::Borrow(&xs)]).unwrap();
    for shared in [xs, call_one(context, "constant", vec![]).unwrap()] {
        let arguments = vec![Arg::Consume(shared), Arg::Consume(9i32.into())];
        let changed = call_one(context, "set_first", arguments).unwrap();
        assert_eq!(i32s(&changed)[0], 9);
    }
    assert_eq!(i32s(&alias), [1, 2, 3]);
    let m: Value = context.array_nd(&[2, 3], &[0.5f64; 6]).unwrap().into();
    let t = context.call("transpose_it", vec![Arg::Borrow(&m)]).unwrap();
    let Value::Array(t) = &t[0] else {
        panic!("an array")
    };
    assert_eq!(t.shape(), [3, 2]);
    t.index(&[2, 1]).unwrap();
    t.index(&[2, 2]).unwrap_err();
}

fn records(context: &Context) {
    let data: Value = context.array(&[4i32, 5]).unwrap().into();
    let buffer = context
        .record("buffer", &[&data, &Value::from(1i32)])
        .unwrap();
    let field = buffer.project("data").unwrap();
    let copy = context.restore(&buffer.store().unwrap()).unwrap();
    for buffer in [buffer, copy] {
        let arguments = vec![Arg::Consume(buffer.into()), Arg::Consume(7i32.into())];
        let poked = context.call("poke_buffer", arguments).unwrap();
        assert_eq!(i32s(&poked[0]), [7, 5]);
    }
    assert_eq!(i32s(&field), [4, 5]);
}

fn sums(context: &Context) {
    let circle = context
        .sum("shape", "circle", &[&Value::from(2.0f64)])
        .unwrap();
    assert_eq!(circle.variant().unwrap(), "circle");
    circle.destruct("segment").unwrap_err();
    assert_eq!(circle.destruct("circle").unwrap().len(), 1);
    context.restore(&circle.store().unwrap()).unwrap();
}

fn arrays_of_records(context: &Context) {
    let xs: Value = context.array(&[1.0f64, 2.0]).unwrap().into();
    let ys: Value = context.array(&[1.0f64, 2.0, 3.0]).unwrap().into();
    context.zip("[]pt", &[&xs, &ys]).unwrap_err();
    let points = context.zip("[]pt", &[&xs, &xs]).unwrap();
    let point = points.index(&[1]).unwrap();
    points.index(&[2]).unwrap_err();
    drop(points);
    let x = opaque(point).project("x").unwrap();
    assert!(matches!(x, Value::Scalar(Scalar::F64(2.0))));
}

fn i32s(value: &Value) -> Vec<i32> {
    read(value).unwrap()
}
