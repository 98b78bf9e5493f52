//! The command `futhark-manifest`.
//!
//! Each subcommand is a module; `io` reads files and prints findings.

mod check;
mod diff;
mod io;
mod prototypes;
mod show;

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use futhark_manifest::schema;
use io::{Failure, File};

/// Reads, checks, explains and compares the manifests of compiled Futhark programs.
///
/// A manifest is the file prog.json that `futhark BACKEND --library prog.fut` writes beside prog.c.
#[derive(Parser)]
#[command(
    name = "futhark-manifest",
    version,
    after_help = "FILE is a manifest, or - for standard input.\n\n\
                  Exit codes: 0 success, 1 problems were found (check: an invalid manifest, diff: a breaking \
                  change), 2 wrong usage, 3 a file could not be read or, except for check, is not a manifest."
)]
struct Args {
    /// When to use colours; auto respects NO_COLOR.
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true)]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Checks manifests: the schema and consistency.
    Check(check::Args),
    /// Shows a program: its entry points and types in Futhark syntax.
    Show {
        /// The manifest.
        #[arg(default_value = "-")]
        file: File,
    },
    /// Prints the C prototype of every function, or a C file that asserts them.
    Prototypes(prototypes::Args),
    /// Prints the resolved form as JSON, for generators of bindings.
    ///
    /// All references are resolved, and each C function has its prototype, the roles of its parameters and
    /// the ownership of its arguments and results. The format is versioned; `schema --resolved` and the page
    /// docs/resolved.md of the crate futhark-manifest describe it.
    Resolve {
        /// The manifest.
        #[arg(default_value = "-")]
        file: File,
    },
    /// Compares two manifests as APIs: will callers break, and where.
    Diff(diff::Args),
    /// Prints the JSON Schema (2020-12) of manifests, or of the resolved form.
    Schema {
        /// The schema of the JSON that `resolve` prints.
        #[arg(long)]
        resolved: bool,
    },
}

fn main() -> ExitCode {
    // For wrong usage clap exits here, with code 2.
    let args = Args::parse();
    args.color.as_anstream().write_global();
    match run(args.command) {
        Ok(()) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Found) => ExitCode::from(1),
        Err(Failure::Usage(message)) => {
            io::error(message);
            ExitCode::from(2)
        }
        Err(Failure::Unusable) => ExitCode::from(3),
        Err(Failure::Io(message)) => {
            io::error(&message);
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
        Command::Schema { resolved } => {
            let schema = if resolved {
                schema::RESOLVED_SCHEMA
            } else {
                schema::SCHEMA
            };
            return Ok(std::io::stdout().write_all(schema.as_bytes())?);
        }
    }
    Ok(out.flush()?)
}

fn resolve(file: &File) -> Result<(), Failure> {
    let program = io::Text::read(file)?.program()?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, &program.document()).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    /// If the output is a terminal.
    Auto,
    Always,
    Never,
}

impl Color {
    fn as_anstream(self) -> anstream::ColorChoice {
        match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
    }
}
