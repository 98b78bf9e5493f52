//! Compares matched types, and reports the others as added or removed.

use super::align::{self, Members};
use super::change::Change;
use super::code::{ChangeCode, Impact};
use super::operations;
use super::pairing::Pairing;
use super::place::{Place, TypePart};
use super::spelling::follows;
use super::text;
use super::users::Users;
use crate::manifest::model::{ArrayType, Field, RecordArray, Structure, TypeKind, Variant};
use crate::manifest::program::{Program, Type, TypeId, TypeRef};
use crate::spaces::squeezed;

pub(super) fn compare(old: &Program, new: &Program, pairing: &Pairing, changes: &mut Vec<Change>) {
    let old_users = Users::of(old);
    for (id, ty) in old.types_with_ids() {
        let mut own = match pairing.of_old(id) {
            Some(partner) => pair(old, new, pairing, (id, partner)),
            None => {
                let code = match &ty.kind {
                    TypeKind::Array(_) => ChangeCode::ArrayRemoved,
                    TypeKind::Opaque(_) if old_users.is_carrier(id) => {
                        ChangeCode::ResultTypeRemoved
                    }
                    TypeKind::Opaque(_) => ChangeCode::TypeRemoved,
                };
                let change = Change::new(code, Place::ty(&ty.name, TypePart::Whole));
                vec![change.was(text::made_of(old, id))]
            }
        };
        for change in &mut own {
            change.used_by = old_users.used_by(id);
        }
        changes.append(&mut own);
    }

    let new_users = Users::of(new);
    for (id, ty) in new.types_with_ids() {
        if pairing.of_new(id).is_some() {
            continue;
        }
        let code = match &ty.kind {
            TypeKind::Array(_) => ChangeCode::ArrayAdded,
            TypeKind::Opaque(_) if new_users.is_carrier(id) => ChangeCode::ResultTypeAdded,
            TypeKind::Opaque(_) => ChangeCode::TypeAdded,
        };
        let change = Change::new(code, Place::ty(&ty.name, TypePart::Whole));
        let mut change = change.is(text::made_of(new, id));
        change.used_by = new_users.used_by(id);
        changes.push(change);
    }
}

/// The changes of a matched type.
fn pair(old: &Program, new: &Program, pairing: &Pairing, ids: (TypeId, TypeId)) -> Vec<Change> {
    let (before, after) = (old.get(ids.0), new.get(ids.1));
    let mut inside = Types {
        old,
        new,
        pairing,
        ids,
        name: &before.name,
        changes: Vec::new(),
    };
    inside.kinds();
    inside.doc(before, after);
    let mut changes = inside.changes;
    if before.name == after.name {
        return changes;
    }

    let place = Place::ty(&before.name, TypePart::Whole);
    let breaking = |change: &Change| change.impact() == Impact::Breaking;
    if squeezed(&before.name) != squeezed(&after.name) && changes.iter().any(breaking) {
        // It is another type, so differences of single fields are of no use.
        let change = Change::new(ChangeCode::TypeReplaced, place);
        let was = text::definition(old, ids.0);
        return vec![change.was(was).is(text::definition(new, ids.1))];
    }
    if !named_by_parts(old, new, pairing, ids) {
        let code = if squeezed(&before.name) == squeezed(&after.name) {
            ChangeCode::TypeRespelled
        } else {
            ChangeCode::TypeRenamed
        };
        let change = Change::new(code, place);
        changes.push(change.was(&before.name).is(&after.name));
    }
    changes
}

/// Whether the name changed only because parts were renamed, which is reported for these
/// parts.
fn named_by_parts(old: &Program, new: &Program, pairing: &Pairing, ids: (TypeId, TypeId)) -> bool {
    let (before, after) = (old.get(ids.0), new.get(ids.1));
    let parts = align::parts(before, after).into_iter();
    let mut names: Vec<(&str, &str)> = parts
        .filter(|&(a, b)| pairing.same(a, b))
        .map(|(a, b)| (old.name_of(a), new.name_of(b)))
        .filter(|(was, is)| was != is)
        .collect();
    names.sort_unstable();
    names.dedup();
    follows(&before.name, &after.name, &names)
}

/// Descriptions of an opaque array and of an array of records, which have the same syntax.
const ELEMENTS: &str = "an array of known elements";
const FIELDS: &str = "an array of known elements and fields";

/// Two matched types.
struct Types<'a> {
    old: &'a Program,
    new: &'a Program,
    pairing: &'a Pairing,
    ids: (TypeId, TypeId),
    /// The name of the old type.
    name: &'a str,
    changes: Vec<Change>,
}

