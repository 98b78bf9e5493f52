//! Turns a checked manifest into a program.

use std::collections::HashMap;

use crate::backend::Backend;
use crate::elem::ElemType;
use crate::manifest::check::parts_first;
use crate::manifest::model::{Manifest, Outputs};
use crate::manifest::model::{TypeId, TypeRef};
use crate::manifest::program::{EntryPoint, Program, Type};
use crate::version::Version;

/// Resolves every reference of a manifest in which [`check`](super::check) found no errors. Moves
/// strings instead of copying them, since manifests can be large.
pub(crate) fn program(manifest: Manifest) -> Program {
    let ids: HashMap<String, TypeId> = manifest
        .types
        .keys()
        .enumerate()
        .map(|(index, name)| (name.clone(), TypeId::new(index)))
        .collect();
    let resolve = |name: String| match ids.get(&name) {
        Some(&id) => TypeRef::Type(id),
        None => TypeRef::Scalar(ElemType::from_name(&name).expect("no reference dangles")),
    };
    let types = manifest.types.into_iter().map(|(name, ty)| Type {
        name,
        ctype: ty.ctype,
        kind: ty.kind.map(&resolve),
        doc: ty.doc,
        unknown: ty.unknown,
    });
    let types: Vec<Type> = types.collect();
    let entries = manifest.entry_points.into_iter().map(|(name, entry)| {
        let outputs = match entry.outputs {
            Outputs::Several(outputs) => outputs,
            Outputs::Single(output) => vec![output],
        };
        EntryPoint {
            name,
            cfun: entry.cfun,
            inputs: entry.inputs.into_iter().map(|i| i.map(&resolve)).collect(),
            outputs: outputs.into_iter().map(|o| o.map(&resolve)).collect(),
            tuning_params: entry.tuning_params.unwrap_or_default(),
            attributes: entry.attributes.unwrap_or_default(),
            doc: entry.doc,
            unknown: entry.unknown,
        }
    });
    let (backend, other_backend) = match manifest.backend.parse() {
        Ok(known) => (known, String::new()),
        Err(_) => (Backend::Other, manifest.backend),
    };
    Program {
        doc: None,
        backend,
        other_backend,
        version: Version::new(manifest.version.as_deref().unwrap_or_default()),
        unknown: manifest.unknown,
        entries: entries.collect(),
        order: dependency_order(&types),
        types,
    }
}

fn dependency_order(types: &[Type]) -> Vec<TypeId> {
    let parts = |whole: usize| {
        let parts = types[whole].parts();
        parts.filter_map(TypeRef::as_type).map(TypeId::index)
    };
    let order = parts_first(types.len(), parts);
    let order = order.unwrap_or_else(|_| unreachable!("no type contains itself"));
    order.into_iter().map(TypeId::new).collect()
}
