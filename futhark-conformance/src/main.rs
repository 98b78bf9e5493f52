//! The `futhark-conformance` program.

#![forbid(unsafe_code)]

use clap::Parser;
use futhark_conformance::cli::Cli;
use futhark_conformance::report::shown_lines;
use futhark_conformance::run::{Ended, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Cli::parse().command) {
        Ok(exit) => exit.into(),
        Err(Ended(exit, error)) => {
            eprintln!("error: {}", shown_lines(&format!("{error:#}"), ""));
            exit.into()
        }
    }
}
