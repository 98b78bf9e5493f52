//! The `futhark-conformance` program.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

use clap::Parser;
use futhark_conformance::cli::Cli;
use futhark_conformance::leash::Leash;
use futhark_conformance::report::shown_lines;
use futhark_conformance::run::{Ended, Exit, command};
use futhark_conformance::say;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Cli::parse().command;
    let _leash = arguments.work().map(|_| Leash::hold());
    let exit = command(&arguments).unwrap_or_else(|Ended(exit, error)| {
        let text = format!("{error:#}");
        say::err(format_args!("error: {}\n", shown_lines(&text, "")));
        exit
    });
    match say::finish() {
        Ok(()) => exit.into(),
        Err(error) => {
            say::err(format_args!(
                "error: failed to print the results: {error}\n"
            ));
            Exit::CouldNotRun.into()
        }
    }
}
