//! What is counted.

use std::hint::black_box;

use futhark_safe::{Backend, Config};
use futhark_safe_benches::{bench, plain};

/// Backend and operation, without spaces.
pub const OPERATIONS: [&str; 5] = [
    "c/call",
    "c/call-with-array",
    "c/upload-1-Ki",
    "c/download-1-Ki",
    "multicore/call",
];

/// Plain C, the typed interface, and the typed interface in `Context::exclusive`.
pub const VARIANTS: [&str; 3] = ["plain", "typed", "scope"];

/// Elements per transfer.
const N: usize = 1 << 10;

/// Runs an operation, such as "c/call/typed".
pub fn run(name: &str, times: u64) {
    let (operation, variant) = name.rsplit_once('/').expect("a variant");
    let (backend, operation) = operation.split_once('/').expect("a backend");
    match (backend, variant) {
        ("c", "plain") => plain_c(operation, times),
        ("multicore", "plain") => plain_multicore(operation, times),
        (backend, _) => {
            let backend: Backend = backend.parse().expect("a backend");
            let config = Config::new().backend(backend);
            let ctx = bench::Context::new(&config).expect("a context");
            match variant {
                "scope" => ctx.exclusive(|| typed(&ctx, operation, times)),
                _ => typed(&ctx, operation, times),
            }
        }
    }
}

fn typed(ctx: &bench::Context, operation: &str, times: u64) {
    let data = vec![1.0f32; N];
    let mut to = vec![0.0f32; N];
    let xs = ctx.array(&data).expect("an array");
    match operation {
        "call" => repeat(times, || {
            ctx.entry().add(black_box(1), black_box(2)).expect("a sum")
        }),
        "call-with-array" => repeat(times, || {
            ctx.entry().first(black_box(&xs)).expect("a number")
        }),
        "upload-1-Ki" => repeat(times, || {
            drop(ctx.array(black_box(&data)).expect("an array"))
        }),
        _ => repeat(times, || {
            xs.read_into(black_box(&mut to)).expect("elements")
        }),
    }
}

macro_rules! plain {
    ($name:ident, $module:ident) => {
        fn $name(operation: &str, times: u64) {
            let ctx = plain::$module::Context::new();
            let data = vec![1.0f32; N];
            let mut to = vec![0.0f32; N];
            let xs = ctx.array(&data);
            match operation {
                "call" => repeat(times, || {
                    ctx.add(black_box(1), black_box(2)).expect("a sum")
                }),
                "call-with-array" => repeat(times, || xs.first().expect("a number")),
                "upload-1-Ki" => repeat(times, || drop(ctx.array(black_box(&data)))),
                _ => repeat(times, || {
                    xs.read_into(black_box(&mut to)).expect("elements")
                }),
            }
        }
    };
}

plain!(plain_c, c);
plain!(plain_multicore, multicore);

fn repeat<R>(times: u64, mut call: impl FnMut() -> R) {
    for _ in 0..times {
        black_box(call());
    }
}
