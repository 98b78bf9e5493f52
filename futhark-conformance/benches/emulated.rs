//! The cost of the emulated device beside backend c: creating a context, and programs that take the
//! amount of work as an argument.
//!
//! `cargo bench -p futhark-conformance --bench emulated` prints the shortest of ten times, and its ratio
//! to c. It needs a Futhark compiler, a C compiler and a C++ compiler. It measures processor time, so
//! that other processes of the machine do not count.

#![forbid(unsafe_code)]

use futhark_conformance::emulated::Emulated;
use futhark_safe::compile::Build;
use futhark_safe::dynamic::{Arg, Context, Library, Value};
use futhark_safe::{Backend, Config};
use rustix::time::{ClockId, clock_gettime};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set in a process that uses the emulated drivers.
const INSIDE: &str = "FUTHARK_BENCH_INSIDE";

fn main() {
    if std::env::var_os(INSIDE).is_none() {
        return measure_with_the_device();
    }
    measure("context of nbody", |backend| {
        let library = build("nbody", backend);
        Box::new(move || drop(Context::new(&library, &Config::new()).expect("a context")))
    });
    let works: [(&str, &str, Vec<Value>); 5] = [
        ("random_numbers", "near_pi", vec![20_000_000i64.into()]),
        ("black_scholes", "book_value", vec![2_000_000i64.into()]),
        ("mandelbrot", "area", vec![800i64.into(), 400i32.into()]),
        ("kmeans", "corners", vec![200_000i64.into()]),
        (
            "nbody",
            "conserves",
            vec![400i64.into(), 0.001f64.into(), 20i32.into()],
        ),
    ];
    for (program, entry, arguments) in &works {
        measure(program, |backend| {
            let library = build(program, backend);
            let context = Context::new(&library, &Config::new()).expect("a context");
            Box::new(move || {
                let arguments = arguments.iter().map(Arg::Borrow).collect();
                context.call(entry, arguments).expect("a result");
                context.sync().expect("it is done");
            })
        });
    }
}

/// Runs the benchmark again in a process whose environment names the emulated drivers.
fn measure_with_the_device() {
    let emulated = Emulated::build(&kept()).expect("a C++ compiler");
    let status = Command::new(std::env::current_exe().expect("this program has a path"))
        .envs(emulated.environment("flags=-O1"))
        .env(INSIDE, "1")
        .status()
        .expect("this program can be run again");
    assert!(status.success(), "{status}");
}

/// Prints the shortest time of some work on each backend. The first run, which compiles the kernels, does not count.
fn measure<'a>(name: &str, work: impl Fn(Backend) -> Box<dyn FnMut() + 'a>) {
    print!("{name:18}");
    let mut first = None;
    for backend in [Backend::C, Backend::Cuda, Backend::Hip] {
        let mut work = work(backend);
        work();
        let times = (0..10).map(|_| {
            let begun = processor_time();
            work();
            processor_time() - begun
        });
        let least = times.fold(f64::INFINITY, f64::min);
        let ratio = least / *first.get_or_insert(least);
        print!(" {backend} {:.2} ms ({ratio:.1})", least * 1e3);
    }
    println!();
}

/// Builds a program with optimisation, as for users.
fn build(program: &str, backend: Backend) -> Library {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/workloads");
    let source = programs.join(program).with_extension("fut");
    let build = Build::new(source, backend).out_dir(kept().join("bench"));
    Library::build(&build).expect("the program compiles")
}

/// The build folder.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated")
}

/// Seconds of all threads of this process.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
