//! Threads that share a context, for some seconds:
//! `cargo run -p futhark-safe-typed-tests --example stress -- multicore 8 60`.

use std::time::{Duration, Instant};

use futhark_safe::Config;
use futhark_safe_typed_tests::{basics, stress};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let backend = args.next().unwrap_or_else(|| "multicore".to_owned());
    let threads = args.next().map_or(Ok(8), |n| n.parse())?;
    let seconds = args.next().map_or(Ok(10), |n| n.parse())?;
    let ctx = basics::Context::new(&Config::new().backend(backend.parse()?))?;
    let start = Instant::now();
    let counts = stress::run(&ctx, threads, 1, start + Duration::from_secs(seconds))?;
    println!(
        "{backend}, {threads} threads, {:.1} s: {counts:?}",
        start.elapsed().as_secs_f64()
    );
    println!("memory in use: {:?}", ctx.memory()?);
    Ok(())
}
