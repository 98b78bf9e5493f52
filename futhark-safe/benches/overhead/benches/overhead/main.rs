//! The overhead of the typed interface over the plain C API, for one program compiled with the
//! same flags. Prints a table of ratios. `scope`: calls inside of `Context::exclusive`.
//!
//! `cargo bench -p futhark-safe-benches` takes four minutes; `-- call`, `-- kernel` or `-- upload`
//! measures only that. Needs `objcopy`, so it runs on Linux.

mod table;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use futhark_safe::{Backend, Config};
use futhark_safe_benches::bench::{self, PtFields};
use futhark_safe_benches::{bench_untrapped, plain};

/// Rounds of `spin` that take about two microseconds.
const ROUNDS: i32 = 1000;
/// The kernels of `bench.fut`: number, name, size.
const KERNELS: [(i32, &str, i64); 5] = [
    (0, "kernel dot", 1 << 16),
    (1, "kernel scan", 1 << 16),
    (2, "kernel histogram", 1 << 16),
    (3, "kernel matrix product", 128),
    (4, "kernel blur", 256),
];
/// Elements per transfer.
const SIZES: [usize; 4] = [1 << 10, 1 << 16, 1 << 20, 1 << 24];
/// The sizes of them for which arrays of records are measured.
const RECORDS: [usize; 2] = [1 << 10, 1 << 20];
/// Calls in a scope, with two threads that take turns.
const PER_SCOPE: u64 = 64;
/// Elements of a page.
const PAGE: usize = 4096 / size_of::<f32>();

