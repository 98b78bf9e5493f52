//! Rules that a manifest's parts must keep.

use std::collections::HashSet;

use crate::error::{Error, ErrorKind, quote};
use crate::model::{Field, Structure, TypeKind};
use crate::path::Path;
use crate::program::{Type, TypeId, TypeRef};

/// A name that C accepts. Names go into C code as they are, so nothing else
/// may get through.
pub(crate) fn c_identifier(name: &str, path: &Path<'_>) -> Result<(), Error> {
    if is_c_identifier(name) {
        return Ok(());
    }
    let expected = "the name of a C function";
    let kind = ErrorKind::InvalidCName;
    Err(Error::new(kind, path, expected, quote(name)))
}

/// Takes the tag out of `struct TAG *`.
pub(crate) fn struct_pointer<'a>(ctype: &'a str, path: &Path<'_>) -> Result<&'a str, Error> {
    let tag = ctype
        .strip_prefix("struct ")
        .and_then(|rest| rest.strip_suffix(" *"))
        .filter(|tag| is_c_identifier(tag));
    tag.ok_or_else(|| {
        let expected = "a pointer to a C struct, written \"struct NAME *\"";
        Error::new(ErrorKind::InvalidCName, path, expected, quote(ctype))
    })
}

/// Names of which each may occur once.
pub(crate) fn distinct<'a>(
    names: impl Iterator<Item = &'a str>,
    path: &Path<'_>,
    what: &str,
) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for (index, name) in names.enumerate() {
        if !seen.insert(name) {
            let path = path.index(index);
            let expected = format!("the name of a {what} that no other {what} has");
            let kind = ErrorKind::Duplicate;
            return Err(Error::new(kind, &path.key("name"), expected, quote(name)));
        }
    }
    Ok(())
}

/// What can be said about types only when all of them are known.
pub(crate) fn types(types: &[Type]) -> Result<(), Error> {
    let root = Path::Root;
    let path = root.key("types");
    for ty in types {
        let path = path.key(&ty.name);
        let TypeKind::Opaque(opaque) = &ty.kind else {
            continue;
        };
        match &opaque.structure {
            Structure::Plain | Structure::Record(_) | Structure::Sum(_) => {}
            Structure::RecordArray(array) => {
                let path = path.key("record_array");
                record_array_element(types, array.elem, &array.fields, &path)?;
            }
            Structure::OpaqueArray(array) => {
                let path = path.key("opaque_array");
                opaque_array_element(types, array.elem, &path)?;
            }
        }
    }
    acyclic(types)
}

fn record_array_element(
    types: &[Type],
    elem: TypeRef,
    fields: &[Field],
    path: &Path<'_>,
) -> Result<(), Error> {
    let elem_path = path.key("elemtype");
    let expected = "the name of a record type";
    let element = listed(types, elem, &elem_path, expected)?;
    let Some(record) = element.as_record() else {
        let found = format!("{}, which is none", quote(&element.name));
        let kind = ErrorKind::Inconsistent;
        return Err(Error::new(kind, &elem_path, expected, found));
    };

    let own = fields.iter().map(|field| &field.name);
    let wanted = record.fields.iter().map(|field| &field.name);
    let path = path.key("fields");
    if !own.eq(wanted) {
        let expected = format!("the fields of {}, in that order", quote(&element.name));
        let kind = ErrorKind::Inconsistent;
        return Err(Error::new(kind, &path, expected, "others"));
    }
    for (index, field) in fields.iter().enumerate() {
        let path = path.index(index);
        listed(types, field.ty, &path.key("type"), "an array type")?;
    }
    Ok(())
}

fn opaque_array_element(types: &[Type], elem: TypeRef, path: &Path<'_>) -> Result<(), Error> {
    let path = path.key("elemtype");
    let expected = "the name of an opaque type";
    let element = listed(types, elem, &path, expected)?;
    if element.as_opaque().is_some() {
        return Ok(());
    }
    let found = format!("{}, which is an array of scalars", quote(&element.name));
    Err(Error::new(ErrorKind::Inconsistent, &path, expected, found))
}

/// The type behind a reference that must not be a scalar.
fn listed<'a>(
    types: &'a [Type],
    ty: TypeRef,
    path: &Path<'_>,
    expected: &str,
) -> Result<&'a Type, Error> {
    match ty {
        TypeRef::Type(id) => Ok(&types[id.index()]),
        TypeRef::Scalar(elem) => {
            let found = format!("{}, which is a scalar", quote(elem.as_str()));
            Err(Error::new(ErrorKind::Inconsistent, path, expected, found))
        }
    }
}

/// No type contains itself: readers may then recurse into parts without end.
/// The walk has a stack of its own, since a chain of types may be long.
fn acyclic(types: &[Type]) -> Result<(), Error> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Not,
        Now,
        Done,
    }
    let parts = |id: TypeId| types[id.index()].parts().filter_map(TypeRef::as_type);

    let mut visits = vec![Visit::Not; types.len()];
    for root in (0..types.len()).map(TypeId::new) {
        if visits[root.index()] != Visit::Not {
            continue;
        }
        visits[root.index()] = Visit::Now;
        let mut stack = vec![(root, parts(root))];
        while let Some((id, rest)) = stack.last_mut() {
            let Some(part) = rest.next() else {
                visits[id.index()] = Visit::Done;
                stack.pop();
                continue;
            };
            match visits[part.index()] {
                Visit::Done => {}
                Visit::Not => {
                    visits[part.index()] = Visit::Now;
                    stack.push((part, parts(part)));
                }
                Visit::Now => {
                    let root = Path::Root;
                    let path = root.key("types");
                    return Err(Error::new(
                        ErrorKind::Inconsistent,
                        &path.key(&types[part.index()].name),
                        "a type that is not a part of itself",
                        format!("a part of {}", quote(&types[id.index()].name)),
                    ));
                }
            }
        }
    }
    Ok(())
}

fn is_c_identifier(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_identifiers() {
        for name in ["a", "_", "futhark_entry_f_1", "X9"] {
            assert!(is_c_identifier(name), "{name}");
        }
        for name in ["", "9a", "a b", "a;", "a.b", "é", "a\n", "f'"] {
            assert!(!is_c_identifier(name), "{name:?}");
        }
    }

    #[test]
    fn c_struct_pointers() {
        let path = Path::Root;
        assert_eq!(struct_pointer("struct a_1 *", &path).unwrap(), "a_1");
        for ctype in [
            "",
            "struct a",
            "a *",
            "struct  a *",
            "struct a**",
            "struct *",
        ] {
            assert!(struct_pointer(ctype, &path).is_err(), "{ctype:?}");
        }
    }
}
