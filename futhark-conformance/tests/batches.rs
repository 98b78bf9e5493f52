//! Batches on cuda and hip, on the emulated device. With `delayed` it copies at the next
//! synchronisation, and reports host memory that has changed by then.

#[macro_use]
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use futhark_conformance::emulated::MISUSE_REPORTS;
use futhark_safe::dynamic::{Arg, Array, Batch, Context, Library, Value};
use futhark_safe::{Backend, Config, ErrorKind, Result};

const PROGRAM: &str = "\
entry double (xs: []i32): []i32 = map (* 2) xs
entry overwrite [n] (xs: *[n]i32): *[n]i32 = scatter xs (iota n) (replicate n (-1))
entry checked (xs: []i32): []i32 = map (\\x -> xs[x]) xs
entry at (xs: []i32) (i: i64): i32 = #[unsafe] i32.sum (map (\\x -> x + xs[i]) xs)
entry divide (a: i64) (b: i64): i64 = a / b
";

/// Runs `check` on both backends, with settings of the device, in a process of its own.
fn on_the_device(settings: &str, check: fn(&Library)) {
    support::on_cuda_and_hip(settings, |backend| {
        check(&support::library("batches.fut", PROGRAM, backend));
        assert!(!findings().contains("host buffer"), "{}", findings());
    });
}

/// The misuse that the device has found.
fn findings() -> String {
    let file = std::env::var_os(MISUSE_REPORTS).unwrap();
    std::fs::read_to_string(Path::new(&file)).unwrap_or_default()
}

/// Calls an entry point with one argument and one result, both arrays.
fn array(ctx: &Context, entry: &str, xs: Array) -> Result<Array> {
    let mut results = ctx.call(entry, vec![Arg::Consume(xs.into())])?;
    match results.pop() {
        Some(Value::Array(ys)) => Ok(ys),
        other => panic!("expected an array, got {other:?}"),
    }
}

fn divide(ctx: &Context) -> Result<()> {
    let (a, b) = (Value::from(i64::MIN), Value::from(-1i64));
    let quotient = ctx.call("divide", vec![Arg::Borrow(&a), Arg::Borrow(&b)]);
    quotient.map(drop)
}

/// Downloads the double of `data`, and then overwrites and frees the array on the device.
fn double<'env>(
    ctx: &Context,
    batch: &Batch<'_, 'env>,
    data: &'env [i32],
    out: &'env mut [i32],
) -> Result<()> {
    let ys = array(ctx, "double", batch.array(data)?)?;
    batch.read_into(&ys, out)?;
    array(ctx, "overwrite", ys).map(drop)
}

#[test]
fn transfers_are_complete_when_a_batch_ends() {
    on_the_device("delayed", |library| {
        let ctx = Context::new(library, &Config::new()).unwrap();
        let mut data: Vec<Vec<i32>> = (0..20).map(|i| vec![i; 100]).collect();
        let mut out = vec![vec![0i32; 100]; 20];
        let downloads = ctx.batch(|batch| {
            let mut downloads = Vec::new();
            for (data, out) in data.iter().zip(&mut out) {
                double(&ctx, batch, data, out)?;
                // Memory that the batch keeps.
                let owned: Vec<i32> = data.iter().map(|x| x + 1).collect();
                downloads.push(batch.to_vec::<i32>(&batch.array(owned)?)?);
            }
            Ok(downloads)
        });
        let downloads = downloads.unwrap();
        for ((data, out), download) in data.iter_mut().zip(&out).zip(downloads) {
            assert_eq!(*out, vec![2 * data[0]; 100]);
            assert_eq!(download.into_vec().unwrap(), vec![data[0] + 1; 100]);
            data.fill(77);
        }
        ctx.sync().unwrap();
    });
}

