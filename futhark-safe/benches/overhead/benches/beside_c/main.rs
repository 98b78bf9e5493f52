//! Kernels, calls and transfers beside plain C, in one process.
//!
//! `ci/bench` writes BENCHMARKS.md with it. `cargo bench -p futhark-safe-benches --bench beside_c -- "c: upload"`
//! measures the groups with this name and prints the tables of them. It needs Linux and gcc.

mod alternate;
mod calls;
mod kernels;

use std::process::Command;

use alternate::Bench;
use futhark_safe::Backend;
use futhark_safe_benches::builds::Variant;
use futhark_safe_benches::page;
use futhark_safe_benches::plain::Calls;

const BACKENDS: [Backend; 2] = [Backend::C, Backend::Multicore];
/// The argument by which this program only compiles.
const BUILD: &str = "--build-calls";

fn main() {
    if std::env::args().any(|argument| argument == BUILD) {
        for backend in BACKENDS {
            Calls::build(backend, Variant::Plain);
            Calls::build(backend, Variant::Library);
        }
        return;
    }
    // Threads of this crate run compilers. Until a process starts its first thread, locks and allocator of
    // glibc use no atomic operations: calls on backend c are measured before that.
    let program = std::env::current_exe().expect("this program has a path");
    let status = Command::new(program).arg(BUILD).status();
    assert!(status.expect("this program runs again").success());

    let mut bench = Bench::new();
    let calls = BACKENDS.map(|backend| calls::measure(&mut bench, backend));
    let mut sections = kernels::measure(&mut bench);
    sections.extend(calls);
    sections.retain(|section| !section.rows.is_empty());
    let text = page::write(&sections);
    print!("{text}");
    if let Some(file) = std::env::var_os("FUTHARK_BENCH_PAGE") {
        let picture = std::path::Path::new(&file).with_extension("svg");
        std::fs::write(file, text).expect("the file for the tables is writable");
        std::fs::write(picture, page::plot(&sections)).expect("the file for the plot is writable");
    }
}
