//! The same computations through futhark-safe, the compiler's server and futhark-ffi for Python, on backend c.

use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use futhark_safe::{Backend, Config};
use futhark_safe_benches::ways::Context;

use crate::server::{Server, Value};

/// Elements of the array in and out.
const SIZES: [usize; 3] = [1 << 10, 1 << 16, 1 << 20];
/// Bodies, and steps.
const BODIES: (usize, i32) = (128, 10);

/// Measures each way that the environment names: `FUTHARK_BENCH_SERVER` is the server program,
/// `FUTHARK_BENCH_PYTHON` the Python, run in the folder `FUTHARK_BENCH_FOLDER`.
pub fn measure(criterion: &mut Criterion) {
    let context = Context::new(&Config::new().backend(Backend::C)).expect("a context");
    let mut server = std::env::var_os("FUTHARK_BENCH_SERVER").map(Server::start);
    let mut python = std::env::var_os("FUTHARK_BENCH_PYTHON").map(Python::start);

    let mut group = criterion.benchmark_group("ways: a scalar in and out");
    group.bench_function("typed", |b| {
        b.iter(|| context.entry().add(black_box(1), black_box(2)).unwrap());
    });
    let scalar = |ty, bytes| Value {
        ty,
        elements: None,
        bytes,
    };
    let add = [scalar("i32", &[1, 0, 0, 0]), scalar("i32", &[2, 0, 0, 0])];
    if let Some(server) = &mut server {
        let sum = server.run("add", &add);
        assert!(sum.ends_with(&3i32.to_le_bytes()), "{sum:?}");
        group.bench_function("server", |b| b.iter(|| server.run("add", &add)));
        server.keep(&add);
        group.bench_function("server, call alone", |b| b.iter(|| server.call("add")));
        server.free();
    }
    if let Some(python) = &mut python {
        group.bench_function("python", |b| b.iter_custom(|n| python.run("scalar", 0, n)));
    }
    group.finish();

    for n in SIZES {
        let mut group = criterion.benchmark_group("ways: an array in and out");
        let data: Vec<f32> = (0..n).map(|i| i as f32).collect();
        group.bench_function(BenchmarkId::new("typed", n), |b| {
            b.iter(|| {
                let array = context.array(&data).unwrap();
                context.entry().double(&array).unwrap().to_vec().unwrap()
            });
        });
        let bytes = |factor: f32| -> Vec<u8> {
            let elements = data.iter().map(|x| factor * x);
            elements.flat_map(f32::to_le_bytes).collect()
        };
        let xs = [Value {
            ty: "[]f32",
            elements: Some(n),
            bytes: &bytes(1.0),
        }];
        if let Some(server) = &mut server {
            let doubled = server.run("double", &xs);
            assert!(doubled.ends_with(&bytes(2.0)), "the server doubles");
            group.bench_function(BenchmarkId::new("server", n), |b| {
                b.iter(|| server.run("double", &xs));
            });
            server.keep(&xs);
            group.bench_function(BenchmarkId::new("server, call alone", n), |b| {
                b.iter(|| server.call("double"));
            });
            server.free();
        }
        if let Some(python) = &mut python {
            group.bench_function(BenchmarkId::new("python", n), |b| {
                b.iter_custom(|times| python.run("array", n, times));
            });
        }
        group.finish();
    }

    let (n, steps) = BODIES;
    let mut group = criterion.benchmark_group(format!("ways: bodies, {steps} steps of {n}"));
    group.bench_function("typed", |b| {
        b.iter(|| context.entry().bodies(black_box(n as i64), steps).unwrap());
    });
    let (n_bytes, steps_bytes) = ((n as i64).to_le_bytes(), steps.to_le_bytes());
    let bodies = [scalar("i64", &n_bytes), scalar("i32", &steps_bytes)];
    if let Some(server) = &mut server {
        assert!(server.run("bodies", &bodies).ends_with(&[1]));
        group.bench_function("server", |b| b.iter(|| server.run("bodies", &bodies)));
        server.keep(&bodies);
        group.bench_function("server, call alone", |b| b.iter(|| server.call("bodies")));
        server.free();
    }
    if let Some(python) = &mut python {
        group.bench_function("python", |b| {
            b.iter_custom(|times| python.run("bodies", n, times))
        });
    }
    group.finish();
}

/// A process of Python that runs `ways.py`, and measures itself.
struct Python {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Python {
    fn start(program: std::ffi::OsString) -> Python {
        let folder = std::env::var_os("FUTHARK_BENCH_FOLDER")
            .expect("FUTHARK_BENCH_FOLDER is set with Python");
        let mut child = Command::new(program)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/ways.py"))
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let commands = child.stdin.take().expect("stdin is a pipe");
        let answers = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        Python {
            child,
            commands,
            answers,
        }
    }

    fn run(&mut self, computation: &str, size: usize, repetitions: u64) -> Duration {
        writeln!(self.commands, "{computation} {size} {repetitions}").expect("Python runs");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("Python answers");
        Duration::from_nanos(
            answer
                .trim()
                .parse()
                .expect("Python answers a number; its error is above"),
        )
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