#[test]
fn a_batch_that_fails_or_panics_completes_its_transfers() {
    on_the_device("delayed", |library| {
        let ctx = Context::new(library, &Config::new()).unwrap();
        let (mut data, mut out) = (vec![1i32, 2, 3], vec![0i32; 3]);
        let failed = ctx.batch(|batch| {
            double(&ctx, batch, &data, &mut out)?;
            ctx.call("no_such_entry", vec![])
        });
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(out, [2, 4, 6]);
        out.fill(0);
        data.fill(5);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            ctx.batch(|batch| -> Result<()> {
                double(&ctx, batch, &data, &mut out)?;
                panic!("a test");
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(out, [10; 3]);
        data.fill(77);
        out.fill(77);
        ctx.sync().unwrap();
        assert_eq!(out, [77; 3]);
    });
}

#[test]
fn a_failing_kernel_fails_its_batch() {
    on_the_device("delayed", |library| {
        let ctx = Context::new(library, &Config::new()).unwrap();
        let mut data = vec![0i32, 9];
        let (mut out, mut kept) = (vec![0i32; 2], None);
        let result = ctx.batch(|batch| {
            let ys = array(&ctx, "checked", batch.array(&data)?)?;
            batch.read_into(&ys, &mut out)?;
            kept = Some(ys);
            Ok(())
        });
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Program, "{error}");
        data.fill(77);
        out.fill(77);
        let error = kept.unwrap().to_vec::<i32>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Program, "{error}");
        assert_eq!(out, [77; 2]);
        ctx.batch(|batch| double(&ctx, batch, &data, &mut out))
            .unwrap();
        assert_eq!(out, [154; 2]);
    });
}

/// A failure of the runtime, with a driver that works.
#[test]
fn a_batch_of_a_lost_context_waits_for_the_driver() {
    needed!(support::needs::full());
    on_the_device("delayed", |library| {
        let ctx = Context::new(library, &Config::new()).unwrap();
        let (mut data, mut out) = (vec![1i32, 2, 3], vec![0i32; 3]);
        let result = ctx.batch(|batch| {
            double(&ctx, batch, &data, &mut out)?;
            divide(&ctx)
        });
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ContextLost, "{error}");
        assert_eq!(out, [2, 4, 6]);
        data.fill(77);
        out.fill(77);
        // Waits for the work of the whole device on hip.
        let other = Context::new(library, &Config::new()).unwrap();
        other
            .batch(|batch| double(&other, batch, &data, &mut out))
            .unwrap();
        assert_eq!(out, [154; 3]);
    });
}

/// The outcome of a batch with uploads, a call and downloads on a device that fails at some point.
fn outcome(library: &Library) -> Result<()> {
    let ctx = Context::new(library, &Config::new())?;
    let (mut data, mut out) = (vec![1i32, 2, 3], vec![0i32; 3]);
    let mut batch = |data: &[i32]| -> Result<()> {
        let download = ctx.batch(|batch| {
            double(&ctx, batch, data, &mut out)?;
            batch.to_vec::<i32>(&batch.array(vec![4i32; 50])?)
        })?;
        assert_eq!(
            (&out[..], download.into_vec()?),
            (&[2, 4, 6][..], vec![4; 50])
        );
        Ok(())
    };
    let result = batch(&data);
    // After a failure that the context survives, the next batch works.
    if let Err(error) = &result
        && error.kind() != ErrorKind::ContextLost
    {
        batch(&data).unwrap();
    }
    data.fill(77);
    out.fill(77);
    drop(ctx.sync());
    result
}

/// The first copy is that of the context, the others those of the batch.
#[test]
fn a_failing_copy_fails_its_batch() {
    needed!(support::needs::full());
    for n in 2..=5 {
        on_the_device(&format!("delayed,fail-copy={n}"), |library| {
            let result = outcome(library);
            // The copy has failed before the context of hip starts.
            if library.backend() == Backend::Cuda {
                assert_eq!(result.unwrap_err().kind(), ErrorKind::Backend);
            }
        });
        if support::is_inside() {
            return;
        }
    }
}

/// The device is broken when the batch ends, so the driver cannot wait.
#[test]
fn a_broken_device_fails_its_batch() {
    needed!(support::needs::full());
    on_the_device("delayed", |library| {
        let ctx = Context::new(library, &Config::new()).unwrap();
        let (mut data, mut out) = (vec![1i32, 2, 3], vec![0i32; 3]);
        let mut download = None;
        let result = ctx.batch(|batch| {
            double(&ctx, batch, &data, &mut out)?;
            let xs = batch.array(vec![4i32; 50])?;
            download = Some(batch.to_vec::<i32>(&xs)?);
            let (xs, far) = (Value::from(xs), Value::from(1i64 << 40));
            ctx.call("at", vec![Arg::Borrow(&xs), Arg::Borrow(&far)])
        });
        assert_eq!(result.unwrap_err().kind(), ErrorKind::ContextLost);
        let download = download.unwrap().into_vec();
        assert_eq!(download.unwrap_err().kind(), ErrorKind::InvalidArgument);
        data.fill(77);
        out.fill(77);
        let error = ctx.batch(|batch| double(&ctx, batch, &data, &mut out));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::ContextLost);
        drop(ctx);
        assert_eq!(out, [77; 3]);
    });
}
