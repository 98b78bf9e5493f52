//! The workloads in each variant, and the time of the C compiler for them.

use std::hint::black_box;

use futhark_safe::Backend;
use futhark_safe_benches::builds::{Variant as Build, compile_seconds};
use futhark_safe_benches::page::{Budget, Row, Section, Times};
use futhark_safe_benches::workloads::WORKLOADS;

use crate::alternate::{Bench, variant};

const TEXT: &str = "Plain C is the unmodified generated C, compiled as `futhark c` and `futhark multicore` do. Other columns: \
                    times plain C; the budget of the default build is 1.05 ×.";
const COMPILER: &str =
    "Processor time of gcc; the budget of the default build is 1.5 × that for the plain file.";

/// The sections of the page, without those that a filter leaves out.
pub fn measure(bench: &mut Bench) -> Vec<Section> {
    let section = |title, text, rows| Section { title, text, rows };
    let mut builds = vec![Build::Plain, Build::Default, Build::Unhardened];
    let multicore = kernels(bench, Backend::Multicore, &builds);
    builds.push(Build::Native);
    let c = kernels(bench, Backend::C, &builds);
    let are_all = [&c, &multicore].map(|rows| rows.len() == WORKLOADS.len());
    let mut sections = vec![
        section("Kernels on c", TEXT, c),
        section("Kernels on multicore", TEXT, multicore),
    ];
    if are_all == [true, true] {
        sections.push(section("The C compiler", COMPILER, compile_times()));
    }
    sections.retain(|section| !section.rows.is_empty());
    sections
}

fn kernels(bench: &mut Bench, backend: Backend, builds: &[Build]) -> Vec<Row> {
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
    std::mem::take(&mut bench.rows)
}

fn compile_times() -> Vec<Row> {
    let mut rows = Vec::new();
    for workload in &WORKLOADS {
        for backend in [Backend::C, Backend::Multicore] {
            let samples = [(); 3].map(|()| compile_seconds(&workload.source(), backend));
            let times = |variant: usize| {
                let mut samples = samples.map(|sample| 1e9 * sample[variant]);
                samples.sort_by(f64::total_cmp);
                Times {
                    least: samples[0],
                    median: samples[samples.len() / 2],
                }
            };
            rows.push(Row {
                backend,
                name: format!("{} on {backend}", workload.name),
                elements: 0,
                variants: vec![
                    (Build::Plain.name(), Budget::None, times(0)),
                    (Build::Default.name(), Budget::Ratio(1.5), times(1)),
                ],
            });
        }
    }
    rows
}
