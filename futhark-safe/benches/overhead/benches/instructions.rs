//! Instructions of calls and per element of kernels, which do not depend on the load of the machine.
//!
//! `cargo bench -p futhark-safe-benches --bench instructions` runs each operation under callgrind, compares the
//! counts with `instructions.txt`, and fails if one has grown. `FUTHARK_BLESS=1` writes the file. Without
//! valgrind it measures nothing, and says so.
//!
//! Gungraun is not used: it needs a second program of exactly its version, and keeps what it compares with in the
//! build folder, not in the repository.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};

use futhark_safe::{Backend, Config};
use futhark_safe_benches::builds::Variant;
use futhark_safe_benches::calls::Context;
use futhark_safe_benches::plain::Calls;
use futhark_safe_benches::workloads::{WORKLOADS, Workload};

/// Operations on scalars and small arrays. Kernels are "c/LU".
const CALLS: [&str; 5] = [
    "c/call",
    "c/call-with-array",
    "c/upload-1-Ki",
    "c/download-1-Ki",
    "multicore/call",
];
/// How often an operation of `CALLS` runs.
const TIMES: u64 = 500;
/// Elements of a transfer.
const N: usize = 1 << 10;
/// How much a count may exceed the recorded one: this part of it. Another compiler gets more, since it arranges
/// the same code differently.
const SLACK: [f64; 2] = [0.02, 0.25];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--run") {
        run(&arguments[at + 1]);
        return ExitCode::SUCCESS;
    }
    if version("valgrind").is_none() {
        println!("instructions: skipped: valgrind is not installed");
        return ExitCode::SUCCESS;
    }
    // Now, because compilers would be slow under valgrind.
    for backend in [Backend::C, Backend::Multicore] {
        Calls::build(backend, Variant::Plain);
    }
    let mut found = BTreeMap::new();
    for operation in CALLS {
        let count = |variant: &str| count(&format!("{operation}/{variant}")) / TIMES as f64;
        found.insert(
            operation.to_owned(),
            ["plain", "typed"].map(|v| (v, count(v))).to_vec(),
        );
    }
    for workload in &WORKLOADS {
        let operation = format!("c/{}", workload.name.replace(' ', "-"));
        let elements = (workload.elements)(workload.small) as f64;
        let counts = [Variant::Plain, Variant::Default].map(|variant| {
            drop(workload.kernel(Backend::C, variant));
            (
                variant.name(),
                count(&format!("{operation}/{}", variant.name())) / elements,
            )
        });
        found.insert(operation, counts.to_vec());
    }
    judge(&found)
}

/// Counts by operation, then by variant; the first is plain C.
type Counts = BTreeMap<String, Vec<(&'static str, f64)>>;

/// Writes the counts, or compares them with the recorded ones.
fn judge(found: &Counts) -> ExitCode {
    let tools = ["rustc", "cc", "futhark"].map(|tool| version(tool).unwrap_or_default());
    let tools = format!("# tools: {}\n", tools.join("; "));
    let mut text = format!(
        "# Instructions of a call, and per element of a kernel, by\n\
         # `cargo bench -p futhark-safe-benches --bench instructions`.\n{tools}"
    );
    for (operation, counts) in found {
        let counts = counts.iter().map(|(variant, count)| match *count < 100.0 {
            true => format!(" {variant}={count:.2}"),
            false => format!(" {variant}={count:.0}"),
        });
        text += &format!("{operation}{}\n", counts.collect::<String>());
    }
    print!("{text}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.txt");
    if std::env::var_os("FUTHARK_BLESS").is_some() {
        std::fs::write(file, text).expect("instructions.txt is writable");
        return ExitCode::SUCCESS;
    }
    let recorded = std::fs::read_to_string(file).expect("instructions.txt is in the package");
    let slack = SLACK[usize::from(!recorded.contains(&tools))];
    let grown = grown(&recorded, found, slack);
    if grown.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("instructions: {}", grown.join("\n"));
    println!("If this is intended, write the counts: FUTHARK_BLESS=1");
    ExitCode::FAILURE
}

/// A message per count, other than of plain C, that is not recorded or larger than recorded.
fn grown(recorded: &str, found: &Counts, slack: f64) -> Vec<String> {
    let mut grown = Vec::new();
    for (operation, counts) in found {
        let line = recorded
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{operation} ")));
        for (variant, count) in &counts[1..] {
            let words = line.unwrap_or_default().split(' ');
            let recorded = words
                .filter_map(|word| word.strip_prefix(&format!("{variant}=")))
                .next();
            match recorded.map(|number| number.parse::<f64>().expect("a number")) {
                None => grown.push(format!("{operation} {variant}: not in instructions.txt")),
                Some(recorded) if *count > recorded * (1.0 + slack) => {
                    grown.push(format!(
                        "{operation} {variant}: expected {recorded}, got {count:.2}"
                    ));
                }
                Some(_) => {}
            }
        }
    }
    grown
}

/// The instructions of `run_counted` in a process that runs the operation, such as "c/call/typed".
fn count(name: &str) -> f64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=*run_counted*")
        .arg(std::env::current_exe().expect("this program has a path"))
        .args(["--run", name])
        .output()
        .expect("valgrind runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {text}");
    let (_, count) = text
        .rsplit_once("Collected : ")
        .expect("callgrind prints a sum");
    let count = count.split_whitespace().next().unwrap_or_default();
    count.parse().expect("a number")
}

/// The only function that callgrind counts.
#[inline(never)]
fn run_counted(work: &mut dyn FnMut()) {
    work();
}

fn run(name: &str) {
    let (operation, variant) = name.rsplit_once('/').expect("a variant");
    let (backend, operation) = operation.split_once('/').expect("a backend");
    let backend: Backend = backend.parse().expect("a backend");
    let named = |workload: &&Workload| workload.name.replace(' ', "-") == operation;
    if let Some(workload) = WORKLOADS.iter().find(named) {
        let variant = match variant {
            "plain" => Variant::Plain,
            _ => Variant::Default,
        };
        let kernel = workload.kernel(backend, variant);
        return run_counted(&mut || {
            black_box(kernel(workload.small));
        });
    }
    if variant == "plain" {
        return plain(operation, &Calls::open(backend, Variant::Plain));
    }
    let context = Context::new(&Config::new().backend(backend)).expect("a context");
    typed(operation, &context);
}

fn plain(operation: &str, context: &Calls) {
    let mut data = vec![1.0; N];
    let xs = context.array(&data);
    match operation {
        "call" => repeat(|| context.add(black_box(1), black_box(2))),
        "call-with-array" => repeat(|| xs.first()),
        "upload-1-Ki" => repeat(|| context.array(black_box(&data))),
        _ => repeat(|| xs.read_into(black_box(&mut data))),
    }
}

fn typed(operation: &str, context: &Context) {
    let mut data = vec![1.0; N];
    let xs = context.array(&data).expect("an array");
    let entry = context.entry();
    match operation {
        "call" => repeat(|| entry.add(black_box(1), black_box(2)).expect("a sum")),
        "call-with-array" => repeat(|| entry.first(black_box(&xs)).expect("a number")),
        "upload-1-Ki" => repeat(|| context.array(black_box(&data)).expect("an array")),
        _ => repeat(|| xs.read_into(black_box(&mut data)).expect("a download")),
    }
}

fn repeat<R>(mut call: impl FnMut() -> R) {
    run_counted(&mut || {
        for _ in 0..TIMES {
            black_box(call());
        }
    });
}

/// The first line of what `name --version` prints.
fn version(name: &str) -> Option<String> {
    let output = Command::new(name).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(str::to_owned)
}
