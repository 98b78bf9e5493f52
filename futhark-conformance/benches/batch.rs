//! Many small transfers, each with its own wait and in a batch: 64 uploads of 1 Ki `f32`, one call, 64
//! downloads.
//!
//! `cargo bench -p futhark-conformance --bench batch` measures the OpenCL device that the loader
//! selects, and emulated cuda; `-- opencl` or `-- cuda` only that one. A backend without a
//! device is skipped. `OCL_ICD_VENDORS` selects another OpenCL driver.

#![forbid(unsafe_code)]

use criterion::{BatchSize, Criterion};
use futhark_conformance::emulated::Emulated;
use futhark_safe::compile::Build;
use futhark_safe::dynamic::{Arg, Array, Context, Library, Value};
use futhark_safe::{Backend, Config, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "entry double [n] (xs: [n]f32): [n]f32 = map (* 2) xs\n";
/// Doubles the first of the arrays, and copies all of them back.
type Run = fn(&Context, &[Vec<f32>], &mut [Vec<f32>]) -> Result<()>;

const ARRAYS: usize = 64;
const ELEMENTS: usize = 1 << 10;

fn main() {
    if std::env::var_os(INSIDE).is_none() {
        return measure_with_the_device();
    }
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    for backend in [Backend::OpenCl, Backend::Cuda] {
        measure(&mut criterion, backend);
    }
}

/// Set in a process that uses the emulated drivers.
const INSIDE: &str = "FUTHARK_BENCH_INSIDE";

/// Runs the benchmark again in a process whose environment names the emulated drivers.
fn measure_with_the_device() {
    let emulated = Emulated::build(&kept()).expect("a C++ compiler");
    let status = Command::new(std::env::current_exe().expect("this program has a path"))
        .args(std::env::args_os().skip(1))
        .envs(emulated.environment(""))
        .env(INSIDE, "1")
        .status()
        .expect("this program can be run again");
    assert!(status.success(), "{status}");
}

fn kept() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds")
}

fn measure(criterion: &mut Criterion, backend: Backend) {
    let source = kept().join("batch.fut");
    std::fs::write(&source, PROGRAM).expect("the folder exists");
    let build = Build::new(&source, backend).out_dir(kept());
    let library = Library::build(&build).expect("the program compiles");
    // The computation is trivial, so a device with known bugs serves as well.
    let config = Config::new().allow_known_bad_device(true);
    let ctx = match Context::new(&library, &config) {
        Ok(ctx) => ctx,
        Err(error) => return eprintln!("{backend} is skipped: {error}"),
    };
    let device = ctx.device().expect("a device");
    let mut group = criterion.benchmark_group(format!("{backend}: {device}"));
    let data = vec![vec![1.0f32; ELEMENTS]; ARRAYS];
    let memory = || vec![vec![0.0f32; ELEMENTS]; ARRAYS];
    let mut run = |name: &str, run: Run| {
        group.bench_function(name, |bencher| {
            let run = |mut out: Vec<Vec<f32>>| {
                run(&ctx, &data, &mut out).expect("it succeeds");
                assert!(out[0][0] == 2.0 && out[ARRAYS - 1] == data[0]);
                out
            };
            bencher.iter_batched(memory, run, BatchSize::PerIteration);
        });
    };
    run("single transfers", single);
    run("batch", batch);
    group.finish();
}

fn single(ctx: &Context, data: &[Vec<f32>], out: &mut [Vec<f32>]) -> Result<()> {
    let mut arrays = data.iter().map(|xs| ctx.array(xs)).collect::<Result<_>>()?;
    double_first(ctx, &mut arrays)?;
    let mut pairs = arrays.iter().zip(out);
    pairs.try_for_each(|(array, out)| array.read_into(out))
}

fn batch(ctx: &Context, data: &[Vec<f32>], out: &mut [Vec<f32>]) -> Result<()> {
    ctx.batch(|batch| {
        let arrays = data.iter().map(|xs| batch.array(xs));
        let mut arrays = arrays.collect::<Result<_>>()?;
        double_first(ctx, &mut arrays)?;
        let mut pairs = arrays.iter().zip(out);
        pairs.try_for_each(|(array, out)| batch.read_into(array, out))
    })
}

/// Replaces the first array by its double.
fn double_first(ctx: &Context, arrays: &mut Vec<Array>) -> Result<()> {
    let first = Value::from(arrays.swap_remove(0));
    match ctx.call("double", vec![Arg::Borrow(&first)])?.pop() {
        Some(Value::Array(doubled)) => arrays.push(doubled),
        other => panic!("expected an array, got {other:?}"),
    }
    let last = arrays.len() - 1;
    arrays.swap(0, last);
    Ok(())
}
