//! The command line.

use clap::{Parser, Subcommand, ValueEnum};
use futhark_manifest::Backend;

use crate::input::File;

/// Reads, checks, explains and compares the manifests of compiled Futhark programs.
///
/// A manifest is the file prog.json that `futhark BACKEND --library prog.fut` writes beside prog.c.
#[derive(Parser)]
#[command(
    name = "futhark-manifest",
    version,
    after_help = "FILE is a manifest, or - for standard input.\n\n\
                  Exit codes: 0 success, 1 problems were found (check: an invalid manifest, diff: a breaking \
                  change), 2 wrong usage, 3 a file could not be read or is not a manifest."
)]
pub(crate) struct Args {
    /// When to use colours; auto respects NO_COLOR.
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true)]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Checks manifests: the schema and consistency.
    Check(CheckArgs),
    /// Shows a program: its entry points and types in Futhark syntax.
    Show {
        /// The manifest.
        #[arg(default_value = "-")]
        file: File,
    },
    /// Prints the C prototype of every function, or a C file that asserts them.
    Prototypes(PrototypesArgs),
    /// Prints the resolved form as JSON, for generators of bindings.
    ///
    /// All references are resolved, and each C function has its prototype, the roles of its parameters and
    /// the ownership of its arguments and results. The format is versioned and described in the
    /// documentation of `Program::to_json` in the crate futhark-manifest.
    Resolve {
        /// The manifest.
        #[arg(default_value = "-")]
        file: File,
    },
    /// Compares two manifests as APIs: will callers break, and where.
    Diff(DiffArgs),
    /// Prints the JSON Schema (2020-12) of manifests.
    Schema,
}

#[derive(clap::Args)]
pub(crate) struct CheckArgs {
    /// The manifests.
    #[arg(default_value = "-")]
    pub(crate) files: Vec<File>,
    /// What to check; each depth includes the previous one.
    #[arg(long, value_enum, default_value_t = Depth::Semantics)]
    pub(crate) depth: Depth,
    /// Treat warnings as errors.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print findings as JSON, one object per line, and a summary per file.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Depth {
    /// The JSON Schema.
    Schema,
    /// Also the consistency of the parts.
    Semantics,
}

#[derive(clap::Args)]
pub(crate) struct PrototypesArgs {
    /// The manifest.
    #[arg(default_value = "-")]
    pub(crate) file: File,
    /// Print the prototypes for this backend instead of the manifest's.
    #[arg(long)]
    pub(crate) backend: Option<Backend>,
    /// Print a C file that includes the header and asserts the type of every function: it compiles only if
    /// header and manifest agree. HEADER is the name in the #include [default: prog.h for prog.json].
    #[arg(long, value_name = "HEADER", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) assert: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct DiffArgs {
    /// The manifest of the version that users have.
    pub(crate) old: File,
    /// The manifest of the new version.
    pub(crate) new: File,
    /// The lowest impact for which the exit code is 1.
    #[arg(long, value_enum, default_value_t = FailOn::Breaking, value_name = "IMPACT")]
    pub(crate) fail_on: FailOn,
    /// Print changes as JSON, one object per line, and a summary.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Compatible,
    Breaking,
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// If the output is a terminal.
    Auto,
    Always,
    Never,
}

impl Color {
    pub(crate) fn as_anstream(self) -> anstream::ColorChoice {
        match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
    }
}
