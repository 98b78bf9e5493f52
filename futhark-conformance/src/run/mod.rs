//! The subcommands, and the exit codes of the program.
//!
//! ```text
//! commands ─▶ perform ─┬─ plan ─ select           which jobs, in which order
//!                      ├─ resume                  which of them an earlier run has ended
//!                      └─ jobs, expect, report    run, judge, report
//! ```

mod commands;
mod config;
mod perform;
mod plan;
mod resume;
mod select;
mod setup;
mod trials;

pub use perform::run;
pub use trials::test;

use crate::child;
use crate::cli::{Cli, Command};
use crate::harness::limits;
use crate::jobs::{self, Guard};
use crate::report::shown_lines;
use crate::say::{self, errln};
use clap::Parser as _;
use futhark_safe::compile::process;
use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

/// The exit codes of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Every promise held, or failed as expected.
    Held = 0,
    /// Something failed.
    Failed = 1,
    /// An option, a path or a file cannot be used.
    Usage = 2,
    /// Nothing could be run.
    CouldNotRun = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// An error that ends the program, with its exit code.
#[derive(Debug)]
pub struct Ended(pub Exit, pub anyhow::Error);

impl Ended {
    /// Prints the error.
    fn shown(&self) -> Exit {
        let Ended(exit, error) = self;
        errln!("error: {}", shown_lines(&format!("{error:#}"), ""));
        *exit
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.1, f)
    }
}

impl std::error::Error for Ended {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.1.source()
    }
}

fn usage(error: impl Into<anyhow::Error>) -> Ended {
    Ended(Exit::Usage, error.into())
}

fn could_not_run(error: impl Into<anyhow::Error>) -> Ended {
    Ended(Exit::CouldNotRun, error.into())
}

/// The program `futhark-conformance`: runs the subcommand that the arguments of this process name.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = Cli::parse().command;
    let _guard = arguments.work().map(|_| Guard::start());
    let exit = command(&arguments).unwrap_or_else(|ended| ended.shown());
    match say::finish() {
        Ok(()) => exit.into(),
        Err(error) => {
            errln!("error: failed to print the results: {error}");
            Exit::CouldNotRun.into()
        }
    }
}

/// Runs a subcommand.
fn command(command: &Command) -> Result<Exit, Ended> {
    if let Some(work) = command.work() {
        limits::limit_runner(work.memory);
        process::limit_time(Duration::from_secs(work.timeout));
    }
    match command {
        Command::Run(args) => commands::run(args),
        Command::List(args) => commands::list(args),
        Command::Explain { check } => commands::explain(check),
        Command::Report(args) => commands::report(args),
        Command::Diff(args) => commands::diff(args),
        Command::Prepare(args) => commands::prepare(args),
        Command::Devices(args) => commands::devices(args),
        Command::Child => {
            child::main().map_err(usage)?;
            Ok(Exit::Held)
        }
        Command::Guard => {
            jobs::wait_for_end();
            Ok(Exit::Held)
        }
    }
}

/// Does the work of a child process, and ends it, if a run has started this one as such; otherwise
/// returns. A program that calls [`run()`] calls this first in its `main`: the run starts the program
/// again for each job.
pub fn child_process() {
    let command = match std::env::args_os().nth(1) {
        Some(word) if word == child::COMMAND => Command::Child,
        Some(word) if word == jobs::GUARD => Command::Guard,
        _ => return,
    };
    let exit = self::command(&command).unwrap_or_else(|ended| ended.shown());
    std::process::exit(exit as i32);
}