impl Types<'_> {
    fn report(
        &mut self,
        code: ChangeCode,
        part: TypePart,
        was: impl Into<String>,
        is: impl Into<String>,
    ) {
        let change = Change::new(code, Place::ty(self.name, part));
        self.changes.push(change.was(was).is(is));
    }

    fn doc(&mut self, before: &Type, after: &Type) {
        if before.doc != after.doc {
            let place = Place::ty(self.name, TypePart::Whole);
            let mut change = Change::new(ChangeCode::DocChanged, place);
            change.was.clone_from(&before.doc);
            change.is.clone_from(&after.doc);
            self.changes.push(change);
        }
    }

    fn kinds(&mut self) {
        let (before, after) = (self.old.get(self.ids.0), self.new.get(self.ids.1));
        match (&before.kind, &after.kind) {
            (TypeKind::Array(before), TypeKind::Array(after)) => self.arrays(before, after),
            (TypeKind::Opaque(before), TypeKind::Opaque(after)) => {
                if !self.structures(&before.structure, &after.structure) {
                    return self.whole(ChangeCode::TypeKindChanged);
                }
            }
            _ => return self.whole(ChangeCode::TypeKindChanged),
        }
        operations::compare(before, after, &mut self.changes);
    }

    /// Reports a change with both definitions.
    fn whole(&mut self, code: ChangeCode) {
        let was = text::made_of(self.old, self.ids.0);
        let is = text::made_of(self.new, self.ids.1);
        self.report(code, TypePart::Whole, was, is);
    }

    fn arrays(&mut self, before: &ArrayType, after: &ArrayType) {
        if before.elem != after.elem {
            let (was, is) = (before.elem.as_str(), after.elem.as_str());
            self.report(ChangeCode::ElementTypeChanged, TypePart::Whole, was, is);
        }
        self.ranks(before.rank, after.rank);
    }

    /// Compares the known structures. Returns false if they are of different kinds.
    fn structures(&mut self, before: &Structure, after: &Structure) -> bool {
        match (before, after) {
            (Structure::Plain, Structure::Plain) => {}
            (Structure::Plain, _) => self.whole(ChangeCode::TypeRevealed),
            (_, Structure::Plain) => self.whole(ChangeCode::TypeHidden),
            (Structure::Record(before), Structure::Record(after)) => {
                self.fields(&before.fields, &after.fields);
            }
            (Structure::Sum(before), Structure::Sum(after)) => {
                self.variants(&before.variants, &after.variants);
            }
            (Structure::RecordArray(before), Structure::RecordArray(after)) => {
                self.ranks(before.rank, after.rank);
                self.elements(before.elem, after.elem);
                self.array_fields(before, after);
            }
            (Structure::OpaqueArray(before), Structure::OpaqueArray(after)) => {
                self.ranks(before.rank, after.rank);
                self.elements(before.elem, after.elem);
            }
            // An array of records also has the operations of an opaque array.
            (Structure::OpaqueArray(before), Structure::RecordArray(after)) => {
                let code = ChangeCode::TypeRevealed;
                self.report(code, TypePart::Whole, ELEMENTS, FIELDS);
                self.ranks(before.rank, after.rank);
                self.elements(before.elem, after.elem);
            }
            (Structure::RecordArray(before), Structure::OpaqueArray(after)) => {
                let code = ChangeCode::TypeHidden;
                self.report(code, TypePart::Whole, FIELDS, ELEMENTS);
                self.ranks(before.rank, after.rank);
                self.elements(before.elem, after.elem);
            }
            _ => return false,
        }
        true
    }

    fn ranks(&mut self, before: usize, after: usize) {
        if before != after {
            let (was, is) = (before.to_string(), after.to_string());
            self.report(ChangeCode::RankChanged, TypePart::Whole, was, is);
        }
    }

    fn elements(&mut self, before: TypeRef, after: TypeRef) {
        self.reference(
            ChangeCode::ElementTypeChanged,
            TypePart::Whole,
            before,
            after,
        );
    }

    /// Reports the names of two types at the same place, if they are not matched.
    fn reference(&mut self, code: ChangeCode, part: TypePart, before: TypeRef, after: TypeRef) {
        if !self.pairing.same(before, after) {
            let (was, is) = (self.old.name_of(before), self.new.name_of(after));
            self.report(code, part, was, is);
        }
    }

    fn fields(&mut self, before: &[Field], after: &[Field]) {
        let members = Members::by_name(before, after, |field| &field.name);
        if members.reordered() {
            let (was, is) = text::orders(&members, before, after, |field| &field.name);
            self.report(ChangeCode::FieldsReordered, TypePart::Whole, was, is);
        }
        for &(i, j) in &members.common {
            let part = TypePart::Field(before[i].name.clone());
            let (was, is) = (before[i].ty, after[j].ty);
            self.reference(ChangeCode::FieldTypeChanged, part, was, is);
        }
        if let (&[i], &[j]) = (&members.removed[..], &members.added[..])
            && self.pairing.same(before[i].ty, after[j].ty)
        {
            let (was, is) = (&before[i].name, &after[j].name);
            let part = TypePart::Field(was.clone());
            return self.report(ChangeCode::FieldRenamed, part, was, is);
        }
        for field in members.removed.into_iter().map(|i| &before[i]) {
            let place = Place::ty(self.name, TypePart::Field(field.name.clone()));
            let change = Change::new(ChangeCode::FieldRemoved, place);
            self.changes.push(change.was(self.old.name_of(field.ty)));
        }
        for field in members.added.into_iter().map(|j| &after[j]) {
            let place = Place::ty(self.name, TypePart::Field(field.name.clone()));
            let change = Change::new(ChangeCode::FieldAdded, place);
            self.changes.push(change.is(self.new.name_of(field.ty)));
        }
    }

    /// The fields of an array of records are arrays of the record's fields. Reports only changes
    /// that the changes of the record do not explain.
    fn array_fields(&mut self, before: &RecordArray, after: &RecordArray) {
        let element_fields = |program: &Program, elem: TypeRef| {
            let record = elem.as_type().and_then(|id| program.get(id).as_record());
            record.map_or(Vec::new(), |record| record.fields.clone())
        };
        let old_elements = element_fields(self.old, before.elem);
        let new_elements = element_fields(self.new, after.elem);
        let members = Members::by_name(&before.fields, &after.fields, |field| &field.name);
        for (i, j) in members.common {
            let explained = match (old_elements.get(i), new_elements.get(j)) {
                (Some(was), Some(is)) => !self.pairing.same(was.ty, is.ty),
                _ => true,
            };
            // A change of rank changes every field.
            if !explained && before.rank == after.rank {
                let part = TypePart::Field(before.fields[i].name.clone());
                let (was, is) = (before.fields[i].ty, after.fields[j].ty);
                self.reference(ChangeCode::FieldTypeChanged, part, was, is);
            }
        }
    }

    fn variants(&mut self, before: &[Variant], after: &[Variant]) {
        let members = Members::by_name(before, after, |variant| &variant.name);
        if members.reordered() {
            let (was, is) = text::orders(&members, before, after, |variant| &variant.name);
            self.report(ChangeCode::VariantsReordered, TypePart::Whole, was, is);
        }
        for &(i, j) in &members.common {
            self.payloads(&before[i], &after[j]);
        }
        if let (&[i], &[j]) = (&members.removed[..], &members.added[..])
            && self.same_payloads(&before[i], &after[j])
        {
            let (was, is) = (&before[i].name, &after[j].name);
            let part = TypePart::Variant(was.clone());
            return self.report(ChangeCode::VariantRenamed, part, was, is);
        }
        for variant in members.removed.into_iter().map(|i| &before[i]) {
            let place = Place::ty(self.name, TypePart::Variant(variant.name.clone()));
            let change = Change::new(ChangeCode::VariantRemoved, place);
            let was = text::variant_of(self.old, variant);
            self.changes.push(change.was(was));
        }
        for variant in members.added.into_iter().map(|j| &after[j]) {
            let place = Place::ty(self.name, TypePart::Variant(variant.name.clone()));
            let change = Change::new(ChangeCode::VariantAdded, place);
            let is = text::variant_of(self.new, variant);
            self.changes.push(change.is(is));
        }
    }

    fn same_payloads(&self, before: &Variant, after: &Variant) -> bool {
        let mut pairs = before.payload.iter().zip(&after.payload);
        before.payload.len() == after.payload.len()
            && pairs.all(|(&was, &is)| self.pairing.same(was, is))
    }

    fn payloads(&mut self, before: &Variant, after: &Variant) {
        if before.payload.len() != after.payload.len() {
            let was = text::variant_of(self.old, before);
            let is = text::variant_of(self.new, after);
            let part = TypePart::Variant(before.name.clone());
            return self.report(ChangeCode::PayloadCountChanged, part, was, is);
        }
        for (index, (&was, &is)) in before.payload.iter().zip(&after.payload).enumerate() {
            let variant = before.name.clone();
            let part = TypePart::Payload { variant, index };
            self.reference(ChangeCode::PayloadTypeChanged, part, was, is);
        }
    }
}
