//! Records, tuples and the unit type.

use std::fmt::Write as _;

use futhark_manifest::{Field, OpaqueType, Record, TypeId, TypeRef};

use super::module::{Module, observed};
use super::names;
use super::text::{self, code};
use crate::error::Result;

pub(super) fn write(
    module: &Module<'_>,
    id: TypeId,
    record: &Record,
    text: &mut String,
) -> Result<()> {
    let rust = module.names.of(id);
    let _ = writeln!(text, "impl {rust} {{");
    let what = match record.is_unit() {
        true => "Creates the value.",
        false => "Creates a value from its fields. Calls that take it check its sizes.",
    };
    let _ = writeln!(text, "    /// {what}");
    write_make(module, "pub fn new", id, &record.new, &record.fields, text)?;
    if record.is_unit() {
        text.push_str("}\n\n");
        return Ok(());
    }
    write_fields(module, id, record, text);
    if module.plain_record(TypeRef::Type(id)).is_some() {
        write_from_fields(module, id, record, text);
    }
    write_methods(module, &record.fields, text)?;
    text.push_str("}\n\n");
    if !record.is_tuple() {
        write_struct(module, id, record, text);
    }
    write_parts(module, id, &record.fields, text);
    Ok(())
}

/// Before 0.25.35 the unit type has neither a structure nor a constructor in the manifest.
pub(super) fn write_old_unit(
    module: &Module<'_>,
    id: TypeId,
    opaque: &OpaqueType,
    text: &mut String,
) {
    if module.program.get(id).name != "()" || opaque.ops.restore.is_none() {
        return;
    }
    let rust = module.names.of(id);
    let _ = write!(
        text,
        "impl {rust} {{\n    /// Creates the value.\n    \
         pub fn new(context: &Context) -> Result<{rust}> {{\n        __f::unit(context)\n    }}\n}}\n\n"
    );
}

/// Writes a method for each field, which returns it.
pub(super) fn write_methods(
    module: &Module<'_>,
    fields: &[Field],
    text: &mut String,
) -> Result<()> {
    for (field, member) in fields.iter().zip(names::of_fields(fields)) {
        let _ = write!(
            text,
            "\n    /// Field {}.\n    \
             pub fn {member}(&self) -> Result<{}> {{\n        __f::part(self, {})\n    }}\n",
            module.in_futhark(field),
            module.rust_type(field.ty),
            module.number(&field.project)?
        );
    }
    Ok(())
}

/// Writes a function that creates a value from its fields.
pub(super) fn write_make(
    module: &Module<'_>,
    head: &str,
    id: TypeId,
    cfun: &str,
    fields: &[Field],
    text: &mut String,
) -> Result<()> {
    let members = names::of_fields(fields);
    let mut parameters = vec!["context: &Context".to_owned()];
    let mut inputs = Vec::new();
    let parts = module.names.parts(id);
    if let Some(parts) = parts {
        parameters.push(format!("parts: {parts}{}", lifetime(fields, "'_")));
    }
    for (field, member) in fields.iter().zip(&members) {
        if parts.is_some() {
            inputs.push(observed(field.ty, &format!("parts.{member}")));
        } else {
            parameters.push(format!("{member}: {}", module.observed_type(field.ty)));
            inputs.push(observed(field.ty, member));
        }
    }
    text::open(text, head, &parameters, module.names.of(id));
    let get = format!("__f::get(context, {}, [", module.number(cfun)?);
    text::list(text, 8, &get, &inputs, "])");
    text.push_str("    }\n");
    Ok(())
}

/// Writes the struct of the arguments of a constructor, if it takes one.
pub(super) fn write_parts(module: &Module<'_>, id: TypeId, fields: &[Field], text: &mut String) {
    let Some(parts) = module.names.parts(id) else {
        return;
    };
    // Written with the record.
    if names::is_flat(fields) {
        return;
    }
    let _ = writeln!(
        text,
        "/// What a new {} is made of.\n#[derive(Clone, Copy, Debug)]\npub struct {parts}{} {{",
        code(&module.program.get(id).name),
        lifetime(fields, "'a")
    );
    for (field, member) in fields.iter().zip(names::of_fields(fields)) {
        let reference = match field.ty {
            TypeRef::Scalar(_) => "",
            TypeRef::Type(_) => "&'a ",
        };
        let (futhark, ty) = (module.in_futhark(field), module.rust_type(field.ty));
        let _ = writeln!(
            text,
            "    /// {futhark}\n    pub {member}: {reference}{ty},"
        );
    }
    text.push_str("}\n\n");
}

/// The lifetime parameter of a struct of arguments, if it has references.
fn lifetime(fields: &[Field], name: &str) -> String {
    match names::is_flat(fields) {
        true => String::new(),
        false => format!("<{name}>"),
    }
}

