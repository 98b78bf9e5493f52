//! Failures in parallel loops, on a worker and on the calling thread while workers run: each is an
//! error, the stack of the caller stays intact, and no thread is left.
#![cfg(all(feature = "compile", feature = "dynamic", target_os = "linux"))]

mod support;

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use futhark_safe::dynamic::{Arg, Context, Library, Value};
use futhark_safe::{Backend, Config, Error, ErrorKind};

const RUNS: usize = 25;
const ROWS: usize = 16;

/// These tests measure the processor time of the process, so they run one at a time.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// The thread of the failing row: the caller computes the first row, a worker the last.
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
    let library = |c| support::library("failures.fut", Backend::Multicore, &c);
    support::compilers().into_iter().map(library).collect()
}

fn call(context: &Context, entry: &str, columns: &[Vec<i64>]) -> Result<Vec<Value>, Error> {
    let arrays: Vec<Value> = columns
        .iter()
        .map(|c| context.array(c).unwrap().into())
        .collect();
    context.call(entry, arrays.iter().map(Arg::Borrow).collect())
}

/// The scheduler runs a loop in parallel only after it was measured to be expensive.
fn warm(context: &Context, entry: &str, columns: &[Vec<i64>]) {
    for _ in 0..2 {
        call(context, entry, columns).unwrap();
    }
}

/// Lengths, divisors or work of the rows, one of them bad.
fn column(good: i64, bad: i64, place: Place) -> Vec<i64> {
    let mut column = vec![good; ROWS];
    column[place.row()] = bad;
    column
}

/// All rows except the failing one take long, so that workers are busy when it fails.
fn busy(place: Place) -> Vec<i64> {
    column(60_000, 10, place)
}

/// The number of threads with the name of this one. Workers inherit the name of the thread that
/// starts them. The threads of other tests come and go, but have other names, as long as the names
/// of the tests differ in the first 15 bytes, which the kernel keeps.
fn threads() -> usize {
    let name = |task: &Path| std::fs::read_to_string(task.join("comm")).unwrap_or_default();
    let own = name(Path::new("/proc/thread-self"));
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter(|task| name(&task.as_ref().unwrap().path()) == own)
        .count()
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

/// Whether a large buffer on the stack of this thread stays unchanged. A worker with pointers into
/// the frames of the failed call would write to it.
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
    while threads() > expected && start.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(1));
    }
    threads()
}

/// Fails `RUNS` times in new contexts and counts the threads that remain.
fn expect_losses(entry: &str, warm_up: &[Vec<i64>], fail: impl Fn(Place) -> Vec<Vec<i64>>) {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    for library in libraries() {
        let before = threads();
        for place in [Place::Caller, Place::Worker] {
            for run in 0..RUNS {
                let context = support::start(&library);
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
        assert_eq!(settled_threads(before), before, "threads remain");
        let start = cpu();
        std::thread::sleep(Duration::from_millis(250));
        assert!(
            cpu() - start < Duration::from_millis(50),
            "a thread is spinning"
        );
        // A new context works.
        warm(&support::start(&library), entry, warm_up);
    }
}

#[test]
fn min_divided_by_minus_one_in_a_parallel_loop_loses_the_context() {
    let good = [vec![i64::MIN; ROWS], vec![3; ROWS], vec![20_000; ROWS]];
    expect_losses("divide_map", &good, |place| {
        vec![vec![i64::MIN; ROWS], column(3, -1, place), busy(place)]
    });
}

/// Fails `RUNS` times in one context, which survives.
fn expect_errors(
    entry: &str,
    warm_up: &[Vec<i64>],
    kind: ErrorKind,
    fail: impl Fn(Place) -> Vec<Vec<i64>>,
) {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    for library in libraries() {
        let context = support::start(&library);
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
                let expected: Vec<i64> = xs.iter().map(|x| x * (0..2000).sum::<i64>()).collect();
                assert_eq!(
                    support::read::<i64>(&good[0]).unwrap(),
                    expected,
                    "{place:?} {run}"
                );
            }
        }
    }
}

#[test]
fn an_impossible_size_in_a_parallel_loop_is_an_error() {
    let good = [vec![1000; ROWS], vec![20_000; ROWS]];
    for (size, kind) in [
        (-5, ErrorKind::Program),
        (1 << 62, ErrorKind::Program),
        (1 << 46, ErrorKind::OutOfMemory),
    ] {
        expect_errors("replicate_map", &good, kind, |place| {
            vec![column(1000, size, place), busy(place)]
        });
    }
}

#[test]
fn index_out_of_bounds_in_a_parallel_loop_is_an_error() {
    let xs: Vec<i64> = (0..ROWS as i64).collect();
    expect_errors(
        "bounds_map",
        &[xs.clone(), xs.clone()],
        ErrorKind::Program,
        |place| vec![xs.clone(), column(3, 99, place)],
    );
}

/// Generated code leaves a task in the queue of the caller that no worker takes, and waits for it
/// when the context is freed.
#[test]
fn a_context_is_freed_after_a_loop_without_iterations() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/parallel/empty_outer.fut");
    for compiler in support::compilers() {
        let library = support::library_of(&program, Backend::Multicore, &compiler);
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || {
            let context = support::start(&library);
            let empty: Value = context.array_nd::<f32>(&[0, 3], &[]).unwrap().into();
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
            "freeing the context does not return"
        );
    }
}

/// An untracked mutex would stay locked when its thread dies, and block other threads forever. A
/// build that tracks none shows the error that prevents this.
#[test]
fn exceeding_the_table_of_tracked_mutexes_is_an_error() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let Some(compiler) = support::newest() else {
        return;
    };
    let program = support::program("failures.fut");
    let build = support::build(&program, Backend::Multicore, &compiler).flag("-DFUT_MAX_HELD=0");
    let library = Library::build(&build).unwrap();
    let error = Context::new(&library, &Config::new().num_threads(4)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Start);
    assert!(error.to_string().contains("more mutexes"), "{error}");
}
