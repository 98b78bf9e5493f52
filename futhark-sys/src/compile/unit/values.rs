//! What each type needs in C: the layout of a value, and the wrappers of its functions, except calls (`wrappers.rs`).
//!
//! New and set of arrays of opaque values, of Futhark 0.25.36 and later, validate the shapes of the elements.

use std::collections::BTreeSet;

use futhark_manifest::c::CType;
use futhark_manifest::{Function, Operation, Structure, Type, TypeId, TypeKind, TypeRef};

use super::inputs::{Unit, array, elem_number, indexed};
use crate::compile::generated::layout::{self, ArrayStruct, Component};

pub(super) fn write(unit: &Unit<'_>) -> String {
    let program = unit.program;
    let types = program.types().iter();
    let frees = types.map(|ty| format!("FUT_WRAPPER(fut_w_{});\n", ty.free()));
    let mut c: String = frees.collect();
    // A copy of an opaque value copies its arrays, whose types need not be in the manifest.
    let arrays: BTreeSet<&ArrayStruct> = unit.generated.layouts.all_arrays().collect();
    c.extend(arrays.into_iter().map(|array| array_type(unit, array)));
    let functions = |&(id, ty): &(TypeId, &Type)| -> String {
        let all = program.functions_of(id);
        all.map(|function| wrapper(unit, ty, &function)).collect()
    };
    // The layouts of opaque values refer to wrappers of arrays, and wrappers of opaque values to layouts.
    let (opaque, arrays): (Vec<_>, Vec<_>) =
        (program.types_with_ids()).partition(|(_, ty)| ty.as_opaque().is_some());
    c.extend(arrays.iter().map(functions));
    c.extend(opaque.iter().map(|(_, ty)| opaque_type(unit, ty)));
    c.extend(opaque.iter().map(functions));
    c
}

/// The name of the function that reads the reference count.
pub(super) fn references(unit: &Unit<'_>, ty: &Type) -> String {
    let ident = ty.c_ident();
    match unit.generated.layouts.arrays(ident).next() {
        _ if ty.as_opaque().is_none() => "fut_references_of_array".to_owned(),
        Some(_) => format!("fut_references_{ident}"),
        None => "fut_no_references".to_owned(),
    }
}

/// The wrapper that copies an array, and those of an array that the manifest lacks, which parts of values need.
fn array_type(unit: &Unit<'_>, array: &ArrayStruct) -> String {
    let (ident, elem, rank) = (&array.ident, array.elem.c_type(), array.rank);
    let [new, values, free] = ["new", "values", "free"].map(|operation| array.function(operation));
    let mut c = format!("FUT_ASSERT_ARRAY({ident}, {rank})\n");
    if unit.generated.layouts.array(ident).is_none() {
        c += &format!("FUT_WRAP_FREE({free}, {ident})\n");
        let dims = indexed("dims", rank);
        c += &format!("FUT_WRAP_NEW({new}, {ident}, {elem}, fut_w_{free}, {dims})\n");
    }
    let dims = (0..rank).map(|i| format!("(size_t)value->shape[{i}]"));
    c + &format!(
        "FUT_WRAP_DUPLICATE({ident}, {elem}, {new}, {values}, {free}, fut_w_{free}, {}, {})\n",
        dims.collect::<Vec<_>>().join(" * "),
        indexed("value->shape", rank)
    )
}

/// The layout of an opaque type, and the wrappers that need only the layout.
fn opaque_type(unit: &Unit<'_>, ty: &Type) -> String {
    let ident = ty.c_ident();
    let parts = unit.generated.layouts.arrays(ident).map(|(i, array)| {
        let [new, free] = ["new", "free"].map(|operation| array.function(operation));
        let (rank, size) = (array.rank, array.element_size());
        let duplicate = format!("fut_w_duplicate_{}", array.ident);
        format!("  {{offsetof(struct {ident}, v{i}), {rank}, {size}, fut_w_{new}, {duplicate}, fut_w_{free}}},\n")
    });
    let parts: Vec<String> = parts.collect();
    let (name, n) = (format!("fut_parts_{ident}"), parts.len());
    let (name, list) = array("fut_part", &name, &parts.concat());
    let mut c = components(unit, ty);
    c += &format!(
        "{list}static const struct fut_layout fut_layout_{ident} = {{{name}, {n}, sizeof(struct {ident})}};\n\
         FUT_WRAP_DUPLICATE_OPAQUE({ident})\n"
    );
    if n > 0 {
        c += &format!("FUT_REFERENCES({ident})\n");
    }
    if has_columns(unit, ty) {
        c += &format!("FUT_WRAP_COLUMNS({ident})\n");
    }
    c
}

