//! `futhark-manifest show`: summarizes a program.

use std::io::Write;

use futhark_manifest::Printable;

use crate::io::{BOLD, DIM, Failure, File, Text};

pub(crate) fn run(file: &File, out: &mut impl Write) -> Result<(), Failure> {
    let program = Text::read(file)?.program()?;
    let (backend, version) = (Printable(program.backend_name()), &program.version);
    writeln!(
        out,
        "{BOLD}{file}{BOLD:#}: backend {backend}, Futhark {version}"
    )?;

    writeln!(out, "\n{BOLD}Entry points{BOLD:#}")?;
    if program.entries().is_empty() {
        writeln!(out, "  none")?;
    }
    for entry in program.entries() {
        let (name, signature) = (Printable(&entry.name), program.signature(entry));
        let space = if entry.inputs.is_empty() { "" } else { " " };
        writeln!(
            out,
            "  {BOLD}{name}{BOLD:#}{space}{}",
            Printable(&signature)
        )?;
        write_doc(entry.doc.as_deref(), out)?;
        for (what, list) in [
            ("attributes", &entry.attributes),
            ("tuning parameters", &entry.tuning_params),
        ] {
            if !list.is_empty() {
                let list = list.join(", ");
                writeln!(out, "      {DIM}{what}: {}{DIM:#}", Printable(&list))?;
            }
        }
    }
    let mut inputs = program.entries().iter().flat_map(|entry| &entry.inputs);
    if inputs.any(|input| input.is_consumed()) {
        writeln!(
            out,
            "\n  {DIM}* the argument is consumed: it must not be used after the call{DIM:#}"
        )?;
    }

    writeln!(out, "\n{BOLD}Types{BOLD:#}")?;
    if program.types().is_empty() {
        writeln!(out, "  scalars only")?;
    }
    for (_, ty) in program.types_in_order() {
        writeln!(out, "  {}", Printable(&ty.name))?;
        writeln!(out, "      {}", Printable(&program.definition(ty)))?;
        write_doc(ty.doc.as_deref(), out)?;
        for key in ty.unknown.keys() {
            writeln!(out, "      {DIM}unknown member {key:?}{DIM:#}")?;
        }
    }
    Ok(())
}

fn write_doc(doc: Option<&str>, out: &mut impl Write) -> Result<(), Failure> {
    for line in doc.unwrap_or_default().lines() {
        let line = line.replace('\t', " ");
        writeln!(out, "      {DIM}{}{DIM:#}", Printable(&line))?;
    }
    Ok(())
}
