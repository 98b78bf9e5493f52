//! From the raw form to the resolved one.

use std::collections::HashMap;

use crate::check;
use crate::elem::ElemType;
use crate::error::Error;
use crate::order::parts_first;
use crate::program::{EntryPoint, Program, Type, TypeId, TypeRef};
use crate::raw::Manifest;
use crate::version::Version;

/// Resolves every reference of a manifest in which nothing is wrong.
pub(crate) fn program(manifest: &Manifest) -> Result<Program, Error> {
    if let Some(error) = Error::from_findings(check::errors(manifest)) {
        return Err(error);
    }
    let ids: HashMap<&str, TypeId> = manifest
        .types
        .keys()
        .enumerate()
        .map(|(index, name)| (name.as_str(), TypeId::new(index)))
        .collect();
    let resolve = |name: &String| match ids.get(name.as_str()) {
        Some(&id) => TypeRef::Type(id),
        None => TypeRef::Scalar(ElemType::from_name(name).expect("no reference dangles")),
    };
    let types: Vec<Type> = manifest
        .types
        .iter()
        .map(|(name, ty)| Type {
            name: name.clone(),
            ctype: ty.ctype.clone(),
            kind: ty.kind.map(&resolve),
            doc: ty.doc.clone(),
            unknown: ty.unknown.clone(),
        })
        .collect();
    let entries = manifest.entry_points.iter().map(|(name, entry)| {
        let outputs = entry.outputs.as_slice().iter();
        EntryPoint {
            name: name.clone(),
            cfun: entry.cfun.clone(),
            inputs: entry.inputs.iter().map(|i| i.map(&resolve)).collect(),
            outputs: outputs.map(|output| output.map(&resolve)).collect(),
            tuning_params: entry.tuning_params.clone().unwrap_or_default(),
            attributes: entry.attributes.clone().unwrap_or_default(),
            doc: entry.doc.clone(),
            unknown: entry.unknown.clone(),
        }
    });
    Ok(Program {
        backend: manifest.backend.parse().expect("the backend is known"),
        version: Version::new(manifest.version.as_deref().unwrap_or_default()),
        unknown: manifest.unknown.clone(),
        entries: entries.collect(),
        order: dependency_order(&types),
        types,
    })
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
