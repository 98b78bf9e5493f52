//! `futhark-manifest prototypes`: prints C declarations.

use std::io::Write;

use futhark_manifest::Printable;
use futhark_manifest::c::Group;

use crate::Failure;
use crate::args::PrototypesArgs;
use crate::input::Text;
use crate::say::DIM;

pub(crate) fn run(args: &PrototypesArgs, out: &mut impl Write) -> Result<(), Failure> {
    let mut program = Text::read(&args.file)?.program()?;
    program.backend = args.backend.unwrap_or(program.backend);
    if args.all {
        for &group in Group::ALL {
            let functions = program.library_functions();
            let functions = functions.filter(|(function, _)| function.group == group);
            let mut functions = functions.peekable();
            if functions.peek().is_some() {
                writeln!(out, "{DIM}// {group}{DIM:#}")?;
            }
            for (function, certain) in functions {
                let note = if certain {
                    ""
                } else {
                    " // may not exist in this version"
                };
                writeln!(out, "{}{DIM}{note}{DIM:#}", function.declaration)?;
            }
        }
    }
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
