//! Arrays of records and of other opaque values, and their elements.

use super::Check;
use crate::code::Code;
use crate::elem::ElemType;
use crate::error::quote;
use crate::json::Path;
use crate::model::{Field, OpaqueArray, RecordArray, Structure, TypeKind};
use crate::raw::Manifest;

/// The elements are records, and there is an array for each of their fields.
pub(super) fn of_records(check: &mut Check<'_>, array: &RecordArray<String>, path: &Path<'_>) {
    let elem_path = path.key("elemtype");
    let expected = "the name of a record type";
    let fields = match Meaning::of(check.manifest, &array.elem) {
        None => return,
        Some(Meaning::Opaque(Structure::Record(record))) => &record.fields,
        Some(other) => return wrong_element(check, &elem_path, expected, &array.elem, other),
    };

    if array.rank == 0 {
        return;
    }
    let path = path.key("fields");
    let own = array.fields.iter().map(|field| &field.name);
    if !own.eq(fields.iter().map(|field| &field.name)) {
        let expected = format!("the fields of {}, in that order", quote(&array.elem));
        check.report(Code::FieldsDisagree, &path, expected, "others");
        return;
    }
    for (index, (own, field)) in array.fields.iter().zip(fields).enumerate() {
        let path = path.index(index);
        field_array(check, array.rank, own, field, &path.key("type"));
    }
}

/// The elements are opaque, and no arrays of scalars.
pub(super) fn of_opaques(check: &mut Check<'_>, array: &OpaqueArray<String>, path: &Path<'_>) {
    let path = path.key("elemtype");
    let expected = "the name of an opaque type";
    match Meaning::of(check.manifest, &array.elem) {
        None | Some(Meaning::Opaque(_)) => {}
        Some(other) => wrong_element(check, &path, expected, &array.elem, other),
    }
}

/// The field of an array of records is an array of that field: the dimensions of
/// the records come first, then those of the field itself, and its elements are
/// what the field's elements are.
///
/// Names of opaque types are not compared, since a type can stand under several.
fn field_array(
    check: &mut Check<'_>,
    rank: usize,
    own: &Field<String>,
    field: &Field<String>,
    path: &Path<'_>,
) {
    let manifest = check.manifest;
    let meanings = (
        Meaning::of(manifest, &own.ty),
        Meaning::of(manifest, &field.ty),
    );
    let (Some(whole), Some(one)) = meanings else {
        return;
    };
    let wanted = rank.saturating_add(one.rank());
    let fits = whole.rank() == wanted && whole.scalar() == one.scalar();
    if fits || !whole.tells_its_rank() {
        return;
    }
    let elem = one.scalar().map_or("opaque values", ElemType::as_str);
    let expected = array_in_words(elem, wanted);
    let found = format!("{}, which is {}", quote(&own.ty), whole.in_words());
    check.report(Code::WrongFieldType, path, expected, found);
}

fn wrong_element(
    check: &mut Check<'_>,
    path: &Path<'_>,
    expected: &str,
    name: &str,
    meaning: Meaning<'_>,
) {
    let found = format!("{}, which is {}", quote(name), meaning.in_words());
    check.report(Code::WrongElement, path, expected, found);
}

/// What a reference to a type leads to.
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

    /// An opaque type of which nothing is known may be an array nevertheless.
    fn tells_its_rank(self) -> bool {
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
