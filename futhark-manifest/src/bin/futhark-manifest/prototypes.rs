//! `futhark-manifest prototypes`: prints C declarations, or assertions about those of the header.

use std::io::{self, Write};
use std::path::Path;

use futhark_manifest::{Printable, Program};

use crate::Failure;
use crate::args::PrototypesArgs;
use crate::input::{File, Text};
use crate::say::DIM;

pub(crate) fn run(args: &PrototypesArgs, out: &mut impl Write) -> Result<(), Failure> {
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
    if header.contains(|c: char| c.is_control() || c == '"' || c == '\\') {
        return Err(Failure::Usage(
            "C cannot include a header with this name: use --assert=HEADER",
        ));
    }
    Ok(io::stdout().write_all(program.assertions(&header).as_bytes())?)
}
