//! Failures inside of parallel loops, on a worker and on the calling thread while
//! workers run: an error each time, the caller's stack intact, no thread left.
#![cfg(all(feature = "dynamic", target_os = "linux"))]

mod support;

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use futhark_safe::compile::Build;
use futhark_safe::dynamic::{Arg, Context, Library, Value};
use futhark_safe::{Backend, Config, Error, ErrorKind};

const THREADS: usize = 4;
const RUNS: usize = 100;
const ROWS: usize = 16;

/// These tests count the threads of this process, so they run one at a time.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Where the failing row is: the first is the caller's, the last one a worker's.
#[derive(Clone, Copy, Debug)]
enum Place {
    Caller,
    Worker,
}

impl Place {
    fn row(self) -> usize {
        match self {
            Place::Caller => 0,
            Place::Worker => ROWS - 1,
        }
    }
}

fn libraries() -> Vec<Library> {
    let compilers = support::compilers();
    compilers
        .iter()
        .map(|c| support::library("failures.fut", Backend::Multicore, c))
        .collect()
}

fn context(library: &Library) -> Context {
    Context::new(library, &Config::new().num_threads(THREADS)).unwrap()
}

fn call(context: &Context, entry: &str, columns: &[Vec<i64>]) -> Result<Vec<Value>, Error> {
    let arrays: Vec<Value> = columns
        .iter()
        .map(|c| context.array_of(&[c.len()], c).unwrap().into())
        .collect();
    context.call(entry, arrays.iter().map(Arg::Borrow).collect())
}

/// The scheduler runs a loop in parallel only once it has seen that it is expensive.
fn warm(context: &Context, entry: &str, columns: &[Vec<i64>]) {
    for _ in 0..2 {
        call(context, entry, columns).unwrap();
    }
}

/// Row lengths or divisors, with one bad row; and how long each row works.
fn column(good: i64, bad: i64, place: Place) -> Vec<i64> {
    let mut column = vec![good; ROWS];
    column[place.row()] = bad;
    column
}

/// All rows are busy but the failing one, so that others are at work when it fails.
fn busy(place: Place) -> Vec<i64> {
    column(60_000, 10, place)
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    // utime and stime, in hundredths of a second.
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// Whether a big buffer on this thread's stack stays as it was written: a worker that
/// still had pointers into the frames of the failed call would show.
#[inline(never)]
fn stack_stays_intact(time: Duration) -> bool {
    let mut buffer = [0x5au8; 1 << 16];
    std::hint::black_box(&mut buffer);
    std::thread::sleep(time);
    std::hint::black_box(&mut buffer);
    buffer.iter().all(|&byte| byte == 0x5a)
}

fn settled_threads(expected: usize) -> usize {
    let start = Instant::now();
    while threads() > expected && start.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(1));
    }
    threads()
}

/// Fails `RUNS` times in fresh contexts and checks what is left behind.
fn check_lost(entry: &str, warm_up: &[Vec<i64>], fail: impl Fn(Place) -> Vec<Vec<i64>>) {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    for library in libraries() {
        let before = threads();
        for place in [Place::Caller, Place::Worker] {
            for run in 0..RUNS {
                let context = context(&library);
                warm(&context, entry, warm_up);
                let error = call(&context, entry, &fail(place)).unwrap_err();
                assert_eq!(
                    error.kind(),
                    ErrorKind::ContextLost,
                    "{place:?} {run}: {error}"
                );
                assert!(error.to_string().contains("integer overflow"), "{error}");
                assert!(
                    stack_stays_intact(Duration::from_millis(2)),
                    "{place:?} {run}"
                );
                drop(context);
            }
        }
        assert_eq!(settled_threads(before), before, "threads are left");
        let start = cpu();
        std::thread::sleep(Duration::from_millis(500));
        assert!(
            cpu() - start < Duration::from_millis(100),
            "a thread is spinning"
        );
        // Another context computes.
        warm(&context(&library), entry, warm_up);
    }
}

#[test]
fn overflowing_size_in_a_parallel_loop() {
    let good = [vec![1000; ROWS], vec![20_000; ROWS]];
    check_lost("replicate_map", &good, |place| {
        vec![column(1000, 1 << 62, place), busy(place)]
    });
}

