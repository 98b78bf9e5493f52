//! The cost of the emulated device: creating a context, and work that takes a tenth of a second or
//! more on one thread of the host, compared with backend c in the same run.
//!
//! `cargo bench -p futhark-conformance --bench emulated` takes some minutes, and prints a table of
//! ratios at the end; `-- start` or `-- work` runs only that part. It needs a Futhark compiler, a
//! C compiler and a C++ compiler. It measures processor time, including that of compilers that it
//! starts, so that other processes of the machine do not count.

#![forbid(unsafe_code)]

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkId, Criterion};
use futhark_conformance::emulated::Emulated;
use futhark_safe::compile::Build;
use futhark_safe::dynamic::{Arg, Context, Library, Value};
use futhark_safe::{Backend, Config};
use rustix::time::{ClockId, clock_gettime};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The backends; the first is the reference.
const BACKENDS: [Backend; 3] = [Backend::C, Backend::Cuda, Backend::Hip];

fn main() {
    if std::env::var_os(INSIDE).is_none() {
        return measure_with_the_device();
    }
    let mut criterion = Criterion::default()
        .with_measurement(ProcessorTime)
        .sample_size(10)
        .configure_from_args();
    let table = Table::default();
    starts(&mut criterion, &table);
    works(&mut criterion, &table);
    print!("{}", table.text());
}

/// Set in a process that uses the emulated drivers.
const INSIDE: &str = "FUTHARK_BENCH_INSIDE";

/// Runs the benchmark again in a process whose environment names the emulated drivers.
fn measure_with_the_device() {
    let emulated = Emulated::build(&kept()).expect("a C++ compiler");
    let status = Command::new(std::env::current_exe().expect("this program has a path"))
        .args(std::env::args_os().skip(1))
        .envs(emulated.environment(""))
        .env(INSIDE, "1")
        .status()
        .expect("this program can be run again");
    assert!(status.success(), "{status}");
}

/// Measures creating a context, with kernels to compile and with cached kernels.
fn starts(criterion: &mut Criterion<ProcessorTime>, table: &Table) {
    let program = "workloads/nbody.fut";
    for (name, cold) in [
        ("start, kernels are kept", false),
        ("start, kernels to compile", true),
    ] {
        let mut group = criterion.benchmark_group(name);
        for backend in BACKENDS {
            let library = build(program, backend);
            let make = || Context::new(&library, &config(backend, cold)).expect("a context");
            drop(make());
            group.bench_function(BenchmarkId::from_parameter(backend), |bencher| {
                bencher.iter_custom(|times| table.time(name, backend, times, || drop(make())));
            });
        }
        group.finish();
    }
}

/// Settings of a context. An option without effect changes the cache key of the kernels.
fn config(backend: Backend, cold: bool) -> Config {
    static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    if !cold || !backend.is_gpu() {
        return Config::new();
    }
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let process = std::process::id();
    Config::new().build_option(format!("-DBENCH_{process}_{number}=1"))
}

/// Measures programs of the corpus that take the amount of work as an argument.
fn works(criterion: &mut Criterion<ProcessorTime>, table: &Table) {
    let all: [(&str, &str, Vec<Value>); 5] = [
        ("mandelbrot", "area", vec![800i64.into(), 400i32.into()]),
        ("black_scholes", "book_value", vec![2_000_000i64.into()]),
        (
            "nbody",
            "conserves",
            vec![400i64.into(), 0.001f64.into(), 20i32.into()],
        ),
        ("kmeans", "corners", vec![200_000i64.into()]),
        ("random_numbers", "near_pi", vec![20_000_000i64.into()]),
    ];
    for (program, entry, arguments) in all {
        let name = format!("work, {program}");
        let mut group = criterion.benchmark_group(&name);
        for backend in BACKENDS {
            let library = build(&format!("workloads/{program}.fut"), backend);
            let context = Context::new(&library, &Config::new()).expect("a context");
            let call = || {
                let arguments = arguments.iter().map(Arg::Borrow).collect();
                context.call(entry, arguments).expect("a result");
                context.sync().expect("it is done");
            };
            group.bench_function(BenchmarkId::from_parameter(backend), |bencher| {
                bencher.iter_custom(|times| table.time(&name, backend, times, call));
            });
        }
        group.finish();
    }
}

/// Builds a program with optimisation, as for users.
fn build(program: &str, backend: Backend) -> Library {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let build = Build::new(programs.join(program), backend).out_dir(kept().join("bench"));
    Library::build(&build).expect("the program compiles")
}

/// The build folder.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated")
}

/// The shortest time of each benchmark and backend, in seconds.
#[derive(Default)]
struct Table(RefCell<BTreeMap<String, BTreeMap<String, f64>>>);

impl Table {
    fn time(&self, name: &str, backend: Backend, times: u64, mut work: impl FnMut()) -> Duration {
        let begun = ProcessorTime.start();
        (0..times).for_each(|_| work());
        let all = ProcessorTime.end(begun);
        let each = all.as_secs_f64() / times as f64;
        let mut table = self.0.borrow_mut();
        let row = table.entry(name.to_owned()).or_default();
        let least = row.entry(backend.to_string()).or_insert(each);
        *least = least.min(each);
        all
    }

    /// The table: times, and their ratio to the first backend.
    fn text(&self) -> String {
        let mut text = String::new();
        for (name, row) in &*self.0.borrow() {
            let first = row.get(BACKENDS[0].as_str()).copied();
            text += &format!("{name:28}");
            for (backend, seconds) in row {
                let ratio = first.map_or(f64::NAN, |first| seconds / first);
                text += &format!(" {backend} {:.2} ms ({ratio:.1})", seconds * 1e3);
            }
            text.push('\n');
        }
        text
    }
}

/// Processor time of all threads of this process, and of compilers that it has waited for.
struct ProcessorTime;

impl Measurement for ProcessorTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        let here = clock_gettime(ClockId::ProcessCPUTime);
        let seconds = u64::try_from(here.tv_sec).unwrap_or(0);
        let nanoseconds = u32::try_from(here.tv_nsec).unwrap_or(0);
        Duration::new(seconds, nanoseconds) + of_children()
    }

    fn end(&self, begun: Duration) -> Duration {
        self.start().saturating_sub(begun)
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// The time of child processes that were waited for. Linux counts hundredths of a second.
fn of_children() -> Duration {
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Fields 16 and 17. Field 2, in parentheses, may contain spaces, so count after it.
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let ticks = fields
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse::<u32>().ok());
    TICK * ticks.sum::<u32>()
}
