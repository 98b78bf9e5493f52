//! What the parts of our C file are written from, and how types, lists and text are written in C.

use std::fmt::Write as _;

use futhark_manifest::{ElemType, Program, Type, TypeRef};

use crate::compile::generated::Generated;
use crate::table::FUT_FIRST_TYPE;

pub(in crate::compile) struct Unit<'a> {
    pub program: &'a Program,
    /// The file name, without extension, of the generated code.
    pub name: &'a str,
    pub generated: &'a Generated<'a>,
    pub manifest_text: &'a str,
    /// Identifies source, compiler and layout.
    pub program_id: &'a str,
    pub hardened: bool,
    /// Whether checks of a hardened unit are missing.
    pub partial: bool,
    /// The name of the table.
    pub symbol: &'a str,
    /// The functions that a raw module offers.
    pub plain: &'a [&'a str],
}

impl Unit<'_> {
    /// The C type of a variable for a value of type `ty`.
    pub(super) fn c_type(&self, ty: TypeRef) -> String {
        match ty {
            TypeRef::Scalar(elem) => elem.c_type().to_owned(),
            TypeRef::Type(id) => format!("struct {} *", self.program.get(id).c_ident()),
        }
    }

    /// The statement that validates the shapes of argument `i`; nothing if the value has no arrays.
    pub(super) fn check_argument(&self, ty: &Type, i: usize) -> Option<String> {
        let (kind, shapes) = self.shapes(ty)?;
        Some(format!("fut_check_{kind}(c, {i}, in[{i}], {shapes}); "))
    }

    /// The same for result `i`.
    pub(super) fn check_result(&self, ty: &Type, i: usize) -> Option<String> {
        let (kind, shapes) = self.shapes(ty)?;
        Some(format!(
            "rc = fut_check_new_{kind}(c, rc, {i}, out[{i}], {shapes}); "
        ))
    }

    /// The kind of a value with arrays, and the arguments of `fut_check_…` that say which.
    fn shapes(&self, ty: &Type) -> Option<(&'static str, String)> {
        let ident = ty.c_ident();
        let (_, first) = self.generated.layouts.arrays(ident).next()?;
        Some(match ty.as_opaque() {
            Some(_) => ("opaque", format!("&fut_layout_{ident}")),
            None => ("array", format!("{}, {}", first.rank, first.element_size())),
        })
    }
}

/// The number of a type in the table.
pub(super) fn type_number(ty: TypeRef) -> usize {
    match ty {
        TypeRef::Scalar(elem) => elem_number(elem),
        TypeRef::Type(id) => FUT_FIRST_TYPE as usize + id.index(),
    }
}

/// The number of an element type in the table, which has the order of the manifest.
pub(super) fn elem_number(elem: ElemType) -> usize {
    elem as usize
}

/// For rank 2: `name[0], name[1]`.
pub(super) fn indexed(name: &str, rank: usize, separator: &str) -> String {
    let all: Vec<_> = (0..rank).map(|i| format!("{name}[{i}]")).collect();
    all.join(separator)
}

/// The name of an array of constants, and its definition; NULL and nothing if it has no rows.
pub(super) fn array(ty: &str, name: String, rows: &str) -> (String, String) {
    match rows {
        "" => ("NULL".to_owned(), String::new()),
        _ => {
            let definition = format!("static const {ty} {name}[] = {{\n{rows}}};\n");
            (name, definition)
        }
    }
}

/// A C string literal, split into pieces, with all special characters escaped.
pub(super) fn literal(text: &str) -> String {
    let mut c = "    \"".to_owned();
    for (i, byte) in text.bytes().enumerate() {
        if i > 0 && i % 100 == 0 {
            c.push_str("\"\n    \"");
        }
        match byte {
            b'"' | b'\\' => c.extend(['\\', byte as char]),
            // An octal escape of three digits ends there; `?` could form a trigraph.
            b' '..=b'~' if byte != b'?' => c.push(byte as char),
            _ => {
                let _ = write!(c, "\\{byte:03o}");
            }
        }
    }
    c.push('"');
    c
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table as number;

    #[test]
    fn element_types_have_the_numbers_of_the_table() {
        for (elem, number) in [
            (ElemType::I8, number::FUT_I8),
            (ElemType::I16, number::FUT_I16),
            (ElemType::I32, number::FUT_I32),
            (ElemType::I64, number::FUT_I64),
            (ElemType::U8, number::FUT_U8),
            (ElemType::U16, number::FUT_U16),
            (ElemType::U32, number::FUT_U32),
            (ElemType::U64, number::FUT_U64),
            (ElemType::F16, number::FUT_F16),
            (ElemType::F32, number::FUT_F32),
            (ElemType::F64, number::FUT_F64),
            (ElemType::Bool, number::FUT_BOOL),
        ] {
            assert_eq!(elem_number(elem), number as usize);
        }
    }
}