#[test]
fn impossible_division_in_a_parallel_loop() {
    let good = [vec![i64::MIN; ROWS], vec![3; ROWS], vec![20_000; ROWS]];
    check_lost("divide_map", &good, |place| {
        vec![vec![i64::MIN; ROWS], column(3, -1, place), busy(place)]
    });
}

/// Errors after which the same context computes on.
fn check_goes_on(
    entry: &str,
    warm_up: &[Vec<i64>],
    kind: ErrorKind,
    fail: impl Fn(Place) -> Vec<Vec<i64>>,
) {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    for library in libraries() {
        let context = context(&library);
        warm(&context, entry, warm_up);
        for place in [Place::Caller, Place::Worker] {
            for run in 0..RUNS {
                let Err(error) = call(&context, entry, &fail(place)) else {
                    panic!("{} {place:?} {run}: no error", library.program().version)
                };
                assert_eq!(error.kind(), kind, "{place:?} {run}: {error}");
                assert!(
                    stack_stays_intact(Duration::from_millis(1)),
                    "{place:?} {run}"
                );
                let xs: Vec<i64> = (0..100).collect();
                let good = call(&context, "good_map", std::slice::from_ref(&xs)).unwrap();
                let Value::Array(good) = &good[0] else {
                    panic!("an array")
                };
                let expected: Vec<i64> = xs.iter().map(|x| x * (0..2000).sum::<i64>()).collect();
                assert_eq!(good.to_vec::<i64>().unwrap(), expected, "{place:?} {run}");
            }
        }
    }
}

#[test]
fn negative_size_in_a_parallel_loop() {
    let good = [vec![1000; ROWS], vec![20_000; ROWS]];
    check_goes_on("replicate_map", &good, ErrorKind::Program, |place| {
        vec![column(1000, -5, place), busy(place)]
    });
}

#[test]
fn no_memory_in_a_parallel_loop() {
    let good = [vec![1000; ROWS], vec![20_000; ROWS]];
    check_goes_on("replicate_map", &good, ErrorKind::OutOfMemory, |place| {
        vec![column(1000, 1 << 46, place), busy(place)]
    });
}

#[test]
fn index_out_of_bounds_in_a_parallel_loop() {
    let xs: Vec<i64> = (0..ROWS as i64).collect();
    check_goes_on(
        "bounds_map",
        &[xs.clone(), xs.clone()],
        ErrorKind::Program,
        |place| vec![xs.clone(), column(3, 99, place)],
    );
}

/// The compilers leave a task in the caller's queue that nobody takes, and wait for it when
/// the context is freed.
#[test]
fn a_context_is_freed_after_a_loop_without_iterations() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/parallel/empty_outer.fut");
    for compiler in support::compilers() {
        let build = Build::new(&program, Backend::Multicore)
            .compiler(compiler)
            .out_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join("multicore"))
            .fast(true);
        let library = Library::build(&build).unwrap();
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || {
            let context = context(&library);
            let empty: Value = context.array_of::<f32>(&[0, 3], &[]).unwrap().into();
            for _ in 0..10 {
                context.call("sums", vec![Arg::Borrow(&empty)]).unwrap();
            }
            drop(empty);
            done.send(context.close().is_ok()).unwrap();
        });
        let limit = Duration::from_secs(60);
        assert_eq!(
            is_done.recv_timeout(limit),
            Ok(true),
            "freeing it never ends"
        );
    }
}

/// A mutex that is not kept track of would stay locked when its thread dies, and a thread that
/// waits for it would never end. A build that keeps track of none shows what happens instead.
#[test]
fn too_many_mutexes_end_the_call() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let compiler = support::compilers().pop().unwrap();
    let build = Build::new(support::program("failures.fut"), Backend::Multicore)
        .compiler(compiler)
        .flag("-DFUT_MAX_HELD=0")
        .out_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join("futhark"))
        .fast(true);
    let library = Library::build(&build).unwrap();
    let config = Config::new().num_threads(THREADS);
    let error = Context::new(&library, &config).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Start);
    assert!(error.to_string().contains("more mutexes"), "{error}");
}
