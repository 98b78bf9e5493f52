//! Uploads, calls and downloads of small arrays on devices: each transfer waits, or a batch waits once.
//!
//! Skips backends without a device. `FUTHARK_LIBCUDA` and the variables of the other libraries select the
//! emulated device for cuda.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use futhark_safe::{Backend, Config, Result};
use futhark_safe_benches::batches::Context;

/// Elements of an array.
const N: usize = 1 << 10;
/// Arrays that are uploaded, computed with and downloaded.
const ARRAYS: [usize; 3] = [1, 16, 64];

fn main() -> Result<()> {
    let mut criterion = Criterion::default()
        .output_directory(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("criterion"))
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(900))
        .sample_size(20)
        .configure_from_args();
    for backend in [Backend::OpenCl, Backend::Cuda] {
        match Context::new(&Config::new().backend(backend)) {
            Ok(ctx) => measure(&mut criterion, &ctx)?,
            Err(error) => eprintln!("skipped {backend}: {error:#}"),
        }
    }
    criterion.final_summary();
    Ok(())
}

fn measure(criterion: &mut Criterion, ctx: &Context) -> Result<()> {
    let samples: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let doubled: Vec<f32> = samples.iter().map(|x| x * 2.0).collect();
    for arrays in ARRAYS {
        let mut rooms = vec![vec![0.0f32; N]; arrays];
        for run in [each_waits, one_wait] {
            run(ctx, &samples, &mut rooms)?;
            assert!(
                rooms.iter().all(|room| *room == doubled),
                "the results are right"
            );
        }
        let mut group = criterion.benchmark_group(format!("{}: batches", ctx.backend()));
        group.throughput(Throughput::Elements(arrays as u64));
        group.bench_function(BenchmarkId::new("each waits", arrays), |b| {
            b.iter(|| each_waits(ctx, black_box(&samples), &mut rooms).expect("it has worked"));
        });
        group.bench_function(BenchmarkId::new("one wait", arrays), |b| {
            b.iter(|| one_wait(ctx, black_box(&samples), &mut rooms).expect("it has worked"));
        });
        group.finish();
    }
    Ok(())
}

fn each_waits(ctx: &Context, samples: &[f32], rooms: &mut [Vec<f32>]) -> Result<()> {
    for room in rooms {
        ctx.entry().twice(&ctx.array(samples)?)?.read_into(room)?;
    }
    Ok(())
}

fn one_wait(ctx: &Context, samples: &[f32], rooms: &mut [Vec<f32>]) -> Result<()> {
    ctx.batch(|batch| {
        for room in rooms {
            batch.read_into(&ctx.entry().twice(&batch.array(samples)?)?, room)?;
        }
        Ok(())
    })
}
