//! Compares the C functions of a type, by their keys in the manifest.

use std::collections::BTreeMap;

use super::change::Change;
use super::code::ChangeCode;
use super::place::{Place, TypePart};
use crate::manifest::model::{Structure, TypeKind};
use crate::manifest::program::Type;

/// Operations that opaque types of every structure have or may have.
const COMMON: [&str; 3] = ["free", "restore", "store"];

/// Reports added and removed operations, and changed C names.
pub(super) fn compare(old: &Type, new: &Type, changes: &mut Vec<Change>) {
    let (before, after) = (operations(old), operations(new));
    let (old_kind, new_kind) = (Known::of(old), Known::of(new));
    // A change of the known structure already reports the operations that belong to it.
    let reported = |&(word, member): &(&str, &str), own: Known, other: Known| {
        member.is_empty() && (own <= other || COMMON.contains(&word))
    };
    let missing = |own: &Operations<'_>, own_kind, other: &Operations<'_>, other_kind| {
        let words: Vec<&str> = own
            .keys()
            .filter(|key| !other.contains_key(*key) && reported(key, own_kind, other_kind))
            .map(|&(word, _)| word)
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    };
    let change = |code| Change::new(code, Place::ty(&old.name, TypePart::Whole));
    if let Some(words) = missing(&before, old_kind, &after, new_kind) {
        changes.push(change(ChangeCode::OperationsRemoved).was(words));
    }
    if let Some(words) = missing(&after, new_kind, &before, old_kind) {
        changes.push(change(ChangeCode::OperationsAdded).is(words));
    }

    // C names follow the type's name, so a renamed type is reported once.
    if old.name != new.name {
        return;
    }
    let common = before
        .iter()
        .filter_map(|(key, was)| Some((*was, *after.get(key)?)));
    let mut names = std::iter::once((old.c_ident(), new.c_ident())).chain(common);
    // Report the first difference only: all C names contain the same part.
    if let Some((was, is)) = names.find(|(was, is)| was != is) {
        changes.push(change(ChangeCode::TypeFunctionsChanged).was(was).is(is));
    }
}

/// How much is known of a type's structure. Ordered: more is greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Known {
    Nothing,
    /// It is an array, with known elements.
    Elements,
    Everything,
}

impl Known {
    pub(super) fn of(ty: &Type) -> Known {
        match ty.as_opaque().map(|opaque| &opaque.structure) {
            Some(Structure::Plain) => Known::Nothing,
            Some(Structure::OpaqueArray(_)) => Known::Elements,
            None | Some(Structure::Record(_) | Structure::Sum(_) | Structure::RecordArray(_)) => {
                Known::Everything
            }
        }
    }
}

/// C names by operation and, if there are several of a kind, by member.
type Operations<'p> = BTreeMap<(&'static str, &'p str), &'p str>;

fn operations(ty: &Type) -> Operations<'_> {
    let mut all = Operations::new();
    let opaque = match &ty.kind {
        TypeKind::Array(array) => {
            let ops = &array.ops;
            all.insert(("free", ""), &ops.free);
            all.insert(("shape", ""), &ops.shape);
            all.insert(("values", ""), &ops.values);
            all.insert(("new", ""), &ops.new);
            insert(&mut all, "index", &ops.index);
            insert(&mut all, "new_raw", &ops.new_raw);
            insert(&mut all, "values_raw", &ops.values_raw);
            return all;
        }
        TypeKind::Opaque(opaque) => opaque,
    };
    all.insert(("free", ""), &opaque.ops.free);
    insert(&mut all, "store", &opaque.ops.store);
    insert(&mut all, "restore", &opaque.ops.restore);
    match &opaque.structure {
        Structure::Plain => {}
        Structure::Record(record) => {
            all.insert(("new", ""), &record.new);
            for field in &record.fields {
                all.insert(("project", &field.name), &field.project);
            }
        }
        Structure::Sum(sum) => {
            all.insert(("variant", ""), &sum.variant);
            for variant in &sum.variants {
                all.insert(("construct", &variant.name), &variant.construct);
                all.insert(("destruct", &variant.name), &variant.destruct);
            }
        }
        Structure::RecordArray(array) => {
            all.insert(("zip", ""), &array.zip);
            all.insert(("index", ""), &array.index);
            all.insert(("shape", ""), &array.shape);
            insert(&mut all, "new", &array.new);
            insert(&mut all, "set", &array.set);
            for field in &array.fields {
                all.insert(("project", &field.name), &field.project);
            }
        }
        Structure::OpaqueArray(array) => {
            all.insert(("index", ""), &array.index);
            all.insert(("shape", ""), &array.shape);
            insert(&mut all, "new", &array.new);
            insert(&mut all, "set", &array.set);
        }
    }
    all
}

fn insert<'p>(all: &mut Operations<'p>, word: &'static str, name: &'p Option<String>) {
    if let Some(name) = name {
        all.insert((word, ""), name);
    }
}
