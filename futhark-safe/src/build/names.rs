//! Names in generated code, by the rule in the documentation of `build`.

use std::collections::{BTreeMap, HashSet};

use futhark_manifest::names::{Names, RUST, Scope, Style};
use futhark_manifest::{EntryPoint, Field, Program, Structure, Sum, TypeId, TypeRef};

/// Types that the module defines, or uses by a short name.
const OF_MODULE: &str = "Program Context Config Array Entries Result Option Vec";

/// Values of the prelude, which types and parameters must not shadow.
const OF_PRELUDE: &str = "Ok Err Some None";

/// Names that fields must not take: those of other methods and parameters of opaque types. One list for
/// all types, so that a field has one name everywhere.
const OF_VALUES: &str = "new new_nd fields from_fields shape index set zip to_vec from_slice from_slice_nd \
    destruct variant_name type_name store restore clone try_clone deref context";

pub(super) struct TypeNames {
    /// The structs of opaque types.
    types: BTreeMap<TypeId, String>,
    /// The struct of all fields of a record, or the enum of a sum.
    wholes: BTreeMap<TypeId, String>,
    /// The struct of the arguments of a constructor.
    parts: BTreeMap<TypeId, String>,
}

impl TypeNames {
    pub(super) fn new(program: &Program) -> TypeNames {
        let opaque = || {
            let types = program.types_with_ids();
            types.filter(|(_, ty)| ty.as_opaque().is_some())
        };
        let names = Scope::new(&RUST, Style::Type)
            .reserve(OF_MODULE.split(' '))
            .reserve(OF_PRELUDE.split(' '))
            .assign(opaque().map(|(_, ty)| &ty.name));
        let types = opaque().map(|(id, ty)| (id, names[&ty.name].to_owned()));
        let types: BTreeMap<TypeId, String> = types.collect();

        let (mut wholes, mut parts) = (BTreeMap::new(), BTreeMap::new());
        for (id, ty) in opaque() {
            let wanted = |suffix: &str| format!("{}{suffix}", types[&id]);
            match ty.as_opaque().map(|opaque| &opaque.structure) {
                Some(Structure::Record(record)) => {
                    if !record.is_tuple() && !record.is_unit() {
                        wholes.insert(id, wanted("Fields"));
                    }
                    if needs_names(&record.fields) {
                        // The struct of all fields has the same members if they are scalars.
                        let is_flat = is_flat(&record.fields);
                        parts.insert(id, wanted(if is_flat { "Fields" } else { "Parts" }));
                    }
                }
                Some(Structure::RecordArray(array)) if needs_names(&array.fields) => {
                    parts.insert(id, wanted("Parts"));
                }
                Some(Structure::Sum(_)) => {
                    wholes.insert(id, wanted("Variant"));
                }
                _ => {}
            }
        }
        let names = Scope::new(&RUST, Style::Type)
            .reserve(OF_MODULE.split(' '))
            .reserve(types.values())
            .assign(wholes.values().chain(parts.values()));
        for name in wholes.values_mut().chain(parts.values_mut()) {
            *name = names[name].to_owned();
        }
        TypeNames {
            types,
            wholes,
            parts,
        }
    }

    pub(super) fn of(&self, id: TypeId) -> &str {
        &self.types[&id]
    }

    pub(super) fn whole(&self, id: TypeId) -> &str {
        &self.wholes[&id]
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

/// Whether all fields are scalars. A plain record ([`plain_record`](super::module::Module::plain_record)) may
/// also have plain records as fields.
pub(super) fn is_flat(fields: &[Field]) -> bool {
    fields.iter().all(|field| field.ty.as_scalar().is_some())
}

/// The methods of the entry points, by Futhark name.
pub(super) fn of_entries(entries: &[EntryPoint]) -> Names {
    Scope::new(&RUST, Style::Value).assign(entries.iter().map(|entry| &entry.name))
}

pub(super) fn of_parameters(entry: &EntryPoint) -> Vec<String> {
    // The body has this variable.
    Scope::new(&RUST, Style::Value)
        .reserve(["__out"])
        .reserve(OF_PRELUDE.split(' '))
        .assign_list(entry.inputs.iter().map(|input| &input.name))
}

/// The methods, members and parameters of fields, in order.
pub(super) fn of_fields(fields: &[Field]) -> Vec<String> {
    Scope::new(&RUST, Style::Value)
        .reserve(OF_VALUES.split(' '))
        .reserve(OF_PRELUDE.split(' '))
        .assign_list(fields.iter().map(|field| &field.name))
}

pub(super) fn of_variants(sum: &Sum) -> Vec<String> {
    Scope::new(&RUST, Style::Type).assign_list(sum.variants.iter().map(|variant| &variant.name))
}
