//! `futhark-manifest show`: summarizes a program.

use std::fmt::Write as _;
use std::io::Write;

use futhark_manifest::{
    EntryPoint, Printable, Program, ResultForm, Structure, Type, TypeKind, TypeRef,
};

use crate::Failure;
use crate::input::{File, Text};
use crate::say::{BOLD, DIM, YELLOW};

pub(crate) fn run(file: &File, out: &mut impl Write) -> Result<(), Failure> {
    let program = Text::read(file)?.program()?;
    let (backend, version) = (program.backend, &program.version);
    writeln!(
        out,
        "{BOLD}{file}{BOLD:#}: backend {backend}, Futhark {version}"
    )?;

    writeln!(out, "\n{BOLD}Entry points{BOLD:#}")?;
    if program.entries().is_empty() {
        writeln!(out, "  none")?;
    }
    let consumes = program
        .entries()
        .iter()
        .any(|e| e.consumed().next().is_some());
    for entry in program.entries() {
        write_entry(&program, entry, out)?;
    }
    if consumes {
        writeln!(
            out,
            "\n  {YELLOW}*{YELLOW:#} {DIM}the argument is consumed: it must not be used after the call{DIM:#}"
        )?;
    }

    writeln!(out, "\n{BOLD}Types{BOLD:#}")?;
    if program.types().is_empty() {
        writeln!(out, "  scalars only")?;
    }
    for (_, ty) in program.types_in_order() {
        writeln!(out, "  {}", one_line(&ty.name))?;
        writeln!(out, "      {}", one_line(&describe(&program, ty)))?;
        write_doc(ty.doc.as_deref(), out)?;
        let unknown = ty.unknown.keys();
        for key in unknown {
            writeln!(out, "      {DIM}unknown member {key:?}{DIM:#}")?;
        }
    }
    Ok(())
}

fn write_entry(program: &Program, entry: &EntryPoint, out: &mut impl Write) -> Result<(), Failure> {
    let parameters = entry.inputs.iter().map(|input| {
        let mark = if input.is_consumed() {
            format!("{YELLOW}*{YELLOW:#}")
        } else {
            String::new()
        };
        let (name, ty) = (one_line(&input.name), one_line(program.name_of(input.ty)));
        format!(" ({name}: {mark}{ty})")
    });
    let parameters: String = parameters.collect();
    let name = one_line(&entry.name);
    let result = one_line(&result(program, entry));
    writeln!(out, "  {BOLD}{name}{BOLD:#}{parameters}: {result}")?;
    write_doc(entry.doc.as_deref(), out)?;
    for (what, list) in [
        ("attributes", &entry.attributes),
        ("tuning parameters", &entry.tuning_params),
    ] {
        if !list.is_empty() {
            writeln!(
                out,
                "      {DIM}{what}: {}{DIM:#}",
                one_line(&list.join(", "))
            )?;
        }
    }
    Ok(())
}

/// The result in Futhark syntax, whether or not C splits it.
fn result(program: &Program, entry: &EntryPoint) -> String {
    let form = entry.result_form(program);
    let names: Vec<&str> = form.components().map(|ty| program.name_of(ty)).collect();
    match form {
        ResultForm::One(_) => names.concat(),
        _ => format!("({})", names.join(", ")),
    }
}

/// Describes a type in one line.
fn describe(program: &Program, ty: &Type) -> String {
    let name = |ty: TypeRef| program.name_of(ty);
    let structure = match &ty.kind {
        TypeKind::Array(array) => return ranked(array.rank, array.elem.as_str()),
        TypeKind::Opaque(opaque) => &opaque.structure,
    };
    let mut text = String::new();
    match structure {
        Structure::Plain => text.push_str("opaque"),
        Structure::Record(record) if record.is_unit() => text.push_str("the unit type"),
        Structure::Record(record) if record.is_tuple() => {
            let components: Vec<&str> = record.fields.iter().map(|f| name(f.ty)).collect();
            let _ = write!(text, "tuple ({})", components.join(", "));
        }
        Structure::Record(record) => {
            let fields = record.fields.iter();
            let fields: Vec<String> = fields
                .map(|f| format!("{}: {}", f.name, name(f.ty)))
                .collect();
            let _ = write!(text, "record {{{}}}", fields.join(", "));
        }
        Structure::Sum(sum) => {
            let variants = sum.variants.iter().map(|variant| {
                let payload = variant
                    .payload
                    .iter()
                    .map(|&ty| format!(" {}", grouped(name(ty))));
                format!("#{}{}", variant.name, payload.collect::<String>())
            });
            let variants: Vec<String> = variants.collect();
            let _ = write!(text, "sum {}", variants.join(" | "));
        }
        Structure::RecordArray(array) => text = ranked(array.rank, name(array.elem)),
        Structure::OpaqueArray(array) => text = ranked(array.rank, name(array.elem)),
    }
    text
}

fn ranked(rank: usize, elem: &str) -> String {
    format!("array of {elem}, rank {rank}")
}

/// Puts names of several words in parentheses, since they would look like several payloads.
fn grouped(name: &str) -> String {
    if name.contains(' ') && !name.starts_with(['(', '{']) {
        format!("({name})")
    } else {
        name.to_owned()
    }
}

fn write_doc(doc: Option<&str>, out: &mut impl Write) -> Result<(), Failure> {
    for line in doc.unwrap_or_default().lines() {
        let line = one_line(&line.replace('\t', " "));
        writeln!(out, "      {DIM}{line}{DIM:#}")?;
    }
    Ok(())
}

/// Escapes names and comments of the program.
fn one_line(text: &str) -> String {
    Printable(text).to_string()
}
