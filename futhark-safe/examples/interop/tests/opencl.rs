//! Runs `interop-opencl`, on Oclgrind if `.toolchain/env.sh` is sourced.

mod support;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

fn binary() -> Command {
    Command::new(env!("CARGO_BIN_EXE_interop-opencl"))
}

/// The output, unless the machine has no OpenCL: `futhark-safe` lists the devices first.
fn run(command: &mut Command) -> Option<String> {
    let output = support::run(command);
    match output {
        Err(why)
            if why.contains("cannot load libOpenCL")
                || why.contains("no OpenCL platform was found") =>
        {
            support::or_skip(Err(why))
        }
        other => Some(other.unwrap()),
    }
}

/// The lines without the names of the library and the device.
fn lines(output: &str) -> Vec<&str> {
    output
        .lines()
        .map(|line| line.split(", on ").next().unwrap())
        .filter(|line| !line.starts_with("OpenCL library of both: "))
        .collect()
}

const EXCHANGE: [&str; 4] = [
    "  opencl3 uploaded 1000 numbers, Futhark borrows the buffer",
    "  Futhark computed prefix sums, opencl3 retains the buffer: 2 references",
    "  opencl3 ran a kernel on them: 1000 results, the last one is 4004001",
    "  after the arrays: 1 reference to the uploaded buffer",
];
const FUTHARK_FIRST: &str =
    "  Futhark ended first: 2 references to the queue, then 1; opencl3 computes [9]";
const OPENCL3_FIRST: &str =
    "  opencl3 ended first: 2 references to the queue, then 1; Futhark computes [1, 3, 6]";

#[test]
fn opencl3_and_futhark_share_a_queue_and_buffers() {
    let Some(output) = run(&mut binary()) else {
        return;
    };
    let mut wanted = Vec::new();
    for owner in ["a queue of opencl3", "a queue of Futhark"] {
        for end in [FUTHARK_FIRST, OPENCL3_FIRST] {
            wanted.push(owner);
            wanted.extend(EXCHANGE);
            wanted.push(end);
        }
    }
    assert_eq!(lines(&output), wanted);
}

#[test]
fn opencl3_loads_the_library_of_futhark() {
    // Not an OpenCL library.
    let mut command = binary();
    command.env("OPENCL_DYLIB_PATH", std::env::current_exe().unwrap());
    let Some(output) = run(&mut command) else {
        return;
    };
    assert!(output.contains("OpenCL library of both: "), "{output}");
}

/// Oclgrind is an OpenCL library of its own. opencl3 cannot load it from a path with a `;`, and loads its
/// default library instead.
#[test]
fn two_opencl_libraries_are_an_error() {
    let Some(folder) = oclgrind() else { return };
    let links = tempfile::tempdir().unwrap();
    let odd = links.path().join("a;b");
    std::fs::create_dir(&odd).unwrap();
    let library = odd.join("liboclgrind-rt.so");
    symlink(folder.join("liboclgrind-rt.so"), &library).unwrap();
    let mut command = binary();
    command.env("FUTHARK_LIBOPENCL", &library);
    command.env("LD_LIBRARY_PATH", &folder);
    command.env("OCL_ICD_VENDORS", folder.join("liboclgrind-rt-icd.so"));
    let error = support::run(&mut command).unwrap_err();
    assert!(
        error.contains("expected one OpenCL library, got"),
        "{error}"
    );
}

/// The folder of Oclgrind and its loader, in the private toolchain.
fn oclgrind() -> Option<PathBuf> {
    let why = "no Oclgrind; run ci/setup and source .toolchain/env.sh";
    let found = std::env::var_os("FUTHARK_TOOLCHAIN")
        .map(|root| Path::new(&root).join("opencl/lib"))
        .filter(|folder| folder.join("liboclgrind-rt.so").is_file());
    support::or_skip(found.ok_or_else(|| why.to_owned()))
}