/// The components in the table, and assertions that they match the struct.
fn components(unit: &Unit<'_>, ty: &Type) -> String {
    let (ident, layouts) = (ty.c_ident(), &unit.generated.layouts);
    let all = layouts.components(ident);
    if all.is_empty() {
        return format!(
            "_Static_assert(sizeof(struct {ident}) <= 1, \"{ident} has components that were not read\");\n"
        );
    }
    let (rules, _) = layout::rules(layouts, unit.program, ty);
    let (mut assertions, mut table, mut fields) = (String::new(), String::new(), String::new());
    for (i, (component, rule)) in all.iter().zip(rules).enumerate() {
        let (elem, rank, c_type, shape) = match component {
            Component::Scalar(elem) => (*elem, 0, elem.c_type().to_owned(), "0".to_owned()),
            Component::Array(ArrayStruct { ident, elem, rank }) => {
                let shape = format!("offsetof(struct {ident}, shape)");
                (*elem, *rank, format!("struct {ident} *"), shape)
            }
        };
        assertions += &format!(
            "_Static_assert(__builtin_types_compatible_p(__typeof__(((struct {ident} *)0)->v{i}), {c_type}), \
             \"component {i} of {ident} does not have the type that was read\");\n"
        );
        table += &format!(
            "  {{{}u, {rank}u, {}u, {}u, {}u, offsetof(struct {ident}, v{i}), {shape}}},\n",
            elem_number(elem),
            rule.variants,
            rule.like,
            rule.shared
        );
        fields += &format!("  {c_type} v{i};\n");
    }
    // Equal sizes mean that no component was missed.
    format!(
        "{assertions}static const struct fut_component fut_components_{ident}[] = {{\n{table}}};\n\
         struct fut_read_{ident} {{\n{fields}}};\n\
         _Static_assert(sizeof(struct {ident}) == sizeof(struct fut_read_{ident}), \
         \"{ident} has components that were not read\");\n"
    )
}

/// The type of the elements, if the values are arrays.
pub(super) fn element(ty: &Type) -> Option<TypeRef> {
    match &ty.kind {
        TypeKind::Array(array) => Some(TypeRef::Scalar(array.elem)),
        TypeKind::Opaque(opaque) => match &opaque.structure {
            Structure::RecordArray(array) => Some(array.elem),
            Structure::OpaqueArray(array) => Some(array.elem),
            _ => None,
        },
    }
}

