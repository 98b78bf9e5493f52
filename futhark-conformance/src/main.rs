//! The `futhark-conformance` program: `main` in `src/run/mod.rs`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    futhark_conformance::main()
}
