//! Names in generated code, by the rule in the documentation of `build`.

use std::collections::{HashMap, HashSet};

use futhark_manifest::names::{Names, RUST, Scope, Style};
use futhark_manifest::{EntryPoint, Field, Program, Structure, Sum, TypeId, TypeRef};

/// Types that the module itself defines.
const OF_MODULE: [&str; 8] = [
    "Program", "Context", "Config", "Array", "Entries", "Result", "Option", "Vec",
];

/// Values of the prelude, which types and parameters must not shadow.
const OF_PRELUDE: [&str; 4] = ["Ok", "Err", "Some", "None"];

/// Methods and parameters of opaque types other than fields. One list for all types, so that a
/// field has one name everywhere.
const OF_VALUES: [&str; 20] = [
    "new",
    "new_nd",
    "fields",
    "from_fields",
    "shape",
    "index",
    "set",
    "zip",
    "to_vec",
    "from_slice",
    "from_slice_nd",
    "destruct",
    "variant_name",
    "type_name",
    "store",
    "restore",
    "clone",
    "try_clone",
    "deref",
    "context",
];

pub(super) struct TypeNames {
    /// By index of the type; empty for arrays of scalars.
    types: Vec<String>,
    /// The struct of all fields of a record, or the enum of a sum.
    views: HashMap<TypeId, String>,
    /// The struct of the arguments of a constructor.
    parts: HashMap<TypeId, String>,
}

impl TypeNames {
    pub(super) fn new(program: &Program) -> TypeNames {
        let opaque = || {
            program
                .types_with_ids()
                .filter(|(_, ty)| ty.as_opaque().is_some())
        };
        let names = Scope::new(&RUST, Style::Type)
            .reserve(OF_MODULE)
            .reserve(OF_PRELUDE)
            .assign(opaque().map(|(_, ty)| &ty.name));
        let mut types = vec![String::new(); program.types().len()];
        for (id, ty) in opaque() {
            types[id.index()] = names[&ty.name].to_owned();
        }

        let wanted = |suffix: fn(&Structure) -> Option<&'static str>| -> Vec<(TypeId, String)> {
            let suffixes = opaque().filter_map(|(id, ty)| {
                let suffix = suffix(&ty.as_opaque()?.structure)?;
                Some((id, format!("{}{suffix}", types[id.index()])))
            });
            suffixes.collect()
        };
        let views = wanted(|structure| match structure {
            Structure::Record(record) if !record.is_tuple() && !record.is_unit() => Some("Fields"),
            Structure::Sum(_) => Some("Variant"),
            _ => None,
        });
        let parts = wanted(|structure| match structure {
            // The struct of all fields has the same members if they are scalars.
            Structure::Record(record) if is_flat(&record.fields) => None,
            Structure::Record(record) => needs_names(&record.fields).then_some("Parts"),
            Structure::RecordArray(array) => needs_names(&array.fields).then_some("Parts"),
            _ => None,
        });
        let names = Scope::new(&RUST, Style::Type)
            .reserve(OF_MODULE)
            .reserve(&types)
            .assign(views.iter().chain(&parts).map(|(_, name)| name));
        let assigned = |wanted: Vec<(TypeId, String)>| -> HashMap<TypeId, String> {
            let pairs = wanted.into_iter();
            pairs
                .map(|(id, name)| (id, names[&name].to_owned()))
                .collect()
        };
        let (views, mut parts) = (assigned(views), assigned(parts));
        for (id, ty) in opaque() {
            if let Some(record) = ty.as_record()
                && is_flat(&record.fields)
                && needs_names(&record.fields)
            {
                parts.insert(id, views[&id].clone());
            }
        }
        TypeNames {
            types,
            views,
            parts,
        }
    }

    /// The struct of an opaque type.
    pub(super) fn of(&self, id: TypeId) -> &str {
        &self.types[id.index()]
    }

    /// The struct of all fields of a record, or the enum of a sum.
    pub(super) fn view(&self, id: TypeId) -> &str {
        &self.views[&id]
    }

    /// The struct of the arguments of a constructor whose arguments could be confused.
    pub(super) fn parts(&self, id: TypeId) -> Option<&str> {
        self.parts.get(&id).map(String::as_str)
    }
}

/// Whether fields with names could be confused, because two have one type. Fields of tuples have
/// no names.
fn needs_names(fields: &[Field]) -> bool {
    let is_named = |field: &Field| !field.name.starts_with(|c: char| c.is_ascii_digit());
    let types: HashSet<TypeRef> = fields.iter().map(|field| field.ty).collect();
    fields.iter().all(is_named) && types.len() < fields.len()
}

pub(super) fn is_flat(fields: &[Field]) -> bool {
    fields.iter().all(|field| field.ty.as_scalar().is_some())
}

/// The methods of the entry points, by Futhark name.
pub(super) fn of_entries(entries: &[EntryPoint]) -> Names {
    Scope::new(&RUST, Style::Value).assign(entries.iter().map(|entry| &entry.name))
}

/// The parameters of an entry point, in order.
pub(super) fn of_parameters(entry: &EntryPoint) -> Vec<String> {
    // The body has this variable.
    Scope::new(&RUST, Style::Value)
        .reserve(["__out"])
        .reserve(OF_PRELUDE)
        .assign_list(entry.inputs.iter().map(|input| &input.name))
}

/// The methods, members and parameters of fields, in order.
pub(super) fn of_fields(fields: &[Field]) -> Vec<String> {
    Scope::new(&RUST, Style::Value)
        .reserve(OF_VALUES)
        .reserve(OF_PRELUDE)
        .assign_list(fields.iter().map(|field| &field.name))
}

pub(super) fn of_variants(sum: &Sum) -> Vec<String> {
    Scope::new(&RUST, Style::Type).assign_list(sum.variants.iter().map(|variant| &variant.name))
}