/// All measurements on one backend.
macro_rules! measure {
    ($criterion:expr, $backend:expr, $plain:ident) => {{
        let (criterion, backend): (&mut Criterion, Backend) = ($criterion, $backend);
        let config = Config::new().backend(backend);
        let typed = bench::Context::new(&config).expect("a context");
        let untrapped = bench_untrapped::Context::new(&config).expect("a context");
        let plain = plain::$plain::Context::new();

        let mut group = group(criterion, backend, "call add");
        group.bench_function("plain", |b| {
            b.iter(|| plain.add(black_box(1), black_box(2)).unwrap())
        });
        group.bench_function("typed", |b| {
            b.iter(|| typed.entry().add(black_box(1), black_box(2)).unwrap());
        });
        group.bench_function("scope", |b| {
            typed.exclusive(|| {
                b.iter(|| typed.entry().add(black_box(1), black_box(2)).unwrap());
            });
        });
        group.bench_function("untrapped", |b| {
            b.iter(|| untrapped.entry().add(black_box(1), black_box(2)).unwrap());
        });
        group.finish();

        let mut group = self::group(criterion, backend, "call add, two threads, one context");
        group.bench_function("plain", |b| {
            let plain = plain.shared();
            b.iter_custom(|n| {
                two_threads(|_| times(n, || plain.add(black_box(1), black_box(2)).unwrap()))
            });
        });
        group.bench_function("typed", |b| {
            b.iter_custom(|n| {
                two_threads(|_| times(n, || typed.entry().add(black_box(1), black_box(2)).unwrap()))
            });
        });
        group.bench_function("scope", |b| {
            b.iter_custom(|n| {
                two_threads(|_| {
                    let mut left = n;
                    while left > 0 {
                        let some = left.min(PER_SCOPE);
                        let call = || typed.entry().add(black_box(1), black_box(2)).unwrap();
                        typed.exclusive(|| times(some, call));
                        left -= some;
                    }
                })
            });
        });
        group.finish();

        let mut group = self::group(criterion, backend, "call add, two threads, two contexts");
        group.bench_function("plain", |b| {
            let contexts = [plain::$plain::Context::new(), plain::$plain::Context::new()];
            let contexts = contexts.each_ref().map(|context| context.shared());
            b.iter_custom(|n| {
                two_threads(|i| times(n, || contexts[i].add(black_box(1), black_box(2)).unwrap()))
            });
        });
        let contexts = [0, 1].map(|_| bench::Context::new(&config).expect("a context"));
        group.bench_function("typed", |b| {
            b.iter_custom(|n| {
                two_threads(|i| {
                    times(n, || {
                        contexts[i].entry().add(black_box(1), black_box(2)).unwrap()
                    })
                })
            });
        });
        group.bench_function("scope", |b| {
            b.iter_custom(|n| {
                two_threads(|i| {
                    let call = || contexts[i].entry().add(black_box(1), black_box(2)).unwrap();
                    contexts[i].exclusive(|| times(n, call));
                })
            });
        });
        group.finish();

        let mut group = self::group(criterion, backend, "call of 2 us");
        group.bench_function("plain", |b| {
            b.iter(|| plain.spin(ROUNDS, black_box(1)).unwrap())
        });
        group.bench_function("typed", |b| {
            b.iter(|| typed.entry().spin(ROUNDS, black_box(1)).unwrap());
        });
        group.bench_function("untrapped", |b| {
            b.iter(|| untrapped.entry().spin(ROUNDS, black_box(1)).unwrap());
        });
        group.finish();

        for (which, name, n) in KERNELS {
            let mut group = self::group(criterion, backend, name);
            group.bench_function("plain", |b| {
                b.iter(|| plain.kernel(which, black_box(n)).unwrap())
            });
            group.bench_function("typed", |b| {
                b.iter(|| typed.entry().kernel(which, black_box(n)).unwrap());
            });
            group.bench_function("untrapped", |b| {
                b.iter(|| untrapped.entry().kernel(which, black_box(n)).unwrap());
            });
            group.finish();
        }

        for n in SIZES {
            let data: Vec<f32> = (0..n).map(|i| i as f32).collect();
            let mut room = vec![0.0f32; n + PAGE];
            let bytes = Throughput::Bytes((n * size_of::<f32>()) as u64);

            // A new array is where the last one was freed.
            let place = || plain.array(&data).values_raw().0;
            let typed_place = || typed.array(&data).unwrap().view().unwrap().as_ptr();
            let mut group = self::group(criterion, backend, "upload");
            group.throughput(bytes.clone());
            group.bench_function(BenchmarkId::new("plain", n), |b| {
                let data = placed(&mut room, n, place());
                b.iter(|| plain.array(data))
            });
            group.bench_function(BenchmarkId::new("typed", n), |b| {
                let data = placed(&mut room, n, typed_place());
                b.iter(|| typed.array(data).unwrap());
            });
            group.bench_function(BenchmarkId::new("scope", n), |b| {
                let data = placed(&mut room, n, typed_place());
                typed.exclusive(|| b.iter(|| typed.array(data).unwrap()));
            });
            group.finish();

            let (ours, theirs) = (typed.array(&data).expect("an array"), plain.array(&data));
            theirs.read_into(&mut room[..n]).expect("a download");
            assert!(room[..n] == data, "the array round-trips");
            let mut group = self::group(criterion, backend, "download");
            group.throughput(bytes.clone());
            group.bench_function(BenchmarkId::new("plain", n), |b| {
                let room = placed(&mut room, n, theirs.values_raw().0);
                b.iter(|| theirs.read_into(black_box(room)).unwrap());
            });
            group.bench_function(BenchmarkId::new("typed", n), |b| {
                let room = placed(&mut room, n, ours.view().expect("a host backend").as_ptr());
                b.iter(|| ours.read_into(black_box(room)).unwrap());
            });
            group.bench_function(BenchmarkId::new("scope", n), |b| {
                let room = placed(&mut room, n, ours.view().expect("a host backend").as_ptr());
                typed.exclusive(|| b.iter(|| ours.read_into(black_box(room)).unwrap()));
            });
            group.finish();

            let mut group = self::group(criterion, backend, "download, fresh memory");
            group.throughput(bytes);
            group.bench_function(BenchmarkId::new("plain", n), |b| {
                b.iter(|| theirs.malloc_and_copy().unwrap());
            });
            group.bench_function(BenchmarkId::new("typed", n), |b| {
                b.iter(|| ours.to_vec().unwrap());
            });
            group.bench_function(BenchmarkId::new("scope", n), |b| {
                typed.exclusive(|| b.iter(|| ours.to_vec().unwrap()));
            });
            group.finish();

            if RECORDS.contains(&n) {
                let rows: Vec<PtFields> = data.iter().map(|&x| PtFields { x, y: -x }).collect();
                let bytes = Throughput::Bytes((n * size_of::<PtFields>()) as u64);

                // Plain C: the columns alone, from slices that hold them.
                let mut group = self::group(criterion, backend, "records, from a slice");
                group.throughput(bytes.clone());
                group.bench_function(BenchmarkId::new("plain", n), |b| {
                    b.iter(|| (plain.array(&data), plain.array(&data)))
                });
                group.bench_function(BenchmarkId::new("typed", n), |b| {
                    b.iter(|| bench::ArrayPt::from_slice(&typed, &rows).unwrap());
                });
                group.finish();

                let points = bench::ArrayPt::from_slice(&typed, &rows).expect("an array");
                assert!(
                    points.to_vec().expect("a download") == rows,
                    "the rows round-trip"
                );
                // Plain C: an array of numbers.
                let mut group = self::group(criterion, backend, "records, consumed in place");
                let mut consumed = plain.array(&data);
                group.bench_function(BenchmarkId::new("plain", n), |b| {
                    b.iter(|| consumed.touch().unwrap());
                });
                let mut consumed = bench::ArrayPt::from_slice(&typed, &rows).expect("an array");
                group.bench_function(BenchmarkId::new("typed", n), |b| {
                    b.iter(|| consumed = typed.entry().touch_point(&mut consumed).unwrap());
                });
                assert_eq!(typed.copies(), [], "nothing was copied");
                group.finish();

                let mut group = self::group(criterion, backend, "records, to a vector");
                group.throughput(bytes);
                group.bench_function(BenchmarkId::new("plain", n), |b| {
                    b.iter(|| {
                        (
                            theirs.malloc_and_copy().unwrap(),
                            theirs.malloc_and_copy().unwrap(),
                        )
                    });
                });
                group.bench_function(BenchmarkId::new("typed", n), |b| {
                    b.iter(|| points.to_vec().unwrap());
                });
                group.finish();
            }

            // The elements are made and stored: in plain C in a buffer, which is then uploaded.
            let mut group = self::group(criterion, backend, "elements of a function");
            group.bench_function(BenchmarkId::new("plain", n), |b| {
                b.iter(|| plain.array(&(0..n).map(|i| black_box(i) as f32).collect::<Vec<f32>>()))
            });
            group.bench_function(BenchmarkId::new("typed", n), |b| {
                b.iter(|| typed.array_from_fn([n], |i| black_box(i) as f32).unwrap());
            });
            group.finish();

            // Independent of the size: nothing is copied.
            let mut group = self::group(criterion, backend, "view");
            group.bench_function(BenchmarkId::new("plain", n), |b| {
                b.iter(|| black_box(theirs.values_raw()));
            });
            group.bench_function(BenchmarkId::new("typed", n), |b| {
                b.iter(|| black_box(ours.view().unwrap()));
            });
            group.finish();

            // Independent of the size: nothing else shares the memory, so nothing is copied.
            let mut group = self::group(criterion, backend, "consumed in place");
            let mut consumed = plain.array(&data);
            group.bench_function(BenchmarkId::new("plain", n), |b| {
                b.iter(|| consumed.touch().unwrap());
            });
            let mut consumed = typed.array(&data).expect("an array");
            group.bench_function(BenchmarkId::new("typed", n), |b| {
                b.iter(|| consumed = typed.entry().touch(&mut consumed).unwrap());
            });
            group.bench_function(BenchmarkId::new("scope", n), |b| {
                typed.exclusive(|| {
                    b.iter(|| consumed = typed.entry().touch(&mut consumed).unwrap());
                });
            });
            group.finish();

            // To a slice that owns the array, and back.
            let mut group = self::group(criterion, backend, "owned slice");
            group.bench_function(BenchmarkId::new("plain", n), |b| {
                b.iter(|| black_box(theirs.values_raw()));
            });
            let mut array = Some(ours);
            group.bench_function(BenchmarkId::new("typed", n), |b| {
                b.iter(|| {
                    let ours = array.take().expect("put back below");
                    let slice = ours.into_host().expect("a host backend");
                    black_box(&*slice);
                    array = Some(slice.into_array());
                });
            });
            group.finish();
        }
    }};
}

