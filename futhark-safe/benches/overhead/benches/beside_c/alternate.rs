//! Measures the variants of one operation in alternation, so that other work of the machine concerns all.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode};
use futhark_safe::Backend;
use futhark_safe_benches::page::{Budget, Row, Times};

/// Calls of a short operation are timed together, for about this long.
const BLOCK: Duration = Duration::from_micros(100);

/// Runs an operation a number of times.
pub type Repeat<'a> = Box<dyn FnMut(u64) + 'a>;

/// A way to do the operation; the first of a row is plain C.
pub struct Variant<'a> {
    pub name: &'static str,
    pub repeat: Repeat<'a>,
}

/// Criterion, and what was measured: its own numbers are those of the second variant.
pub struct Bench {
    criterion: Criterion,
    pub rows: Vec<Row>,
}

impl Bench {
    pub fn new() -> Bench {
        let criterion = Criterion::default()
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_millis(1500))
            .sample_size(20)
            .configure_from_args();
        Bench {
            criterion,
            rows: Vec::new(),
        }
    }

    /// Measures what `make` returns, unless a filter of the command line leaves it out.
    pub fn alternate<'a>(
        &mut self,
        backend: Backend,
        name: &str,
        budget: Budget,
        make: impl Fn() -> Vec<Variant<'a>>,
    ) {
        let mut variants = Vec::new();
        let mut samples: Vec<Vec<f64>> = Vec::new();
        let mut least = f64::INFINITY;
        let mut group = self.criterion.benchmark_group(format!("{backend}: {name}"));
        group.sampling_mode(SamplingMode::Flat);
        group.bench_function("alternate", |bencher| {
            if variants.is_empty() {
                variants = make();
                samples = vec![Vec::new(); variants.len()];
            }
            bencher.iter_custom(|times| {
                let (mut left, mut ours) = (times, Duration::ZERO);
                while left > 0 {
                    let block = (BLOCK.as_nanos() as f64 / least) as u64;
                    let block = block.clamp(1, left);
                    for (number, variant) in variants.iter_mut().enumerate() {
                        let start = Instant::now();
                        (variant.repeat)(block);
                        let time = start.elapsed();
                        let each = time.as_secs_f64() * 1e9 / block as f64;
                        samples[number].push(each);
                        if number == 1 {
                            ours += time;
                            least = least.min(each);
                        }
                    }
                    left -= block;
                }
                ours
            });
        });
        group.finish();
        if variants.is_empty() {
            return;
        }
        let variants = variants.iter().zip(samples);
        let variants = variants.map(|(variant, samples)| (variant.name, Times::of(samples)));
        self.rows.push(Row {
            name: name.to_owned(),
            budget,
            variants: variants.collect(),
        });
    }
}

/// A variant whose result is dropped within the time.
pub fn variant<'a, R>(name: &'static str, mut call: impl FnMut() -> R + 'a) -> Variant<'a> {
    let repeat = move |times| {
        for _ in 0..times {
            black_box(call());
        }
    };
    Variant {
        name,
        repeat: Box::new(repeat),
    }
}
