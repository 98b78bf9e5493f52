//! Compiles the programs of the tests.

#[path = "../newer/mod.rs"]
mod newer;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use futhark_safe::{Backend, build::Program};

const ALL: [Backend; 3] = [Backend::C, Backend::Multicore, Backend::OpenCl];
const HOST: [Backend; 2] = [Backend::C, Backend::Multicore];
/// For programs with opaque types. Their operations differ between backends only in pending work:
/// c completes it in the call, opencl later.
const TYPES: [Backend; 2] = [Backend::C, Backend::OpenCl];

fn main() {
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
    let mut programs: Vec<Program> = types.iter().map(|name| program(name, &TYPES)).collect();
    programs.extend(["arrays", "opaques", "stored"].map(|name| program(name, &ALL)));
    programs.extend(["first", "twin"].map(|name| program(name, &HOST)));
    programs.push(program("names", &[Backend::C]));
    // As users compile it: jumps out of optimised code are tested, too.
    programs.push(Program::new("programs/basics.fut").backends(ALL));
    // Before the imitated compiler, which needs a real one: its error says how to install one.
    compile(programs);

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
            .compile();
    }
}

/// Optimising takes the C compiler five times as long as everything else.
fn program(name: &str, backends: &[Backend]) -> Program {
    Program::new(format!("programs/{name}.fut"))
        .backends(backends.iter().copied())
        .flag("-O0")
}

/// Compiles as many programs at a time as Cargo runs jobs.
fn compile(programs: Vec<Program>) {
    let jobs = std::env::var("NUM_JOBS").map_or(1, |jobs| jobs.parse().unwrap_or(1));
    let queue = Mutex::new(programs);
    let next = || queue.lock().expect("no thread panics").pop();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(program) = next() {
                    program.compile();
                }
            });
        }
    });
}