/// Writes `fields`: records of scalars as plain structs or tuples, other fields as values.
fn write_fields(module: &Module<'_>, id: TypeId, record: &Record, text: &mut String) {
    let members = names::of_fields(&record.fields);
    let fields = record.fields.iter().zip(&members);
    let values = fields.map(|(field, member)| match module.plain_record(field.ty) {
        Some(_) => format!("self.{member}()?.fields()?"),
        None => format!("self.{member}()?"),
    });
    let (begin, values, end) = literal(module, id, record, &members, values.collect());
    let result = match record.is_tuple() {
        true => {
            let types = record.fields.iter().map(|f| module.plain_type(f.ty));
            text::tuple(&types.collect::<Vec<_>>())
        }
        false => module.names.view(id).to_owned(),
    };
    text.push_str(
        "\n    /// Returns all fields. Fields that are records of scalars are plain structs or tuples.\n",
    );
    text::open(text, "pub fn fields", &["&self".to_owned()], &result);
    text::list(text, 8, &format!("Ok({begin}"), &values, &format!("{end})"));
    text.push_str("    }\n");
}

/// Writes `from_fields`, for records of scalars.
fn write_from_fields(module: &Module<'_>, id: TypeId, record: &Record, text: &mut String) {
    let members = names::of_fields(&record.fields);
    let rust = module.names.of(id);
    let fields = record.fields.iter().zip(&members).enumerate();
    let inputs = fields.map(|(i, (field, name))| {
        let value = format!("fields.{}", member(record, i, name));
        match module.plain_record(field.ty) {
            Some((id, _)) => format!("&{}::from_fields(context, {value})?", module.names.of(id)),
            None => value,
        }
    });
    let ty = module.plain_type(TypeRef::Type(id));
    let parameters = ["context: &Context".to_owned(), format!("fields: {ty}")];
    text.push_str("\n    /// Creates a value from its fields.\n");
    text::open(text, "pub fn from_fields", &parameters, rust);
    if module.names.parts(id).is_some() && names::is_flat(&record.fields) {
        // The same struct.
        let _ = writeln!(text, "        {rust}::new(context, fields)");
    } else {
        let (begin, inputs, end) = make(module, id, "new", &members, inputs.collect());
        text::list(text, 8, &begin, &inputs, end);
    }
    text.push_str("    }\n");
}

/// Field `i` of the struct or tuple for a record: its name, or its index.
pub(super) fn member(record: &Record, i: usize, name: &str) -> String {
    match record.is_tuple() {
        true => i.to_string(),
        false => name.to_owned(),
    }
}

/// The struct or tuple for a record.
pub(super) fn literal(
    module: &Module<'_>,
    id: TypeId,
    record: &Record,
    members: &[String],
    values: Vec<String>,
) -> text::Expression {
    match record.is_tuple() {
        true => ("(".to_owned(), values, ")"),
        false => {
            let begin = format!("{} {{ ", module.names.view(id));
            (begin, labelled(members, values), " }")
        }
    }
}

/// A call of the function that [`write_make`] writes.
pub(super) fn make(
    module: &Module<'_>,
    id: TypeId,
    function: &str,
    members: &[String],
    mut inputs: Vec<String>,
) -> text::Expression {
    let call = format!("{}::{function}(", module.names.of(id));
    match module.names.parts(id) {
        Some(parts) => {
            let begin = format!("{call}context, {parts} {{ ");
            (begin, labelled(members, inputs), " })")
        }
        None => {
            inputs.insert(0, "context".to_owned());
            (call, inputs, ")")
        }
    }
}

fn labelled(members: &[String], values: Vec<String>) -> Vec<String> {
    let fields = members.iter().zip(values);
    fields
        .map(|(member, value)| format!("{member}: {value}"))
        .collect()
}

fn write_struct(module: &Module<'_>, id: TypeId, record: &Record, text: &mut String) {
    let members = names::of_fields(&record.fields);
    let name = code(&module.program.get(id).name);
    let _ = writeln!(text, "/// All fields of {name}.");
    let is_plain = module.plain_record(TypeRef::Type(id)).is_some();
    let has_short_tuples = record.fields.iter().all(|f| module.has_short_tuples(f.ty));
    let mut traits = match (is_plain, has_short_tuples) {
        (true, true) => vec!["Clone", "Copy", "Debug", "Default", "PartialEq"],
        (true, false) => vec!["Clone", "Copy"],
        (false, true) => vec!["Debug"],
        (false, false) => vec![],
    };
    if is_plain && has_short_tuples {
        traits.extend(module.serde_traits());
    }
    if !traits.is_empty() {
        let _ = writeln!(text, "#[derive({})]", traits.join(", "));
    }
    let _ = writeln!(text, "pub struct {} {{", module.names.view(id));
    for (field, member) in record.fields.iter().zip(members) {
        let (futhark, ty) = (module.in_futhark(field), module.plain_type(field.ty));
        let _ = writeln!(text, "    /// {futhark}\n    pub {member}: {ty},");
    }
    text.push_str("}\n\n");
}
