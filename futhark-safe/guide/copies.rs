//! Measures the ways into and out of an array, for the page "Avoiding copies".
//!
//! `cargo run --release -p futhark-safe-guide-tests --example copies -- c` prints a table in Markdown: the minima of many
//! repetitions, so that other load has little influence.

use std::hint::black_box;
use std::time::{Duration, Instant};

use futhark_safe::{Backend, Config, Result};
use guide::{sim, stats};

const N: usize = 16 << 20;

/// The least time of a repetition. `prepare` is not measured, nor is what `measured` returns dropped within the time.
fn row<P, T>(
    what: &str,
    repetitions: u32,
    mut prepare: impl FnMut() -> Result<P>,
    mut measured: impl FnMut(P) -> Result<T>,
) -> Result<()> {
    let mut least = Duration::MAX;
    for _ in 0..repetitions {
        let argument = prepare()?;
        let start = Instant::now();
        let result = black_box(measured(argument)?);
        least = least.min(start.elapsed());
        drop(result);
    }
    println!("| {what} | {least:.1?} |");
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let backend: Backend = std::env::args().nth(1).as_deref().unwrap_or("c").parse()?;
    let config = Config::new().backend(backend);
    let ctx = stats::Context::new(&config)?;
    println!("{}\n\n| 16 Mi `f32` | time |\n|---|---|", ctx.device()?);
    let none = || Ok(());
    let data = vec![1.0f32; N];
    row("`array(&xs)`", 15, none, |()| ctx.array(&data))?;
    row("a new `Vec`, then `array`", 15, none, |()| {
        let data: Vec<f32> = (0..N).map(|i| i as f32).collect();
        ctx.array(&data)
    })?;
    row("`array_from_fn`", 15, none, |()| {
        ctx.array_from_fn([N], |i| i as f32)
    })?;
    row("`array_from_iter`", 15, none, |()| {
        ctx.array_from_iter((0..N).map(|i| i as f32))
    })?;
    let xs = ctx.array(&data)?;
    row("`to_vec()`", 15, none, |()| xs.to_vec())?;
    let mut buffer = vec![0.0f32; N];
    row("`read_into(&mut buffer)`", 15, none, |()| {
        xs.read_into(&mut buffer)
    })?;
    row("`try_clone()`", 15, none, |()| xs.try_clone())?;
    row("`get(i)`", 1000, none, |()| xs.get(N / 2))?;
    if !backend.is_gpu() {
        row("`view()`", 1000, none, |()| Ok(xs.view().map(<[f32]>::len)))?;
        let (one, to_mut) = (
            || ctx.array(&[1.0f32]),
            "`into_host()`, `to_mut()`, `into_array()`",
        );
        row(to_mut, 1000, one, |xs| {
            let mut host = xs.into_host().expect("a host backend");
            host.to_mut()?[0] = 2.0;
            Ok(host.into_array())
        })?;
    }

    println!("\n| a call that changes one of 1 Mi `f64` in place | time |\n|---|---|");
    let sim = sim::Context::new(&config)?;
    let start = || sim.entry().start(&sim.array(&vec![1.0; 1 << 20])?);
    row("nothing shares the memory", 50, start, |s| {
        sim.entry().kick(s, 1, 1.0)
    })?;
    let shared = || start().and_then(|s| Ok((s.vel()?, s)));
    row("another value shares it", 50, shared, |(vel, s)| {
        Ok((sim.entry().kick(s, 1, 1.0)?, vel))
    })?;

    println!("\n| 64 rounds of upload, call, download of 1 Ki `f32` | time |\n|---|---|");
    let small = vec![1.0f32; 1024];
    let mut out = vec![vec![0.0f32; 1024]; 64];
    row("one by one", 100, none, |()| {
        out.iter_mut()
            .try_for_each(|out| ctx.entry().normalise(ctx.array(&small)?)?.read_into(out))
    })?;
    row("a batch", 100, none, |()| {
        ctx.batch(|batch| {
            out.iter_mut().try_for_each(|out| {
                batch.read_into(&ctx.entry().normalise(batch.array(&small)?)?, out)
            })
        })
    })?;

    println!("\n| | time |\n|---|---|");
    row("`Context::new`", 20, none, |()| {
        stats::Context::new(&config)
    })?;
    Ok(())
}
