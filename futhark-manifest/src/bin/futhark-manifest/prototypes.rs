//! `futhark-manifest prototypes`

use std::io::Write;

use futhark_manifest::c::{Group, library};

use crate::Failure;
use crate::args::Prototypes;
use crate::input::Text;
use crate::say::DIM;

pub(crate) fn run(args: &Prototypes, out: &mut impl Write) -> Result<(), Failure> {
    let program = Text::read(&args.file)?.program()?;
    let backend = args.backend.unwrap_or(program.backend);
    if args.all {
        for &group in Group::ALL {
            let functions = library().iter().filter(|function| {
                let exists = match program.version.number {
                    Some(version) => function.exists(backend, version),
                    None => function.backends.contains(&backend).then_some(true),
                };
                function.group == group && exists != Some(false)
            });
            let mut functions = functions.peekable();
            if functions.peek().is_some() {
                writeln!(out, "{DIM}// {group}{DIM:#}")?;
            }
            for function in functions {
                writeln!(out, "{}", function.declaration)?;
            }
        }
    }
    for (id, ty) in program.types_with_ids() {
        writeln!(out, "{DIM}// {}{DIM:#}", one_line(&ty.name))?;
        writeln!(out, "{};", ty.c_struct())?;
        for function in program.functions_of(id) {
            writeln!(out, "{}", program.prototype_for(&function, backend))?;
        }
    }
    if !program.entries().is_empty() {
        writeln!(out, "{DIM}// entry points{DIM:#}")?;
    }
    for entry in 0..program.entries().len() {
        let function = program.function_of_entry(entry);
        writeln!(out, "{}", program.prototype_for(&function, backend))?;
    }
    Ok(())
}

/// A name that ends no comment and begins no line.
fn one_line(name: &str) -> String {
    name.replace(|c: char| c.is_control() || c == '\\', " ")
}
