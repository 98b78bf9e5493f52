//! What each type needs in C: the reference count and the copy of a value, the components of an opaque one, and the
//! wrappers of its functions, except calls (`wrappers.rs`).
//!
//! New and set of arrays of opaque values, of Futhark 0.25.36 and later, validate the shapes of the elements.

use std::collections::BTreeSet;

use futhark_manifest::c::CType;
use futhark_manifest::{Function, Operation, Structure, Type, TypeKind, TypeRef};

use super::inputs::{Unit, elem_number, indexed};
use super::wrappers::{check_result, free_result};
use crate::compile::generated::layout::{self, ArrayStruct, Component};

pub(super) fn write(unit: &Unit<'_>) -> String {
    let program = unit.program;
    // A copy of an opaque value copies its arrays, whose types need not be in the manifest.
    let arrays: BTreeSet<&ArrayStruct> = unit.generated.layouts.all_arrays().collect();
    let mut c: String = arrays.into_iter().map(duplicate_array).collect();
    for (id, ty) in program.types_with_ids() {
        let (ident, free) = (ty.c_ident(), ty.free());
        c += &match ty.kind {
            TypeKind::Array(_) => format!("FUT_ARRAY_REFERENCES({ident})\n"),
            TypeKind::Opaque(_) => opaque_value(unit, ty),
        };
        c += &format!("FUT_WRAP_DUPLICATE({ident}, {free})\n");
        let functions = program.functions_of(id);
        c.extend(functions.map(|function| wrapper(unit, ty, &function)));
    }
    c
}

/// Defines the function that copies an array, by its functions new, values and free.
fn duplicate_array(array: &ArrayStruct) -> String {
    let functions = ["new", "values", "free"].map(|operation| array.function(operation));
    let dims = (0..array.rank).map(|i| format!("(size_t)value->shape[{i}]"));
    format!(
        "FUT_DUPLICATE_ARRAY({}, {}, {}, {}, {})\n",
        array.ident,
        array.elem.c_type(),
        functions.join(", "),
        dims.collect::<Vec<_>>().join(" * "),
        indexed("value->shape", array.rank)
    )
}

/// The layout, the reference count, the copy and the columns of an opaque value.
fn opaque_value(unit: &Unit<'_>, ty: &Type) -> String {
    let (ident, free, dims) = (ty.c_ident(), ty.free(), indexed("dims", ty.rank()));
    let layouts = &unit.generated.layouts;
    let [mut counts, mut copies, mut undo] = [const { String::new() }; 3];
    let [mut columns, mut new_columns] = [const { String::new() }; 2];
    for (i, component) in layouts.components(ident).iter().enumerate() {
        let Component::Array(array) = component else {
            copies += &format!("FUT_COPY_SCALAR({i}) ");
            continue;
        };
        let [new, free] = ["new", "free"].map(|operation| array.function(operation));
        let elem = array.elem.c_type();
        counts += &format!("FUT_COUNT({i}) ");
        copies += &format!("FUT_COPY_ARRAY({i}, {}) ", array.ident);
        undo += &format!("FUT_UNDO({i}, {free}) ");
        columns += &format!("FUT_LIST_COLUMN({i}) ");
        new_columns += &format!("FUT_NEW_COLUMN({i}, {new}, {elem}, {dims}) ");
    }
    if !undo.is_empty() {
        undo = format!("FUT_UNDO_ALL({undo})");
    }
    let mut c = components(unit, ty);
    c += &format!("FUT_REFERENCES({ident}, {counts})\n");
    c += &format!("FUT_DUPLICATE_OPAQUE({ident}, {copies}, {undo})\n");
    if has_columns(unit, ty) {
        c += &format!("FUT_WRAP_COLUMNS({ident}, {free}, {columns}, {new_columns})\n");
    }
    c
}

/// The layout, and assertions that it matches the struct.
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
    let (f, ident, free, rank) = (function.name, ty.c_ident(), ty.free(), ty.rank());
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
        Operation::OpaqueRestore => format!("RESTORE({f}, {ident}, {free})"),
        Operation::RecordArrayIndex | Operation::OpaqueArrayIndex => {
            let value = element(ty).and_then(TypeRef::as_type);
            let value = value.map(|id| unit.program.get(id));
            let check = value.map_or(String::new(), |ty| check_result(ty, 0));
            let free = value.map_or("(void)0".to_owned(), |ty| free_result(ty, 0));
            format!("OPAQUE_INDEX({f}, {ident}, {elem}, {check}, {free}, {indices})")
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
    let storable = arrays().map(|(i, array)| {
        let (rank, size) = (array.rank, array.elem.size());
        format!("FUT_STORABLE({ident}, {i}, {rank}, {size}) ")
    });
    let storable: String = storable.collect();
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
