//! The workloads in each variant, and the time of the C compiler for them.

use std::hint::black_box;

use futhark_safe::Backend;
use futhark_safe_benches::builds::{Variant as Build, compile_seconds};
use futhark_safe_benches::page::{Budget, Row, Section, Times};
use futhark_safe_benches::workloads::WORKLOADS;

use crate::alternate::{Bench, variant};

const TEXT: &str = "Plain C is the unmodified generated C, compiled as `futhark c` and `futhark multicore` do. Other columns: \
                    times plain C; the budget is that of the default build.";
const COMPILER: &str =
    "Processor time of gcc for the plain file, and how many times that for the default build.";

/// The sections of the page, without those that a filter leaves out.
pub fn measure(bench: &mut Bench) -> Vec<Section> {
    let mut builds = vec![
        Build::Plain,
        Build::Default,
        Build::Unhardened,
        Build::Library,
    ];
    let multicore = kernels(bench, Backend::Multicore, &builds);
    builds.push(Build::Native);
    let mut sections = vec![kernels(bench, Backend::C, &builds), multicore];
    let is_all = |section: &Section| section.rows.len() == WORKLOADS.len();
    if sections.iter().all(is_all) {
        sections.push(Section {
            title: "The C compiler".to_owned(),
            text: COMPILER,
            rows: compile_times(),
        });
    }
    sections
}

fn kernels(bench: &mut Bench, backend: Backend, builds: &[Build]) -> Section {
    for workload in &WORKLOADS {
        bench.alternate(backend, workload.name, Budget::Ratio(1.05), || {
            let variants = builds.iter().map(|&build| {
                let kernel = workload.kernel(backend, build);
                variant(build.name(), move || kernel(black_box(workload.size)))
            });
            variants.collect()
        });
    }
    Section {
        title: format!("Kernels on {backend}"),
        text: TEXT,
        rows: std::mem::take(&mut bench.rows),
    }
}

fn compile_times() -> Vec<Row> {
    let mut rows = Vec::new();
    for workload in &WORKLOADS {
        for backend in [Backend::C, Backend::Multicore] {
            let samples = [(); 3].map(|()| compile_seconds(&workload.source(), backend));
            let times = |variant: usize| {
                let samples = samples.map(|sample| 1e9 * sample[variant]);
                Times::of(samples.to_vec())
            };
            rows.push(Row {
                name: format!("{} on {backend}", workload.name),
                budget: Budget::Ratio(1.5),
                variants: vec![
                    (Build::Plain.name(), times(0)),
                    (Build::Default.name(), times(1)),
                ],
            });
        }
    }
    rows
}
