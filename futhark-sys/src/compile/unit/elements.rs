//! The wrappers of arrays of opaque values: index, shape, and, for Futhark 0.25.36 and later, new and
//! set, which validate the shapes of the elements. On host backends also the columns of arrays of records.

use std::fmt::Write as _;

use futhark_manifest::{OpaqueType, Structure, Type, TypeRef};

use super::wrappers::{free_result, indexed};
use super::{Unit, shapes};
use crate::compile::generated::layout::{self, Component};

/// The operations of arrays of records and arrays of opaque values.
struct ArrayOps<'a> {
    rank: usize,
    elem: TypeRef,
    index: &'a str,
    shape: &'a str,
    new: Option<&'a str>,
    set: Option<&'a str>,
}

/// Writes the wrappers of `ty`, if it is an array.
pub(super) fn write(unit: &Unit<'_>, ty: &Type, opaque: &OpaqueType, c: &mut String) {
    let ops = match &opaque.structure {
        Structure::RecordArray(a) => ArrayOps {
            rank: a.rank,
            elem: a.elem,
            index: &a.index,
            shape: &a.shape,
            new: a.new.as_deref(),
            set: a.set.as_deref(),
        },
        Structure::OpaqueArray(a) => ArrayOps {
            rank: a.rank,
            elem: a.elem,
            index: &a.index,
            shape: &a.shape,
            new: a.new.as_deref(),
            set: a.set.as_deref(),
        },
        _ => return,
    };
    let _ = writeln!(c, "FUT_WRAP_SHAPE({}, {})", ops.shape, ty.c_ident());
    write_index(unit, ty, &ops, c);
    write_columns(unit, ty, &ops, c);
    if let Some(new) = ops.new {
        write_new(unit, ty, &ops, new, c);
    }
    if let Some(set) = ops.set {
        write_set(unit, ty, &ops, set, c);
    }
}

fn write_index(unit: &Unit<'_>, ty: &Type, ops: &ArrayOps<'_>, c: &mut String) {
    let free = match ops.elem {
        TypeRef::Type(id) => free_result(unit.program.get(id), 0),
        TypeRef::Scalar(_) => "(void)0".to_owned(),
    };
    let _ = writeln!(
        c,
        "FUT_WRAP_OPAQUE_INDEX({}, {}, {}, {}, {free}, {})",
        ops.index,
        ty.c_ident(),
        unit.c_type(ops.elem),
        shapes::result(unit.program, ops.elem, 0),
        indexed("indices", ops.rank),
    );
}

/// Whether the table has the columns of `ty`.
pub(super) fn has_columns(unit: &Unit<'_>, ty: &Type) -> bool {
    !unit.program.backend.is_gpu() && unit.generated.columns.contains(ty.c_ident())
}

fn write_columns(unit: &Unit<'_>, ty: &Type, ops: &ArrayOps<'_>, c: &mut String) {
    if !has_columns(unit, ty) {
        return;
    }
    let (mut list, mut news) = (String::new(), String::new());
    let components = unit.generated.layouts.components(ty.c_ident());
    for (i, component) in components.iter().enumerate() {
        if let Component::Array(array) = component {
            let (new, elem) = (array.function("new"), array.elem.c_type());
            let dims = indexed("dims", ops.rank);
            let _ = write!(list, "FUT_LIST_COLUMN({i}) ");
            let _ = write!(news, "FUT_NEW_COLUMN({i}, {new}, {elem}, {dims}) ");
        }
    }
    let (ident, free) = (ty.c_ident(), ty.free());
    let _ = writeln!(c, "FUT_WRAP_COLUMNS({ident}, {free}, {list}, {news})");
}

/// `int new(ctx, O **out, E **elems, int64_t dim0, …)`
fn write_new(unit: &Unit<'_>, ty: &Type, ops: &ArrayOps<'_>, new: &str, c: &mut String) {
    let rank = ops.rank;
    let mut fits = String::new();
    if let Some(parts) = parts(unit, ty, ops) {
        let dims: Vec<_> = (0..rank).map(|i| format!("dims[{i}]")).collect();
        let _ = write!(fits, "FUT_FITS({}, ", dims.join(" * "));
        for (i, part) in parts.iter().enumerate() {
            let _ = match part {
                Component::Scalar(_) => write!(fits, "FUT_FITS_SCALAR({i}, {rank}) "),
                Component::Array(array) => write!(
                    fits,
                    "FUT_FITS_ARRAY({i}, {rank}, {}, {}) ",
                    array.rank,
                    array.elem.c_type()
                ),
            };
        }
        fits.push(')');
    }
    let _ = writeln!(
        c,
        "FUT_WRAP_OPAQUE_NEW({new}, {}, {}, {}, {fits}, {})",
        ty.c_ident(),
        unit.c_type(ops.elem),
        ty.free(),
        indexed("dims", rank),
    );
}

/// `int set(ctx, O *arr, E *elem, int64_t i0, …)`
fn write_set(unit: &Unit<'_>, ty: &Type, ops: &ArrayOps<'_>, set: &str, c: &mut String) {
    let mut fits = String::new();
    for (i, part) in parts(unit, ty, ops).into_iter().flatten().enumerate() {
        if let Component::Array(array) = part {
            let _ = write!(fits, "FUT_FITS_IN({i}, {}, {}) ", ops.rank, array.rank);
        }
    }
    let _ = writeln!(
        c,
        "FUT_WRAP_OPAQUE_SET({set}, {}, {}, {fits}, {})",
        ty.c_ident(),
        unit.c_type(ops.elem),
        indexed("indices", ops.rank),
    );
}

/// The components of an element, if the components of the array are the same with additional outer
/// dimensions, as in all known versions. Otherwise only the C function validates its arguments.
fn parts<'u>(unit: &'u Unit<'_>, ty: &Type, ops: &ArrayOps<'_>) -> Option<&'u [Component]> {
    let TypeRef::Type(elem) = ops.elem else {
        return None;
    };
    let layouts = &unit.generated.layouts;
    let elem = unit.program.get(elem);
    let known = elem.as_opaque().is_some() && layout::is_array_of(layouts, ty, elem, ops.rank);
    known.then(|| layouts.components(elem.c_ident()))
}
