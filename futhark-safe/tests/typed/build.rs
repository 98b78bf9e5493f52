//! Compiles the programs of the tests.

#[path = "../newer/mod.rs"]
mod newer;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use futhark_safe::{Backend, Error, build::Program};

const ALL: [Backend; 3] = [Backend::C, Backend::Multicore, Backend::OpenCl];
const HOST: [Backend; 2] = [Backend::C, Backend::Multicore];

/// For programs with opaque types. Their operations differ between backends only in pending work: c completes it in the call,
/// opencl later.
fn backends_of_types() -> Vec<Backend> {
    const FULL: &str = "FUTHARK_TESTS_FULL";
    println!("cargo::rerun-if-env-changed={FULL}");
    match std::env::var_os(FULL) {
        Some(_) => vec![Backend::C, Backend::OpenCl],
        None => vec![Backend::C],
    }
}

fn main() -> Result<(), Error> {
    let backends = backends_of_types();
    let types = [
        "records",
        "tuples",
        "sums",
        "record_arrays",
        "record_consumption",
        "record_nesting",
        "record_matrices",
        "opaque_arrays",
        "opaque_matrices",
    ];
    let types = types
        .iter()
        .map(|name| program(name, &backends).serde(["record_nesting", "sums"].contains(name)));
    let mut programs: Vec<Program> = types.collect();
    programs.extend(["arrays", "state", "stored"].map(|name| program(name, &ALL)));
    programs.extend(["first", "twin"].map(|name| program(name, &HOST)));
    programs.push(program("names", &[Backend::C]));
    // For `tests/linked`.
    println!("cargo::rustc-cfg=linked_programs");
    let linked = ["failures", "growing", "lost_constant"];
    programs.extend(linked.map(|name| program(&format!("../../programs/{name}"), &HOST)));
    // As users compile it: jumps out of optimised code are tested, too.
    programs.push(Program::new("programs/basics.fut").backends(ALL));
    // Before the imitated compiler, which needs a real one: its error says how to install one.
    compile(programs)?;

    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets it"));
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../newer");
    println!("cargo::rerun-if-changed={}", here.display());
    let compiler = out.join("futhark-newer");
    newer::compiler(&here, &compiler);
    for name in ["elements", "unary"] {
        Program::new(here.join(format!("{name}.fut")))
            .futhark(&compiler)
            .backends(ALL)
            .flag("-O0")
            .compile()?;
    }
    Ok(())
}

/// Optimising takes the C compiler five times as long as everything else.
fn program(name: &str, backends: &[Backend]) -> Program {
    Program::new(format!("programs/{name}.fut"))
        .backends(backends.iter().copied())
        .flag("-O0")
}

/// Compiles as many programs at a time as Cargo runs jobs, until one fails.
fn compile(programs: Vec<Program>) -> Result<(), Error> {
    let jobs = std::env::var("NUM_JOBS").map_or(1, |jobs| jobs.parse().unwrap_or(1));
    let queue = Mutex::new(programs);
    let next = || queue.lock().expect("no thread panics").pop();
    std::thread::scope(|scope| {
        let work = || {
            while let Some(program) = next() {
                program.compile()?;
            }
            Ok(())
        };
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let mut results = threads
            .into_iter()
            .map(|t| t.join().expect("no thread panics"));
        results.find(Result::is_err).unwrap_or(Ok(()))
    })
}
