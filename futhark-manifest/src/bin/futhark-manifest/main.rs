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

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

/// How a run ended, beside having done what it was asked.
enum Failure {
    /// Something was found, and told: code 1.
    Found,
    /// What was asked for makes no sense: code 2.
    Usage(&'static str),
    /// A manifest was unusable, and that was told: code 3.
    Unusable,
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
    // For people. What machines read must not lose a byte on the way.
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
