//! Many independent calls from the threads of rayon. Calls of one context run one after the other, so each thread
//! has a context of its own, of backend `c`, which has no threads. Prints a table of times.
//!
//! ```text
//! cargo run --release -p futhark-example-workers -- [THREADS] [SIGNALS]
//! ```
#![forbid(unsafe_code)]

use std::error::Error;
use std::time::Instant;

use futhark_safe::{Backend, Result as CallResult};
use rayon::prelude::*;
use workers::{Config, Context};

futhark_safe::include_program!(workers);

/// A signal with a period between 20 and 79; the length differs, too.
fn signal(number: usize) -> (i64, Vec<f32>) {
    let period = 20 + number * 7 % 60;
    let length = 1000 + number * 131 % 3000;
    let at = |i: usize| (i % period) as f32 / period as f32 + 0.1 * ((i * i) % 17) as f32 / 17.0;
    (period as i64, (0..length).map(at).collect())
}

/// The period that the program finds.
fn period(ctx: &Context, signal: &[f32]) -> CallResult<i64> {
    ctx.entry().period(400, signal)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let threads = numbers.next().unwrap_or(Ok(rayon::current_num_threads()))?;
    let signals = numbers.next().unwrap_or(Ok(1000))?;
    let (expected, signals): (Vec<i64>, Vec<Vec<f32>>) = (0..signals).map(signal).unzip();

    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    let config = Config::new().backend(Backend::C);
    println!("{} signals, {threads} threads", signals.len());
    println!("contexts  seconds  results");
    // Threads can share a context, but with one for each, no call waits for another one.
    for count in [1, threads] {
        let contexts = (0..count)
            .map(|_| Context::new(&config))
            .collect::<CallResult<Vec<_>>>()?;
        let find = |signal: &Vec<f32>| {
            let thread = rayon::current_thread_index().expect("a thread of the pool");
            period(&contexts[thread % count], signal)
        };
        let start = Instant::now();
        let found: Vec<i64> =
            pool.install(|| signals.par_iter().map(find).collect::<CallResult<_>>())?;
        let seconds = start.elapsed().as_secs_f64();
        // Twice the period is as similar as the period, and noise decides.
        let right = |(found, expected): &(&i64, &i64)| *found % *expected == 0;
        let right = found.iter().zip(&expected).filter(right).count();
        if right < found.len() {
            return Err(format!("only {right} of {} periods are right", found.len()).into());
        }
        println!("{count:8} {seconds:8.3}  {right} periods are right");
    }
    Ok(())
}
