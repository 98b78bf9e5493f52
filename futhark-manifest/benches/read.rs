//! The throughput of reading and checking manifests, in bytes of text.
//!
//! `cargo bench -p futhark-manifest --all-features` measures generated manifests (two minutes), `-- 10000/`
//! only the one of that size. Each size has
//!
//! - `value`: serde_json reads the text into a `Value`, for comparison;
//! - `parse`: [`Manifest::parse`];
//! - `resolve`: the same, and then [`Manifest::into_program`];
//! - `schema`: [`schema::validate`] of a `Value` that was read before.

#[path = "../tests/suite/made.rs"]
mod made;

use std::hint::black_box;

use criterion::{Criterion, SamplingMode, Throughput};
use futhark_manifest::{Manifest, schema};
use serde_json::Value;

/// The numbers of types of generated manifests.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for size in SIZES {
        measure(&mut criterion, &size.to_string(), &made::manifest(size));
    }
    criterion.final_summary();
}

fn measure(criterion: &mut Criterion, name: &str, text: &str) {
    let value: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(schema::validate(&value), Ok(()), "{name}");
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(text.len() as u64));
    // The biggest takes seconds; ten runs of it are enough.
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.bench_function("value", |b| {
        b.iter(|| serde_json::from_str::<Value>(black_box(text)).unwrap());
    });
    group.bench_function("parse", |b| {
        b.iter(|| Manifest::parse(black_box(text)).unwrap());
    });
    group.bench_function("resolve", |b| {
        let read = |text| Manifest::parse(text).and_then(Manifest::into_program);
        b.iter(|| read(black_box(text)).unwrap());
    });
    group.bench_function("schema", |b| {
        b.iter(|| schema::validate(black_box(&value)).unwrap());
    });
    group.finish();
}