fn main() {
    let start = SystemTime::now();
    let folder = results();
    let mut criterion = Criterion::default()
        .output_directory(&folder)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(900))
        .sample_size(20)
        .configure_from_args();
    measure!(&mut criterion, Backend::C, c);
    measure!(&mut criterion, Backend::Multicore, multicore);
    criterion.final_summary();
    print!("{}", table::write(&folder, start));
}

/// The time from the start of the first of two threads, which get their numbers, to the end of both.
fn two_threads(work: impl Fn(usize) + Sync) -> Duration {
    let start = Barrier::new(2);
    let times = thread::scope(|scope| {
        let threads = [0, 1].map(|number| {
            let (work, start) = (&work, &start);
            scope.spawn(move || {
                start.wait();
                let started = Instant::now();
                work(number);
                (started, Instant::now())
            })
        });
        threads.map(|thread| thread.join().expect("the calls succeed"))
    });
    let [(a, a_end), (b, b_end)] = times;
    a_end.max(b_end) - a.min(b)
}

fn times<R>(n: u64, call: impl Fn() -> R) {
    for _ in 0..n {
        black_box(call());
    }
}

/// A buffer of `n` elements with the same offset in a page as `other`, between which elements are copied: with
/// different offsets in a cache line a copy of 256 KiB takes 7 % longer.
fn placed(room: &mut [f32], n: usize, other: *const f32) -> &mut [f32] {
    let into_page = |address: usize| address % (PAGE * size_of::<f32>()) / size_of::<f32>();
    let skip = (PAGE + into_page(other.addr()) - into_page(room.as_ptr().addr())) % PAGE;
    &mut room[skip..][..n]
}

fn group<'c>(
    criterion: &'c mut Criterion,
    backend: Backend,
    name: &str,
) -> BenchmarkGroup<'c, WallTime> {
    criterion.benchmark_group(format!("{backend}: {name}"))
}

/// The folder for the results of Criterion.
fn results() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("criterion")
}
