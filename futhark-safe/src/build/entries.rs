//! Writes the entry points as methods.

use std::fmt::Write as _;

use futhark_manifest::{EntryPoint, Input, ResultForm, TypeRef};

use super::module::{Module, observed};
use super::names;
use super::text::{self, code, tuple};
use crate::error::Result;

pub(super) fn write(module: &Module<'_>, text: &mut String) -> Result<()> {
    text.push_str(
        "/// The entry points of the program, as returned by `Context::entry`.\n\
         #[derive(Clone, Copy, Debug)]\n\
         pub struct Entries<'c> {\n    context: &'c Context,\n}\n\n\
         impl<'c> ::core::convert::From<&'c Context> for Entries<'c> {\n    \
         fn from(context: &'c Context) -> Entries<'c> {\n        Entries { context }\n    }\n}\n\n\
         impl Entries<'_> {\n",
    );
    let entries = module.program.entries();
    let names = names::of_entries(entries);
    for (i, entry) in entries.iter().enumerate() {
        if i > 0 {
            text.push('\n');
        }
        write_entry(module, entry, &names[&entry.name], text)?;
    }
    text.push_str("}\n");
    Ok(())
}

fn write_entry(
    module: &Module<'_>,
    entry: &EntryPoint,
    name: &str,
    text: &mut String,
) -> Result<()> {
    write_docs(module, entry, text);
    let form = entry.result_form(module.program);
    let parameters = names::of_parameters(entry);
    let mut typed = vec!["&self".to_owned()];
    typed.extend(
        entry
            .inputs
            .iter()
            .zip(&parameters)
            .map(|(input, name)| format!("{name}: {}", parameter_type(module, input))),
    );
    let results: Vec<String> = match form {
        ResultForm::Unit(_) => Vec::new(),
        _ => form.components().map(|ty| module.rust_type(ty)).collect(),
    };
    text::open(text, &format!("pub fn {name}"), &typed, &tuple(&results));

    let inputs: Vec<String> = entry
        .inputs
        .iter()
        .zip(&parameters)
        .map(|(input, name)| argument(input, name))
        .collect();
    let number = module.number(&entry.cfun)?;
    let get = format!("__f::get(self.context, {number}, [");
    match form {
        ResultForm::One(_) => text::list(text, 8, &get, &inputs, "])"),
        // Since 0.26.1 a tuple is one value, which is projected.
        ResultForm::Tuple { ty, fields } => {
            let tuple_type = module.names.of(ty);
            let get = format!("let __out: {tuple_type} = {get}");
            text::list(text, 8, &get, &inputs, "])?;");
            let parts: Vec<String> = names::of_fields(fields)
                .iter()
                .map(|field| format!("__out.{field}()?"))
                .collect();
            text::list(text, 8, "Ok((", &parts, "))");
        }
        ResultForm::Unit(ty) => {
            let get = format!("let _unit: {} = {get}", module.names.of(ty));
            text::list(text, 8, &get, &inputs, "])?;");
            text.push_str("        Ok(())\n");
        }
        ResultForm::Nothing => {
            let call = format!("self.context.__call({number}, &mut [");
            text::list(text, 8, &call, &inputs, "], &mut [])");
        }
        ResultForm::Several(outputs) => {
            write_several(
                8,
                &format!("self.context.__call({number}, &mut ["),
                &inputs,
                "]",
                outputs.len(),
                text,
            );
            let parts = parts("finish()", outputs.len());
            text::list(text, 8, "Ok((", &parts, "))");
        }
    }
    text.push_str("    }\n");
    Ok(())
}

/// Writes a call with several results, which are in `__out` afterwards.
pub(super) fn write_several(
    indent: usize,
    before: &str,
    inputs: &[String],
    after: &str,
    results: usize,
    text: &mut String,
) {
    let slots = vec!["__f::slot()".to_owned(); results];
    text::list(text, indent, "let mut __out = (", &slots, ");");
    let outputs = parts("output()", results).join(", ");
    text::list(
        text,
        indent,
        before,
        inputs,
        &format!("{after}, &mut [{outputs}])?;"),
    );
}

/// One method call for each result.
pub(super) fn parts(method: &str, results: usize) -> Vec<String> {
    (0..results)
        .map(|i| format!("__out.{i}.{method}"))
        .collect()
}

fn parameter_type(module: &Module<'_>, input: &Input) -> String {
    match input.unique {
        true if input.ty.as_type().is_some() => {
            format!("impl __f::Consumed<{}>", module.rust_type(input.ty))
        }
        true => module.rust_type(input.ty),
        false => module.observed_type(input.ty),
    }
}

fn argument(input: &Input, name: &str) -> String {
    match input.ty {
        TypeRef::Type(_) if input.unique => format!("__f::consumed({name})"),
        ty => observed(ty, name),
    }
}

/// Writes the documentation of the author, then the Futhark type.
fn write_docs(module: &Module<'_>, entry: &EntryPoint, text: &mut String) {
    let doc = entry.doc.as_deref();
    text::author_doc(text, 4, doc.or_else(|| module.docs.entry(&entry.name)));
    let mut signature = format!("entry {}", entry.name);
    for input in &entry.inputs {
        let star = if input.unique { "*" } else { "" };
        let ty = module.program.name_of(input.ty);
        let _ = write!(signature, " ({}: {star}{ty})", input.name);
    }
    let outputs: Vec<String> = entry
        .outputs
        .iter()
        .map(|output| module.program.name_of(output.ty).to_owned())
        .collect();
    let _ = writeln!(
        text,
        "    /// {}",
        code(&format!("{signature} : {}", tuple(&outputs)))
    );
    if entry.consumed().next().is_some() {
        text.push_str(
            "    ///\n    /// Parameters marked with `*` are consumed, even if the call fails: pass the value or `&mut`.\n",
        );
    }
}
