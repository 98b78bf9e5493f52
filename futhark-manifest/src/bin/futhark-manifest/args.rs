//! What can be said on the command line.

use clap::{Parser, Subcommand, ValueEnum};
use futhark_manifest::Backend;
use futhark_manifest::diff::Impact;

use crate::input::File;

/// Reads, checks, explains and compares the manifests of compiled Futhark programs.
///
/// A manifest is the file prog.json that `futhark BACKEND --library prog.fut` writes beside prog.c.
#[derive(Parser)]
#[command(
    name = "futhark-manifest",
    version,
    after_help = "FILE is a manifest, or - for standard input.\n\n\
                  Exit codes: 0 all is well, 1 something was found (by check an invalid manifest, by diff a \
                  breaking change), 2 wrong usage, 3 a file could not be read or is no manifest."
)]
pub(crate) struct Args {
    /// When to use colours; auto honours NO_COLOR.
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true)]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Checks manifests: their form, how their parts fit together, and their headers.
    Check(Check),
    /// Shows a program: entry points and types, as a person writes them.
    Show {
        /// The manifest.
        #[arg(default_value = "-")]
        file: File,
    },
    /// Prints the C prototype of every function.
    Prototypes(Prototypes),
    /// Prints the resolved form as JSON, for generators of bindings.
    ///
    /// Every reference is resolved, and every C function comes with its prototype, with the roles of its
    /// parameters and who owns what. The format is versioned; the documentation of `Program::to_json` in
    /// the crate futhark-manifest describes it.
    Resolve {
        /// The manifest.
        #[arg(default_value = "-")]
        file: File,
    },
    /// Compares two manifests as APIs: what breaks, what is new, what only looks different.
    Diff(Diff),
    /// Prints the JSON Schema (2020-12) of manifests.
    Schema,
}

#[derive(clap::Args)]
pub(crate) struct Check {
    /// The manifests.
    #[arg(default_value = "-")]
    pub(crate) files: Vec<File>,
    /// How deep to look; each depth includes the ones before. Without it, as deep as there are files.
    #[arg(long, value_enum)]
    pub(crate) depth: Option<Depth>,
    /// The header to compare with, for one manifest. Without it, prog.h beside prog.json is taken where
    /// it is there.
    #[arg(long, value_name = "FILE")]
    pub(crate) header: Option<File>,
    /// Warnings count as errors.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Findings as JSON, one object a line, then a summary of each file.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Depth {
    /// The form alone, by the JSON Schema.
    Schema,
    /// Also how the parts fit together.
    Semantics,
    /// Also whether the header declares what follows from the manifest.
    Header,
}

#[derive(clap::Args)]
pub(crate) struct Prototypes {
    /// The manifest.
    #[arg(default_value = "-")]
    pub(crate) file: File,
    /// As they would be for this backend; that of the manifest otherwise.
    #[arg(long)]
    pub(crate) backend: Option<Backend>,
    /// Also the functions that no manifest lists: configuration, contexts, tuning, profiling.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(clap::Args)]
pub(crate) struct Diff {
    /// What users have.
    pub(crate) old: File,
    /// What they get.
    pub(crate) new: File,
    /// The least impact that makes the exit code 1.
    #[arg(long, value_enum, default_value_t = FailOn::Breaking, value_name = "SEVERITY")]
    pub(crate) fail_on: FailOn,
    /// The least impact that is printed.
    #[arg(long, value_enum, default_value_t = Least::Cosmetic, value_name = "SEVERITY")]
    pub(crate) least: Least,
    /// Changes as JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Least {
    Cosmetic,
    Compatible,
    Breaking,
}

impl Least {
    pub(crate) fn impact(self) -> Impact {
        match self {
            Least::Cosmetic => Impact::Cosmetic,
            Least::Compatible => Impact::Compatible,
            Least::Breaking => Impact::Breaking,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Cosmetic,
    Compatible,
    Breaking,
    Never,
}

impl FailOn {
    /// Whether a comparison with that verdict fails.
    pub(crate) fn fails(self, verdict: Option<Impact>) -> bool {
        let least = match self {
            FailOn::Cosmetic => Impact::Cosmetic,
            FailOn::Compatible => Impact::Compatible,
            FailOn::Breaking => Impact::Breaking,
            FailOn::Never => return false,
        };
        verdict.is_some_and(|verdict| verdict >= least)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal.
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
