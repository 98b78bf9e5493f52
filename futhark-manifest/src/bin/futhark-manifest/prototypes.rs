//! `futhark-manifest prototypes`: prints C declarations, or assertions about those of the header.

use std::io::{self, Write};
use std::path::Path;

use futhark_manifest::{Backend, Printable, Program};

use crate::io::{DIM, Failure, File, Text};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The manifest.
    #[arg(default_value = "-")]
    file: File,
    /// Print the prototypes for this backend instead of the manifest's.
    #[arg(long)]
    backend: Option<Backend>,
    /// Print a C file that includes the header and asserts the type of every function: it compiles only if
    /// header and manifest agree. HEADER is the name in the #include [default: prog.h for prog.json].
    #[arg(long, value_name = "HEADER", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    assert: Option<String>,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut program = Text::read(&args.file)?.program()?;
    program.backend = args.backend.unwrap_or(program.backend);
    match &args.assert {
        None => print(&program, out),
        Some(header) => assert(&program, &args.file, header),
    }
}

fn print(program: &Program, out: &mut impl Write) -> Result<(), Failure> {
    for (id, ty) in program.types_with_ids() {
        // A backslash at the end would append the next line to the comment.
        writeln!(out, "{DIM}// {}:{DIM:#}", Printable(&ty.name))?;
        writeln!(out, "{};", ty.c_struct())?;
        for function in program.functions_of(id) {
            writeln!(out, "{}", program.prototype(&function))?;
        }
    }
    if !program.entries().is_empty() {
        writeln!(out, "{DIM}// entry points{DIM:#}")?;
    }
    for entry in 0..program.entries().len() {
        let function = program.function_of_entry(entry);
        writeln!(out, "{}", program.prototype(&function))?;
    }
    Ok(())
}

fn assert(program: &Program, file: &File, header: &str) -> Result<(), Failure> {
    let beside = file.path().map(|path| path.with_extension("h"));
    let beside = beside.as_deref().and_then(Path::file_name);
    let header = match (header, beside) {
        ("", None) => "prog.h".into(),
        ("", Some(beside)) => beside.to_string_lossy(),
        _ => header.into(),
    };
    if header.contains(|c: char| c.is_control() || matches!(c, '"' | '\\' | '\u{fffd}')) {
        return Err(Failure::Usage(
            "C cannot include a header with this name: use --assert=HEADER",
        ));
    }
    Ok(io::stdout().write_all(program.assertions(&header).as_bytes())?)
}
