//! The `futhark-conformance` program.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    futhark_conformance::main()
}
