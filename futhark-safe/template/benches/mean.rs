use criterion::{Criterion, criterion_group, criterion_main};
use my_crate::stats::{Config, Context};

fn mean(criterion: &mut Criterion) {
    let ctx = Context::new(&Config::new()).expect("a backend works");
    let xs = ctx.array(&vec![1.0f32; 1 << 20]).expect("there is memory");
    criterion.bench_function("mean of 1 Mi f32", |bencher| {
        bencher.iter(|| ctx.entry().mean(&xs).expect("the call succeeds"));
    });
}

criterion_group!(benches, mean);
criterion_main!(benches);
