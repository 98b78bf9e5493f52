//! The command `futhark-library`: hardened libraries for bridges from other languages.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use futhark_manifest::{Backend, UnknownBackend};
use futhark_sys::compile::{Build, Library, Linkage, library};

/// Makes a library from a Futhark program, in place of `futhark BACKEND --library` and a C compiler.
///
/// The library, libNAME.so, has the functions that NAME.h declares, as the Futhark compiler writes it. A mistake or a
/// failure that would end the process with plain generated C is an error code.
#[derive(Parser)]
#[command(
    name = "futhark-library",
    version,
    after_help = "Example: futhark-library multicore,c stats.fut -o build/stats\n\
                  writes build/libstats.so, build/stats.h, build/stats.json (the manifest), build/stats.resolved.json \
                  (for generators of bindings: see the documentation of the crate futhark-manifest) and, unless you have \
                  one, build/stats.c (which declares the functions).\n\n\
                  The compilers are those that FUTHARK and CC name, otherwise `futhark` and `cc` on PATH. \
                  Exit codes: 0 success, 1 failure, 2 wrong usage."
)]
struct Args {
    /// Backends with commas between them: c, multicore, opencl, cuda, hip. A context uses the first one that works.
    #[arg(value_parser = backends)]
    backends: Backends,
    /// The Futhark program.
    program: PathBuf,
    /// The results without extension, such as build/stats. Default: the program's name, in the current folder.
    #[arg(short, long, value_name = "PREFIX")]
    output: Option<PathBuf>,
    /// Makes libNAME.a, to be linked into one program, instead of a shared object.
    #[arg(long = "static")]
    is_static: bool,
    /// The processor and system to compile for, such as aarch64-unknown-linux-gnu. Needs a C compiler for it.
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Uses the generated code in this folder instead of a Futhark compiler (FUTHARK_VENDOR=update writes it).
    #[arg(long, value_name = "DIR")]
    vendored: Option<PathBuf>,
    /// An option for the Futhark compiler, such as --option=--safe.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    option: Vec<String>,
    /// A flag for the C compiler, such as --flag=-march=native.
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    flag: Vec<String>,
}

#[derive(Clone)]
struct Backends(Vec<Backend>);

fn backends(names: &str) -> Result<Backends, UnknownBackend> {
    let backends: Result<_, _> = names.split(',').map(str::parse).collect();
    backends.map(Backends)
}

fn main() -> ExitCode {
    let args = Args::parse();
    match make(&args) {
        Ok(made) => {
            eprint!("{}", made.warnings);
            // The files exist, so a closed pipe does not matter.
            let _ = writeln!(std::io::stdout(), "{}", made.library.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("futhark-library: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn make(args: &Args) -> Result<Library, futhark_sys::compile::Error> {
    let builds = args.backends.0.iter().map(|&backend| {
        let mut build = Build::new(&args.program, backend);
        if let Some(folder) = &args.vendored {
            build = build.vendored(folder);
        }
        if let Some(target) = &args.target {
            build = build.target(target);
        }
        build = args.option.iter().fold(build, Build::option);
        args.flag.iter().fold(build, Build::flag)
    });
    let builds: Vec<Build> = builds.collect();
    let name = || args.program.file_stem().unwrap_or_default().into();
    let prefix = args.output.clone().unwrap_or_else(name);
    let linkage = match args.is_static {
        true => Linkage::Static,
        false => Linkage::Shared,
    };
    library(&builds, prefix, linkage)
}
