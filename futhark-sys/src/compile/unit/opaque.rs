//! The wrappers of every opaque type: free, store, restore, references, duplicate.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use futhark_manifest::{OpaqueType, Type};

use super::wrappers::duplicate_array;
use super::{Unit, elem_number, elements};
use crate::compile::generated::layout::{self, ArrayStruct, Component, Layouts, Rule};

pub(super) fn write(unit: &Unit<'_>, c: &mut String) {
    // Duplicating an opaque value duplicates its arrays. The functions for arrays exist, except
    // those of types that are not in the manifest.
    let mut hidden = BTreeSet::new();
    for ty in unit
        .program
        .types()
        .iter()
        .filter(|ty| ty.as_opaque().is_some())
    {
        for component in unit.generated.layouts.components(ty.c_ident()) {
            match component {
                Component::Array(array) if !is_listed(unit, array) => hidden.insert(array),
                _ => false,
            };
        }
    }
    for array in hidden {
        let functions = ["new", "values", "free"].map(|operation| array.function(operation));
        let [new, values, free] = &functions;
        c.push_str(&duplicate_array(
            &array.ident,
            array.elem,
            array.rank,
            [new, values, free],
        ));
        c.push('\n');
    }
    for ty in unit.program.types() {
        if let Some(opaque) = ty.as_opaque() {
            write_opaque(unit, ty, opaque, c);
        }
    }
}

/// Whether the manifest has this array type.
fn is_listed(unit: &Unit<'_>, array: &ArrayStruct) -> bool {
    unit.program
        .types()
        .iter()
        .any(|ty| ty.c_ident() == array.ident)
}

fn write_opaque(unit: &Unit<'_>, ty: &Type, opaque: &OpaqueType, c: &mut String) {
    let ident = ty.c_ident();
    let layouts = &unit.generated.layouts;
    let components = layouts.components(ident);
    let rules = layout::rules(layouts, unit.program, ty);
    write_components(ident, components, &rules, c);
    write_references(ident, layouts, c);
    write_copy(unit, ty, components, c);
    let free = &opaque.ops.free;
    let _ = writeln!(
        c,
        "FUT_WRAP_DUPLICATE({ident}, {free})\nFUT_WRAP_FREE({free}, {ident})"
    );
    if let Some(store) = &opaque.ops.store {
        let storable = storable(ident, layouts);
        let units = match components.iter().any(Component::is_units) {
            true => format!("FUT_CLEAR_UNITS({store}, {ident})"),
            false => String::new(),
        };
        let _ = writeln!(
            c,
            "FUT_WRAP_STORED_SIZE({store}, {ident}, {storable})\n\
             FUT_WRAP_STORE({store}, {ident}, {storable}, {units})"
        );
    }
    if let Some(restore) = &opaque.ops.restore {
        let _ = writeln!(c, "FUT_WRAP_RESTORE({restore}, {ident}, {free})");
    }
    elements::write(unit, ty, opaque, c);
}

/// Refuses a value whose stored size C would compute wrongly.
fn storable(ident: &str, layouts: &Layouts) -> String {
    let check = |(i, array): (usize, &ArrayStruct)| {
        let (rank, size) = (array.rank, array.elem.size());
        format!("FUT_STORABLE({ident}, {i}, {rank}, {size}) ")
    };
    layouts.arrays(ident).map(check).collect()
}

/// Writes the layout, and assertions that it matches the structs.
fn write_components(ident: &str, components: &[Component], rules: &[Rule], c: &mut String) {
    let c_type = |component: &Component| match component {
        Component::Scalar(elem) => elem.c_type().to_owned(),
        Component::Array(array) => format!("struct {} *", array.ident),
    };
    for (i, component) in components.iter().enumerate() {
        let c_type = c_type(component);
        let _ = writeln!(
            c,
            "_Static_assert(__builtin_types_compatible_p(__typeof__(((struct {ident} *)0)->v{i}), {c_type}), \
             \"component {i} of {ident} does not have the type that was read\");"
        );
    }
    if components.is_empty() {
        let _ = writeln!(
            c,
            "_Static_assert(sizeof(struct {ident}) <= 1, \"{ident} has components that were not read\");"
        );
        return;
    }
    let _ = writeln!(
        c,
        "static const struct fut_component fut_components_{ident}[] = {{"
    );
    for (i, (component, rule)) in components.iter().zip(rules).enumerate() {
        let (elem, rank) = match component {
            Component::Scalar(elem) => (*elem, 0),
            Component::Array(array) => (array.elem, array.rank),
        };
        let number = elem_number(elem);
        let shape = match component {
            Component::Scalar(_) => "0".to_owned(),
            Component::Array(array) => format!("offsetof(struct {}, shape)", array.ident),
        };
        let _ = writeln!(
            c,
            "  {{{number}u, {rank}u, {}u, {}u, {}u, offsetof(struct {ident}, v{i}), {shape}}},",
            rule.variants, rule.like, rule.shared
        );
    }
    c.push_str("};\n");
    // Equal sizes mean that no component was missed.
    let _ = writeln!(c, "struct fut_read_{ident} {{");
    for (i, component) in components.iter().enumerate() {
        let _ = writeln!(c, "  {} v{i};", c_type(component));
    }
    let _ = writeln!(
        c,
        "}};\n_Static_assert(sizeof(struct {ident}) == sizeof(struct fut_read_{ident}), \
         \"{ident} has components that were not read\");"
    );
}

fn write_references(ident: &str, layouts: &Layouts, c: &mut String) {
    let counts = layouts
        .arrays(ident)
        .map(|(i, _)| format!("FUT_COUNT({i}) "));
    let counts: String = counts.collect();
    let _ = writeln!(c, "FUT_REFERENCES({ident}, {counts})");
}

/// A copy of each component in a new struct, as the runtime's own functions make it.
fn write_copy(unit: &Unit<'_>, ty: &Type, components: &[Component], c: &mut String) {
    let (mut copies, mut undo) = (String::new(), String::new());
    for (i, component) in components.iter().enumerate() {
        match component {
            Component::Scalar(_) => {
                let _ = write!(copies, "FUT_COPY_SCALAR({i}) ");
            }
            Component::Array(array) => {
                let ident = &array.ident;
                let listed = unit.program.types().iter().find(|ty| ty.c_ident() == ident);
                let free = listed.map_or_else(|| array.function("free"), |ty| ty.free().to_owned());
                let _ = write!(copies, "FUT_COPY_ARRAY({i}, {ident}) ");
                let _ = write!(undo, "FUT_UNDO({i}, {free}) ");
            }
        }
    }
    let undo = match undo.is_empty() {
        true => undo,
        false => format!("FUT_UNDO_ALL({undo})"),
    };
    let ident = ty.c_ident();
    let _ = writeln!(c, "FUT_DUPLICATE_OPAQUE({ident}, {copies}, {undo})");
}
