//! The command `futhark-manifest`.
//!
//! Each subcommand is a module; `input` reads files, `say` formats diagnostics.

mod args;
mod check;
mod diff;
mod input;
mod prototypes;
mod say;
mod show;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

/// Why a run did not succeed.
enum Failure {
    /// Errors or breaking changes were found and reported: exit code 1.
    Found,
    /// The arguments contradict each other: exit code 2.
    Usage(&'static str),
    /// A file could not be read, or has no manifest, which was reported: exit code 3.
    Unusable,
    /// Reading or writing failed: exit code 3.
    Io(String),
    /// The reader of standard output closed it, as in `futhark-manifest show | head`.
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
    // For wrong usage clap exits here, with code 2.
    let args = Args::parse();
    args.color.as_anstream().write_global();
    match run(args.command) {
        Ok(()) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Found) => ExitCode::from(1),
        Err(Failure::Usage(message)) => {
            say::error(message);
            ExitCode::from(2)
        }
        Err(Failure::Unusable) => ExitCode::from(3),
        Err(Failure::Io(message)) => {
            say::error(&message);
            ExitCode::from(3)
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    // May strip colours, so output for machines does not go through it.
    let mut out = BufWriter::new(anstream::stdout().lock());
    match command {
        Command::Check(args) => check::run(&args, &mut out)?,
        Command::Show { file } => show::run(&file, &mut out)?,
        Command::Prototypes(args) => prototypes::run(&args, &mut out)?,
        Command::Resolve { file } => return resolve(&file),
        Command::Diff(args) => diff::run(&args, &mut out)?,
        Command::Schema => {
            return Ok(io::stdout().write_all(futhark_manifest::schema::SCHEMA.as_bytes())?);
        }
    }
    Ok(out.flush()?)
}

fn resolve(file: &input::File) -> Result<(), Failure> {
    let program = input::Text::read(file)?.program()?;
    let mut out = BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, &program.document()).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}
