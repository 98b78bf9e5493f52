//! The command layer: manifests on the command line, for people and for CI.
//!
//! Each subcommand is a module; `input` reads files, `say` writes to people.

mod args;
mod check;
mod diff;
mod input;
mod prototypes;
mod say;
mod show;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

/// How a run ended, beside having done what it was asked.
enum Failure {
    /// Something was found, and told: code 1.
    Found,
    /// What was asked for makes no sense: code 2.
    Usage(&'static str),
    /// Something could not be read or written: code 3.
    Io(String),
    /// Whoever reads has read enough, as in `futhark-manifest show | head`.
    Closed,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::Io(error.to_string()),
        }
    }
}

fn main() -> ExitCode {
    // Wrong usage ends here, with clap's code 2.
    let args = Args::parse();
    args.color.as_clap().write_global();
    let done = run(args.command).and_then(|()| Ok(io::stdout().flush()?));
    match done {
        Ok(()) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Found) => ExitCode::from(1),
        Err(Failure::Usage(message)) => {
            say::error(message);
            ExitCode::from(2)
        }
        Err(Failure::Io(message)) => {
            say::error(&message);
            ExitCode::from(3)
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match command {
        Command::Check(args) => check::run(&args, &mut out),
        Command::Show { file } => show::run(&file, &mut out),
        Command::Prototypes(args) => prototypes::run(&args, &mut out),
        Command::Resolve { file } => resolve(&file, &mut out),
        Command::Diff(args) => diff::run(&args, &mut out),
        Command::Schema => Ok(write!(out, "{}", futhark_manifest::schema::SCHEMA)?),
    }
}

fn resolve(file: &input::File, out: &mut impl Write) -> Result<(), Failure> {
    let program = input::Text::read(file)?.program()?;
    serde_json::to_writer_pretty(&mut *out, &program.to_json()).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}
