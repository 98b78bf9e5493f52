//! Compares members of the manifest that this version of the crate does not know.

use super::change::Change;
use super::code::ChangeCode;
use super::pairing::Pairing;
use super::place::{EntryPart, Place, TypePart};
use crate::manifest::model::{Structure, TypeKind, Unknown};
use crate::manifest::program::{EntryPoint, Program, Type};

/// Reports differences: one for the program as a whole, and one for each entry point and type,
/// including their parts.
pub(super) fn compare(old: &Program, new: &Program, pairing: &Pairing, changes: &mut Vec<Change>) {
    let mut report = |place: Place, was: &[&Unknown], is: &[&Unknown]| {
        if was == is {
            return;
        }
        let mut change = Change::new(ChangeCode::UnknownChanged, place);
        change.was = names(was);
        change.is = names(is);
        changes.push(change);
    };
    report(Place::Program, &[&old.unknown], &[&new.unknown]);
    for before in old.entries() {
        if let Some(after) = new.entry(&before.name) {
            let place = Place::entry(&before.name, EntryPart::Whole);
            report(place, &of_entry(before), &of_entry(after));
        }
    }
    for (id, before) in old.types_with_ids() {
        if let Some(after) = pairing.of_old(id) {
            let place = Place::ty(&before.name, TypePart::Whole);
            report(place, &of_type(before), &of_type(new.get(after)));
        }
    }
}

/// The names of the members; `None` if there are none.
fn names(all: &[&Unknown]) -> Option<String> {
    let names: Vec<&str> = all
        .iter()
        .flat_map(|one| one.keys())
        .map(|name| &**name)
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Omits objects without unknown members, so that the two forms of tuple results compare as
/// equal.
fn of_entry(entry: &EntryPoint) -> Vec<&Unknown> {
    let inputs = entry.inputs.iter().map(|input| &input.unknown);
    let outputs = entry.outputs.iter().map(|output| &output.unknown);
    let all = std::iter::once(&entry.unknown).chain(inputs).chain(outputs);
    all.filter(|one| !one.is_empty()).collect()
}

fn of_type(ty: &Type) -> Vec<&Unknown> {
    let mut all = vec![&ty.unknown];
    match &ty.kind {
        TypeKind::Array(array) => all.push(&array.ops.unknown),
        TypeKind::Opaque(opaque) => {
            all.push(&opaque.ops.unknown);
            match &opaque.structure {
                Structure::Plain => {}
                Structure::Record(record) => {
                    all.push(&record.unknown);
                    all.extend(record.fields.iter().map(|field| &field.unknown));
                }
                Structure::Sum(sum) => {
                    all.push(&sum.unknown);
                    all.extend(sum.variants.iter().map(|variant| &variant.unknown));
                }
                Structure::RecordArray(array) => {
                    all.push(&array.unknown);
                    all.extend(array.fields.iter().map(|field| &field.unknown));
                }
                Structure::OpaqueArray(array) => all.push(&array.unknown),
            }
        }
    }
    all.retain(|one| !one.is_empty());
    all
}
