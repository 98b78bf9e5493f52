//! The workloads in each variant.

use std::hint::black_box;

use futhark_safe::Backend;
use futhark_safe_benches::builds::Variant as Build;
use futhark_safe_benches::workloads::WORKLOADS;

use crate::alternate::{Bench, Budget, variant};

pub fn measure(bench: &mut Bench, backend: Backend) {
    let mut builds = vec![Build::Plain, Build::Default, Build::Unhardened];
    if backend == Backend::C {
        builds.push(Build::Native);
    }
    for workload in &WORKLOADS {
        bench.alternate(backend, workload.name, 0, || {
            let variants = builds.iter().map(|&build| {
                let kernel = workload.kernel(backend, build);
                let budget = match build {
                    Build::Default => Budget::Ratio(1.05),
                    _ => Budget::None,
                };
                variant(build.name(), budget, move || {
                    kernel(black_box(workload.size))
                })
            });
            variants.collect()
        });
    }
}
