//! Wrappers of arrays of opaque values: index, shape, and the new and set of compilers from
//! 0.25.36 on, with what is looked at before those are called.

use std::fmt::Write as _;

use futhark_manifest::{OpaqueType, Structure, Type, TypeRef};

use super::wrappers::{indexed, open, write_shape};
use super::{Unit, shapes};
use crate::compile::generated::layout::{self, Component};

/// What arrays of records and arrays of opaques have in common.
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
    write_shape(c, &format!("struct {} *", ty.c_ident()), ops.shape);
    write_index(unit, ty, &ops, c);
    if let Some(new) = ops.new {
        write_new(unit, ty, &ops, new, c);
    }
    if let Some(set) = ops.set {
        write_set(unit, ty, &ops, set, c);
    }
}

fn write_index(unit: &Unit<'_>, ty: &Type, ops: &ArrayOps<'_>, c: &mut String) {
    let (ident, elem, index) = (ty.c_ident(), unit.c_type(ops.elem), ops.index);
    let free_elem = match ops.elem {
        TypeRef::Type(id) => {
            let elem = unit.program.get(id);
            format!(
                "FUT_FREE_RESULT(c, out, 0, struct {}, {})",
                elem.c_ident(),
                elem.free()
            )
        }
        TypeRef::Scalar(_) => "(void)0".to_owned(),
    };
    open(c, index);
    let list = indexed("indices", ops.rank);
    // A unit in the element is never written.
    let _ = writeln!(
        c,
        "  const int64_t *indices = in[1];\n  *(void **)out[0] = NULL;\n  FUT_ENTER(c)\n  \
         fut_self.zero = true;\n  int rc = {index}(c->ctx, ({elem}*)out[0], (struct {ident} *)in[0]{list});\n  fut_self.zero = false;\n{check}  \
         FUT_SYNC(c, rc);\n  FUT_LEAVE(c, rc, {free_elem})\n}}",
        check = shapes::result(unit.program, ops.elem, 0),
    );
}

/// `int new(ctx, O **out, E **elems, int64_t dim0, …)`
fn write_new(unit: &Unit<'_>, ty: &Type, ops: &ArrayOps<'_>, new: &str, c: &mut String) {
    let (ident, elem, rank) = (ty.c_ident(), unit.c_type(ops.elem), ops.rank);
    let _ = writeln!(
        c,
        "static char *fut_fit_{new}({elem}*elems, const int64_t *dims) {{\n  \
         (void)elems;\n  (void)dims;"
    );
    if let Some(parts) = parts(unit, ty, ops) {
        let n = (1..rank).fold("dims[0]".to_owned(), |n, i| format!("{n} * dims[{i}]"));
        let _ = writeln!(c, "  int64_t n = {n};\n  if (n == 0)\n    return NULL;");
        for (i, part) in parts.iter().enumerate() {
            let Component::Array(array) = part else {
                let _ = writeln!(
                    c,
                    "  if (!fut_has_size(dims, {rank}, NULL, 0, sizeof elems[0]->v{i}))\n    \
                     return fut_no_size(dims, {rank}, NULL, 0);"
                );
                continue;
            };
            let (inner, size) = (array.rank, array.elem.c_type());
            let _ = writeln!(
                c,
                "  const int64_t *first{i} = elems[0]->v{i}->shape;\n  \
                 for (int64_t i = 1; i < n; i++)\n    \
                 if (!fut_same_shape(elems[i]->v{i}->shape, first{i}, {inner}))\n      \
                 return fut_misfit_new(i, elems[i]->v{i}->shape, first{i}, {inner});\n  \
                 if (!fut_has_size(dims, {rank}, first{i}, {inner}, sizeof({size})))\n    \
                 return fut_no_size(dims, {rank}, first{i}, {inner});"
            );
        }
    }
    c.push_str("  return NULL;\n}\n");
    open(c, new);
    let list = indexed("dims", rank);
    let _ = writeln!(
        c,
        "  const int64_t *dims = in[1];\n  *(void **)out[0] = NULL;\n  FUT_ENTER(c)\n  \
         FUT_REFUSE(c, fut_fit_{new}(({elem}*)in[0], dims))\n  \
         int rc = {new}(c->ctx, (struct {ident} **)out[0], ({elem}*)in[0]{list});\n  FUT_SYNC(c, rc);\n  \
         FUT_LEAVE(c, rc, FUT_FREE_RESULT(c, out, 0, struct {ident}, {free}))\n}}",
        free = ty.free(),
    );
}

/// `int set(ctx, O *arr, E *elem, int64_t i0, …)`
fn write_set(unit: &Unit<'_>, ty: &Type, ops: &ArrayOps<'_>, set: &str, c: &mut String) {
    let (ident, elem, rank) = (ty.c_ident(), unit.c_type(ops.elem), ops.rank);
    let _ = writeln!(
        c,
        "static char *fut_fit_{set}(const struct {ident} *array, {elem}elem) {{\n  \
         (void)array;\n  (void)elem;"
    );
    for (i, part) in parts(unit, ty, ops).into_iter().flatten().enumerate() {
        let Component::Array(array) = part else {
            continue;
        };
        let inner = array.rank;
        let _ = writeln!(
            c,
            "  if (!fut_same_shape(elem->v{i}->shape, array->v{i}->shape + {rank}, {inner}))\n    \
             return fut_misfit_set(elem->v{i}->shape, array->v{i}->shape + {rank}, {inner});"
        );
    }
    c.push_str("  return NULL;\n}\n");
    open(c, set);
    let list = indexed("indices", rank);
    let _ = writeln!(
        c,
        "  const int64_t *indices = in[2];\n  FUT_ENTER(c)\n  \
         FUT_REFUSE(c, fut_fit_{set}((const struct {ident} *)in[0], ({elem})in[1]))\n  \
         int rc = {set}(c->ctx, (struct {ident} *)in[0], ({elem})in[1]{list});\n  \
         FUT_SYNC(c, rc);\n  FUT_LEAVE(c, rc, (void)0)\n}}"
    );
}

/// The components of an element, if those of the array are the same with the array's
/// dimensions before theirs. So it is in every version that is known; in another one the C
/// function is left to look at its arguments alone.
fn parts<'u>(unit: &'u Unit<'_>, ty: &Type, ops: &ArrayOps<'_>) -> Option<&'u [Component]> {
    let TypeRef::Type(elem) = ops.elem else {
        return None;
    };
    let layouts = &unit.generated.layouts;
    let elem = unit.program.get(elem);
    let known = elem.as_opaque().is_some() && layout::is_array_of(layouts, ty, elem, ops.rank);
    known.then(|| layouts.components(elem.c_ident()))
}
