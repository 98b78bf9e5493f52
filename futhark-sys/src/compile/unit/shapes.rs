//! Validates the shapes of arguments and results: see `fut_shapes.h`.

use std::fmt::Write as _;

use futhark_manifest::{Program, TypeRef};

use super::Unit;
use crate::compile::generated::layout::{ArrayStruct, Component};

/// Writes a function for each type that finds an array with an invalid shape in a value.
pub(super) fn write(unit: &Unit<'_>, c: &mut String) {
    let layouts = &unit.generated.layouts;
    for ty in unit.program.types() {
        let ident = ty.c_ident();
        let arrays = match ty.as_opaque() {
            None => vec![(layouts.array(ident), "value".to_owned())],
            Some(_) => {
                let components = layouts.components(ident).iter().enumerate();
                let arrays = components.filter_map(|(i, component)| match component {
                    Component::Array(array) => Some((array, format!("value->v{i}"))),
                    Component::Scalar(_) => None,
                });
                arrays.collect()
            }
        };
        // One for many arrays is long, and many wrappers call it.
        let inline = match arrays.len() {
            0 | 1 => "inline",
            _ => "__attribute__((noinline))",
        };
        let _ = writeln!(
            c,
            "static {inline} const int64_t *fut_misshapen_{ident}(const struct {ident} *value, int *rank) {{\n  \
             (void)value;\n  (void)rank;"
        );
        for (array, value) in arrays {
            write_array(array, &value, c);
        }
        c.push_str("  return NULL;\n}\n");
    }
}

fn write_array(array: &ArrayStruct, value: &str, c: &mut String) {
    let (rank, size) = (array.rank, array.element_size());
    let _ = writeln!(
        c,
        "  if (FUT_UNLIKELY(!fut_shape_fits({value}->shape, {rank}, {size}, FUT_BLOCK({value})))) {{\n    \
         *rank = {rank};\n    return {value}->shape;\n  }}"
    );
}

/// The validation of argument `i` before the call.
pub(super) fn argument(program: &Program, ty: TypeRef, i: usize) -> String {
    let TypeRef::Type(id) = ty else {
        return String::new();
    };
    let ident = program.get(id).c_ident();
    format!("FUT_CHECK_ARGUMENT(c, fut_misshapen_{ident}, in[{i}], \"argument {i}\") ")
}

/// The validation of result `i` after the call.
pub(super) fn result(program: &Program, ty: TypeRef, i: usize) -> String {
    let TypeRef::Type(id) = ty else {
        return String::new();
    };
    let ident = program.get(id).c_ident();
    format!(
        "FUT_CHECK_RESULT(c, rc, fut_misshapen_{ident}, *(struct {ident} **)out[{i}], \"result {i}\") "
    )
}
