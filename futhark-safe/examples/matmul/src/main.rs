//! Multiplies matrices of the crate `ndarray` with a Futhark program on two backends and with `ndarray` itself, checks that
//! the products are equal, and prints a table of times. `ndarray` is faster on processors: it has kernels written for them.
//!
//! ```text
//! cargo run --release -p futhark-example-matmul -- [SIZE...]
//! ```
#![forbid(unsafe_code)]

use std::error::Error;
use std::time::Instant;

use ndarray::Array2;

futhark_safe::include_program!(matmul);

fn product(
    ctx: &matmul::Context,
    a: &Array2<f64>,
    b: &Array2<f64>,
) -> futhark_safe::Result<Array2<f64>> {
    let (a, b) = (ctx.array_from_ndarray(a)?, ctx.array_from_ndarray(b)?);
    ctx.entry().product(&a, &b)?.to_ndarray()
}

/// Calls `compute` three times. Returns the result and the milliseconds of the fastest call.
fn measure<T>(compute: impl Fn() -> T) -> (T, f64) {
    let run = || {
        let start = Instant::now();
        let result = compute();
        (result, start.elapsed().as_secs_f64() * 1e3)
    };
    let runs = [run(), run(), run()];
    runs.into_iter()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .expect("there are three")
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes = Vec::new();
    for argument in std::env::args().skip(1) {
        sizes.push(argument.parse::<usize>()?);
    }
    if sizes.is_empty() {
        sizes = vec![64, 256, 512];
    }
    // One context for each backend of build.rs.
    let mut contexts = Vec::new();
    for backend in matmul::Context::backends()? {
        contexts.push(matmul::Context::new(
            &matmul::Config::new().backend(backend),
        )?);
    }
    print!("{:>6} {:>12}", "size", "ndarray");
    for ctx in &contexts {
        print!(" {:>12}", ctx.backend().as_str());
    }
    println!("   milliseconds, with transfers");
    for n in sizes {
        // Small integers: sums are exact in any order, so that all products are equal.
        let a = Array2::from_shape_fn((n, n + 1), |(i, j)| ((3 * i + 5 * j) % 17) as f64 - 8.0);
        let b = Array2::from_shape_fn((n + 1, n), |(i, j)| ((7 * i + 2 * j) % 13) as f64 - 6.0);
        let (expected, time) = measure(|| a.dot(&b));
        print!("{n:6} {time:12.2}");
        for ctx in &contexts {
            let (found, time) = measure(|| product(ctx, &a, &b));
            if found? != expected {
                return Err(format!("{}: another product of size {n}", ctx.backend()).into());
            }
            print!(" {time:12.2}");
        }
        println!("   equal");
    }
    Ok(())
}
