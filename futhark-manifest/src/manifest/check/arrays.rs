//! Rules for arrays of records and of other opaque values.

use super::Checker;
use crate::elem::ElemType;
use crate::manifest::code::Code;
use crate::manifest::finding::quote;
use crate::manifest::json::Path;
use crate::manifest::model::{Field, OpaqueArray, RecordArray, Structure, TypeKind};
use crate::manifest::syntax::Manifest;

/// The elements must be records, and there must be an array for each of their fields.
pub(super) fn of_records(checker: &mut Checker<'_>, array: &RecordArray<String>, path: &Path<'_>) {
    let elem_path = path.key("elemtype");
    let expected = "the name of a record type";
    let fields = match Meaning::of(checker.manifest, &array.elem) {
        None => return,
        Some(Meaning::Opaque(Structure::Record(record))) => &record.fields,
        Some(other) => return wrong_element(checker, &elem_path, expected, &array.elem, other),
    };

    if array.rank == 0 {
        return;
    }
    let path = path.key("fields");
    let own = array.fields.iter().map(|field| &field.name);
    if !own.eq(fields.iter().map(|field| &field.name)) {
        let expected = format!("the fields of {}, in that order", quote(&array.elem));
        checker.report(Code::FieldsDisagree, &path, expected, "others");
        return;
    }
    for (index, (own, field)) in array.fields.iter().zip(fields).enumerate() {
        let path = path.index(index);
        field_array(checker, array.rank, own, field, &path.key("type"));
    }
}

/// The elements must be opaque, and not arrays of scalars.
pub(super) fn of_opaques(checker: &mut Checker<'_>, array: &OpaqueArray<String>, path: &Path<'_>) {
    let path = path.key("elemtype");
    let expected = "the name of an opaque type";
    match Meaning::of(checker.manifest, &array.elem) {
        None | Some(Meaning::Opaque(_)) => {}
        Some(other) => wrong_element(checker, &path, expected, &array.elem, other),
    }
}

/// A field of an array of records must be an array of that field: its rank is the sum of both ranks,
/// and it has the same scalar elements as the field.
///
/// Does not compare names of opaque types, since one type can have several.
fn field_array(
    checker: &mut Checker<'_>,
    rank: usize,
    own: &Field<String>,
    field: &Field<String>,
    path: &Path<'_>,
) {
    let manifest = checker.manifest;
    let meanings = (
        Meaning::of(manifest, &own.ty),
        Meaning::of(manifest, &field.ty),
    );
    let (Some(whole), Some(one)) = meanings else {
        return;
    };
    let wanted = rank.saturating_add(one.rank());
    let fits = whole.rank() == wanted && whole.scalar() == one.scalar();
    if fits || !whole.has_known_rank() {
        return;
    }
    let elem = one.scalar().map_or("opaque values", ElemType::as_str);
    let expected = array_in_words(elem, wanted);
    let found = format!("{}, which is {}", quote(&own.ty), whole.in_words());
    checker.report(Code::WrongFieldType, path, expected, found);
}

fn wrong_element(
    checker: &mut Checker<'_>,
    path: &Path<'_>,
    expected: &str,
    name: &str,
    meaning: Meaning<'_>,
) {
    let found = format!("{}, which is {}", quote(name), meaning.in_words());
    checker.report(Code::WrongElement, path, expected, found);
}

/// The target of a reference to a type.
#[derive(Clone, Copy)]
enum Meaning<'m> {
    Scalar(ElemType),
    Array(ElemType, usize),
    Opaque(&'m Structure<String>),
}

impl<'m> Meaning<'m> {
    fn of(manifest: &'m Manifest, name: &str) -> Option<Meaning<'m>> {
        if let Some(elem) = ElemType::from_name(name) {
            return Some(Meaning::Scalar(elem));
        }
        Some(match &manifest.types.get(name)?.kind {
            TypeKind::Array(array) => Meaning::Array(array.elem, array.rank),
            TypeKind::Opaque(opaque) => Meaning::Opaque(&opaque.structure),
        })
    }

    fn rank(self) -> usize {
        match self {
            Meaning::Scalar(_) => 0,
            Meaning::Array(_, rank) => rank,
            Meaning::Opaque(structure) => structure.rank(),
        }
    }

    /// False for plain opaque types, which may be arrays.
    fn has_known_rank(self) -> bool {
        !matches!(self, Meaning::Opaque(Structure::Plain))
    }

    fn scalar(self) -> Option<ElemType> {
        match self {
            Meaning::Scalar(elem) | Meaning::Array(elem, _) => Some(elem),
            Meaning::Opaque(_) => None,
        }
    }

    fn in_words(self) -> String {
        match self {
            Meaning::Scalar(_) => "a scalar".to_owned(),
            Meaning::Array(elem, rank) => array_in_words(elem.as_str(), rank),
            Meaning::Opaque(Structure::Plain) => "opaque".to_owned(),
            Meaning::Opaque(Structure::Record(_)) => "a record".to_owned(),
            Meaning::Opaque(Structure::Sum(_)) => "a sum type".to_owned(),
            Meaning::Opaque(Structure::RecordArray(_)) => "an array of records".to_owned(),
            Meaning::Opaque(Structure::OpaqueArray(_)) => "an array of opaque values".to_owned(),
        }
    }
}

fn array_in_words(elem: &str, rank: usize) -> String {
    let dimensions = if rank == 1 { "dimension" } else { "dimensions" };
    format!("an array of {elem} with {rank} {dimensions}")
}