/// The wrapper of a function of `ty`; nothing for a call.
fn wrapper(unit: &Unit<'_>, ty: &Type, function: &Function<'_>) -> String {
    let (f, ident, rank) = (function.name, ty.c_ident(), ty.rank());
    let free = format!("fut_w_{}", ty.free());
    let (dims, indices) = (indexed("dims", rank), indexed("indices", rank));
    let elem = element(ty).map_or(String::new(), |elem| unit.c_type(elem));
    let wrapper = match function.operation {
        Operation::ArrayNew => format!("NEW({f}, {ident}, {elem}, {free}, {dims})"),
        Operation::ArrayNewRaw => {
            let memory = CType::raw_memory(unit.program.backend);
            format!("BORROW({f}, {ident}, {memory}, {free}, {dims})")
        }
        Operation::ArrayValues => format!("VALUES({f}, {ident}, {elem})"),
        Operation::ArrayIndex => format!("INDEX({f}, {ident}, {elem}, {indices})"),
        Operation::ArrayValuesRaw => format!("RAW_MEMORY({f}, {ident})"),
        Operation::ArrayShape | Operation::RecordArrayShape | Operation::OpaqueArrayShape => {
            format!("SHAPE({f}, {ident})")
        }
        Operation::ArrayFree | Operation::OpaqueFree => format!("FREE({f}, {ident})"),
        Operation::OpaqueStore => store(unit, f, ident),
        Operation::OpaqueRestore => {
            let check = unit.check_result(ty, 0).unwrap_or_default();
            format!("RESTORE({f}, {ident}, {check}, {free})")
        }
        Operation::RecordArrayIndex | Operation::OpaqueArrayIndex => {
            let value = element(ty).and_then(TypeRef::as_type);
            let value = value.map(|id| unit.program.get(id));
            let check = value
                .and_then(|ty| unit.check_result(ty, 0))
                .unwrap_or_default();
            let leave = match value {
                Some(ty) => format!("fut_leave_value(c, rc, out, fut_w_{})", ty.free()),
                None => "fut_leave(c, rc)".to_owned(),
            };
            format!("OPAQUE_INDEX({f}, {ident}, {elem}, {check}, {leave}, {indices})")
        }
        Operation::RecordArrayNew | Operation::OpaqueArrayNew => {
            let fits = fits(unit, ty, |i, part| match part {
                Component::Scalar(_) => format!("FUT_FITS_SCALAR({i}, {rank}) "),
                Component::Array(array) => {
                    let (inner, elem) = (array.rank, array.elem.c_type());
                    format!("FUT_FITS_ARRAY({i}, {rank}, {inner}, {elem}) ")
                }
            });
            let product = dims.replace(", ", " * ");
            let fits = fits.map_or(String::new(), |fits| format!("FUT_FITS({product}, {fits})"));
            format!("OPAQUE_NEW({f}, {ident}, {elem}, {free}, {fits}, {dims})")
        }
        Operation::RecordArraySet | Operation::OpaqueArraySet => {
            let fits = fits(unit, ty, |i, part| match part {
                Component::Scalar(_) => String::new(),
                Component::Array(array) => format!("FUT_FITS_IN({i}, {rank}, {}) ", array.rank),
            });
            let fits = fits.unwrap_or_default();
            format!("OPAQUE_SET({f}, {ident}, {elem}, {fits}, {indices})")
        }
        _ => return String::new(),
    };
    format!("FUT_WRAP_{wrapper}\n")
}

/// The end of the wrappers that store a value. They refuse one whose stored size C would compute wrongly.
fn store(unit: &Unit<'_>, f: &str, ident: &str) -> String {
    let arrays = || unit.generated.layouts.arrays(ident);
    let storable = arrays().next();
    let storable = storable.map(|_| format!("fut_expect_storable(c, &fut_layout_{ident}, in[0]);"));
    let storable = storable.unwrap_or_default();
    let units = match arrays().any(|(_, array)| array.element_size() == 0) {
        true => format!("FUT_CLEAR_UNITS({f}, {ident})"),
        false => String::new(),
    };
    format!(
        "STORED_SIZE({f}, {ident}, {storable})\n\
         FUT_WRAP_STORE({f}, {ident}, {storable}, {units})"
    )
}

/// The checks of each component of an element, if the components of the array are the same with additional outer
/// dimensions, as in all known versions. Otherwise only the C function validates its arguments.
fn fits(
    unit: &Unit<'_>,
    array: &Type,
    check: impl Fn(usize, &Component) -> String,
) -> Option<String> {
    let layouts = &unit.generated.layouts;
    let elem = unit.program.get(element(array)?.as_type()?);
    if elem.as_opaque().is_none() || !layout::is_array_of(layouts, array, elem) {
        return None;
    }
    let parts = layouts.components(elem.c_ident()).iter().enumerate();
    Some(parts.map(|(i, part)| check(i, part)).collect())
}

/// Whether the table has the columns of `ty`.
pub(super) fn has_columns(unit: &Unit<'_>, ty: &Type) -> bool {
    !unit.program.backend.is_gpu() && unit.generated.columns.contains(ty.c_ident())
}
