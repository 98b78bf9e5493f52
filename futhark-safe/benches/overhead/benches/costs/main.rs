//! What a call, a transfer, a batch and a context cost on each backend of the machine, and what the same
//! computations cost through the compiler's server and futhark-ffi for Python.
//!
//! `ci/bench` runs it, which makes the server and the Python module; without them, they are not measured. The
//! features `opencl`, `cuda` and `hip` add backends. Writes the devices to `devices.tsv` beside the results.

mod server;
mod ways;

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use futhark_safe::{Backend, Config};
use futhark_safe_benches::ways::Context;

/// Elements per transfer, on the backends that the bench `overhead` does not measure.
const SIZES: [usize; 4] = [1 << 10, 1 << 16, 1 << 20, 1 << 24];
/// Elements of the round trip, by which the cost model is checked: none of `SIZES`.
const ROUND_TRIP: usize = 1 << 18;
/// Elements of an array that calls consume.
const CONSUMED: usize = 1 << 20;
/// Uploads, calls and downloads in a batch, and the elements of each.
const BATCH: (usize, usize) = (64, 1 << 10);

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("criterion");
    let mut criterion = Criterion::default()
        .output_directory(&folder)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(900))
        .sample_size(20)
        .configure_from_args();
    let mut devices = String::new();
    for backend in Context::backends().expect("the program is linked") {
        // Also PoCL 3.1: its results do not matter here.
        let config = Config::new().backend(backend).allow_known_bad_device(true);
        match Context::new(&config) {
            Ok(context) => {
                let device = context.device().expect("a context has a device");
                let _ = writeln!(devices, "device\tdevice of {backend}\t{device}");
                measure(&mut criterion, backend, &config, &context);
            }
            Err(error) => {
                let error = error.to_string();
                let reason = error.lines().next().unwrap_or_default();
                println!("{backend}: not measured: {reason}");
                let _ = writeln!(devices, "missing\t{backend}\t{reason}");
            }
        }
    }
    ways::measure(&mut criterion);
    criterion.final_summary();
    // `--list` makes no results.
    if folder.is_dir() {
        std::fs::write(folder.join("devices.tsv"), devices)
            .expect("the folder of the results is writable");
    }
}

fn measure(criterion: &mut Criterion, backend: Backend, config: &Config, context: &Context) {
    let bytes = |n: usize| Throughput::Bytes((n * size_of::<f32>()) as u64);

    let mut group = criterion.benchmark_group(format!("{backend}: context"));
    group.sample_size(10);
    group.bench_function("typed", |b| {
        b.iter(|| Context::new(config).expect("a context"));
    });
    group.finish();

    let one = context.array(&[1.0f32]).expect("an array");
    let mut group = criterion.benchmark_group(format!("{backend}: call with an array"));
    group.bench_function("typed", |b| {
        b.iter(|| context.entry().first(black_box(&one)).unwrap());
    });
    group.finish();

    // The bench `overhead` measures these beside plain C.
    if !matches!(backend, Backend::C | Backend::Multicore) {
        let mut group = criterion.benchmark_group(format!("{backend}: call add"));
        group.bench_function("typed", |b| {
            b.iter(|| context.entry().add(black_box(1), black_box(2)).unwrap());
        });
        group.finish();
        for n in SIZES {
            let mut data = vec![1.0f32; n];
            let mut transfer = |name: &str, run: &mut dyn FnMut()| {
                let mut group = criterion.benchmark_group(format!("{backend}: {name}"));
                group.throughput(bytes(n));
                group.bench_function(BenchmarkId::new("typed", n), |b| b.iter(&mut *run));
                group.finish();
            };
            transfer("upload", &mut || drop(context.array(&data).unwrap()));
            let array = context.array(&data).expect("an array");
            transfer("download", &mut || array.read_into(&mut data).unwrap());
            transfer("download, fresh memory", &mut || {
                drop(array.to_vec().unwrap())
            });
        }
    }

    let mut data = vec![1.0f32; ROUND_TRIP];
    let mut group = criterion.benchmark_group(format!("{backend}: round trip"));
    group.throughput(bytes(ROUND_TRIP));
    group.bench_function(BenchmarkId::new("typed", ROUND_TRIP), |b| {
        b.iter(|| {
            let array = context.array(&data).unwrap();
            context.entry().first(&array).unwrap();
            array.read_into(&mut data).unwrap();
        });
    });
    group.finish();

    let array = context.array(&vec![1.0f32; CONSUMED]).expect("an array");
    let mut state = Some(context.array(&vec![1.0f32; CONSUMED]).expect("an array"));
    let mut group = criterion.benchmark_group(format!("{backend}: consume"));
    group.bench_function(BenchmarkId::new("in place", CONSUMED), |b| {
        b.iter(|| {
            let taken = state.take().expect("put back below");
            state = Some(context.entry().put(taken, black_box(2.0)).unwrap());
            context.sync().unwrap();
        });
    });
    group.bench_function(BenchmarkId::new("shared, so copied", CONSUMED), |b| {
        b.iter(|| {
            let shared = context.entry().same(&array).unwrap();
            black_box(context.entry().put(shared, black_box(2.0)).unwrap());
            context.sync().unwrap();
        });
    });
    group.finish();

    let (times, n) = BATCH;
    let data = vec![1.0f32; n];
    let name = format!("{backend}: {times} times upload, call, download of {n}");
    let mut group = criterion.benchmark_group(name);
    group.bench_function("one by one", |b| {
        b.iter(|| {
            for _ in 0..times {
                let array = context.array(&data).unwrap();
                black_box(context.entry().double(&array).unwrap().to_vec().unwrap());
            }
        });
    });
    group.bench_function("batch", |b| {
        b.iter(|| {
            let downloads = context.batch(|batch| {
                let step = |_| {
                    let array = batch.array(&data)?;
                    batch.to_vec(&context.entry().double(&array)?)
                };
                (0..times).map(step).collect::<Result<Vec<_>, _>>()
            });
            for download in downloads.unwrap() {
                black_box(download.into_vec().unwrap());
            }
        });
    });
    group.finish();
}
