//! Runs `interop-opencl`, on Oclgrind if `.toolchain/env.sh` is sourced.

mod support;

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

/// The lines without the name of the device.
fn lines(output: &str) -> Vec<&str> {
    let lines = output.lines();
    lines
        .map(|line| line.split(", on ").next().unwrap())
        .collect()
}

const EXCHANGE: [&str; 4] = [
    "  opencl3 uploaded 1000 numbers, Futhark borrows the buffer",
    "  Futhark computed prefix sums, opencl3 retains the buffer: 2 references",
    "  opencl3 ran a kernel on them: 1000 results, the last one is 4004001",
    "  after the arrays: 1 reference to the uploaded buffer",
];
const ENDS: [(&str, &str); 2] = [
    (
        "a queue of opencl3",
        "  Futhark ended first: opencl3 computes [9]",
    ),
    (
        "a queue of Futhark",
        "  opencl3 ended first: Futhark computes [1, 3, 6]",
    ),
];

#[test]
fn opencl3_and_futhark_share_a_queue_and_buffers() {
    let Some(output) = run(&mut binary()) else {
        return;
    };
    let mut wanted = Vec::new();
    for (owner, end) in ENDS {
        wanted.push(owner);
        wanted.extend(EXCHANGE);
        wanted.push(end);
    }
    assert_eq!(lines(&output), wanted);
}

#[test]
fn opencl3_loads_the_library_of_futhark() {
    // Not an OpenCL library.
    let mut command = binary();
    command.env("OPENCL_DYLIB_PATH", std::env::current_exe().unwrap());
    run(&mut command);
}
