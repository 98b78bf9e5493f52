//! Writes sums, and an enum for each.

use std::fmt::Write as _;

use futhark_manifest::{Sum, TypeId, TypeRef, Variant};

use super::entries::{parts, write_several};
use super::module::{Module, observed};
use super::names;
use super::text::{self, code};
use crate::error::Result;

pub(super) fn write(module: &Module<'_>, id: TypeId, sum: &Sum, text: &mut String) -> Result<()> {
    let rust = module.names.of(id);
    let view = module.names.view(id);
    let variants = names::of_variants(sum);

    let _ = writeln!(
        text,
        "impl {rust} {{\n    /// Creates a value of a variant.\n    \
         pub fn new(context: &Context, variant: &{view}) -> Result<{rust}> {{\n        match variant {{"
    );
    for (variant, name) in sum.variants.iter().zip(&variants) {
        write_construct(module, &format!("{view}::{name}"), variant, text)?;
    }
    let _ = writeln!(
        text,
        "        }}\n    }}\n\n    /// Returns the variant with its payload.\n    \
         pub fn destruct(&self) -> Result<{view}> {{\n        match self.__variant()? {{"
    );
    for (i, (variant, name)) in sum.variants.iter().zip(&variants).enumerate() {
        write_destruct(module, i, &format!("{view}::{name}"), variant, text)?;
    }
    let _ = writeln!(
        text,
        "            number => Err(__f::no_variant::<{rust}>(number)),\n        }}\n    }}\n\n    \
         /// Returns the name of the variant in Futhark.\n    \
         pub fn variant_name(&self) -> Result<&'static str> {{\n        match self.__variant()? {{"
    );
    for (i, variant) in sum.variants.iter().enumerate() {
        let _ = writeln!(text, "            {i} => Ok({:?}),", variant.name);
    }
    let _ = writeln!(
        text,
        "            number => Err(__f::no_variant::<{rust}>(number)),\n        }}\n    }}\n\n    \
         fn __variant(&self) -> Result<i32> {{\n        __f::part(self, {})\n    }}\n}}\n",
        module.number(&sum.variant)?
    );
    write_enum(module, id, sum, &variants, text);
    Ok(())
}

fn write_construct(
    module: &Module<'_>,
    path: &str,
    variant: &Variant,
    text: &mut String,
) -> Result<()> {
    let number = module.number(&variant.construct)?;
    let payload = payload_names(variant);
    let inputs: Vec<String> = variant
        .payload
        .iter()
        .zip(&payload)
        .map(|(&ty, name)| match ty {
            TypeRef::Scalar(_) => observed(ty, &format!("*{name}")),
            TypeRef::Type(_) => observed(ty, name),
        })
        .collect();
    let pattern = pattern(path, &payload);
    let get = format!("{pattern} => __f::get(context, {number}, [");
    text::list(text, 12, &get, &inputs, "]),");
    Ok(())
}

fn write_destruct(
    module: &Module<'_>,
    i: usize,
    path: &str,
    variant: &Variant,
    text: &mut String,
) -> Result<()> {
    let number = module.number(&variant.destruct)?;
    match variant.payload.len() {
        0 => {
            let _ = writeln!(text, "            {i} => Ok({path}),");
        }
        1 => {
            let _ = writeln!(
                text,
                "            {i} => Ok({path}(__f::part(self, {number})?)),"
            );
        }
        n => {
            let _ = writeln!(text, "            {i} => {{");
            write_several(16, &format!("__f::parts(self, {number}"), &[], "", n, text);
            text::list(text, 8, &format!("Ok({path}("), &parts("finish()", n), "))");
            text.push_str("            }\n");
        }
    }
    Ok(())
}

fn write_enum(module: &Module<'_>, id: TypeId, sum: &Sum, variants: &[String], text: &mut String) {
    let payloads = || sum.variants.iter().flat_map(|variant| &variant.payload);
    let mut traits = vec!["Debug"];
    if payloads().all(|ty| ty.as_scalar().is_some()) {
        traits = vec!["Clone", "Copy", "Debug", "PartialEq"];
        traits.extend(module.serde_traits());
    }
    let _ = writeln!(
        text,
        "/// The variants of {}.\n#[derive({})]\npub enum {} {{",
        code(&module.program.get(id).name),
        traits.join(", "),
        module.names.view(id)
    );
    for (variant, name) in sum.variants.iter().zip(variants) {
        let types: Vec<String> = variant
            .payload
            .iter()
            .map(|&ty| module.rust_type(ty))
            .collect();
        let mut futhark = format!("#{}", variant.name);
        for &ty in &variant.payload {
            let _ = write!(futhark, " {}", module.program.name_of(ty));
        }
        let _ = writeln!(text, "    /// {}", code(&futhark));
        let _ = writeln!(text, "    {},", pattern(name, &types));
    }
    text.push_str("}\n\n");
}

fn payload_names(variant: &Variant) -> Vec<String> {
    (0..variant.payload.len())
        .map(|i| format!("v{i}"))
        .collect()
}

/// `Name`, or `Name(a, b)`.
fn pattern(name: &str, items: &[String]) -> String {
    match items {
        [] => name.to_owned(),
        _ => format!("{name}({})", items.join(", ")),
    }
}
