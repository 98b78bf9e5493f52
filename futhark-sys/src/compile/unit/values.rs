//! The wrappers of arrays and of opaque values.
//!
//! New and set of arrays of opaque values, of Futhark 0.25.36 and later, validate the shapes of the elements.

use futhark_manifest::c::CType;
use futhark_manifest::{ArrayType, Backend, OpaqueType, Structure, Type, TypeKind, TypeRef};
use std::collections::BTreeSet;

use super::inputs::{Unit, elem_number, indexed};
use super::wrappers::{check_result, free_result};
use crate::compile::generated::layout::{self, ArrayStruct, Component};

pub(super) fn write(unit: &Unit<'_>) -> String {
    let (types, layouts) = (unit.program.types(), &unit.generated.layouts);
    let mut c = String::new();
    for ty in types {
        if let (TypeKind::Array(array), Some(own)) = (&ty.kind, layouts.array(ty.c_ident())) {
            c += &array_wrappers(unit.program.backend, array, own);
        }
    }
    // Duplicating an opaque value duplicates its arrays. The functions for arrays exist, except
    // those of types that are not in the manifest.
    let opaque = types.iter().filter(|ty| ty.as_opaque().is_some());
    let arrays = opaque.flat_map(|ty| layouts.arrays(ty.c_ident()));
    let hidden = arrays.filter(|(_, array)| layouts.array(&array.ident).is_none());
    let hidden: BTreeSet<&ArrayStruct> = hidden.map(|(_, array)| array).collect();
    c.extend(hidden.into_iter().map(duplicate_array));
    for ty in types {
        if let TypeKind::Opaque(opaque) = &ty.kind {
            c += &opaque_wrappers(unit, ty, opaque);
        }
    }
    c
}

fn array_wrappers(backend: Backend, array: &ArrayType, own: &ArrayStruct) -> String {
    let ArrayType { ops, rank, .. } = array;
    let (ident, elem) = (&own.ident, array.elem.c_type());
    let (new, free, shape, values) = (&ops.new, &ops.free, &ops.shape, &ops.values);
    let (dims, indices) = (indexed("dims", *rank), indexed("indices", *rank));
    let mut c = format!(
        "FUT_ARRAY_REFERENCES({ident})\n\
         FUT_WRAP_NEW({new}, {ident}, {elem}, {free}, {dims})\n\
         FUT_WRAP_FREE({free}, {ident})\n\
         FUT_WRAP_SHAPE({shape}, {ident})\n\
         FUT_WRAP_VALUES({values}, {ident}, {elem})\n"
    );
    if let Some(index) = &ops.index {
        c += &format!("FUT_WRAP_INDEX({index}, {ident}, {elem}, {indices})\n");
    }
    if let Some(values_raw) = &ops.values_raw {
        c += &format!("FUT_WRAP_RAW_MEMORY({values_raw}, {ident})\n");
    }
    if let Some(new_raw) = &ops.new_raw {
        let memory = CType::raw_memory(backend);
        c += &format!("FUT_WRAP_BORROW({new_raw}, {ident}, {memory}, {free}, {dims})\n");
    }
    c + &duplicate_array(own) + &format!("FUT_WRAP_DUPLICATE({ident}, {free})\n")
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

fn opaque_wrappers(unit: &Unit<'_>, ty: &Type, opaque: &OpaqueType) -> String {
    let (ident, free) = (ty.c_ident(), &opaque.ops.free);
    let layouts = &unit.generated.layouts;
    let arrays = || layouts.arrays(ident);
    let counts: String = arrays().map(|(i, _)| format!("FUT_COUNT({i}) ")).collect();
    let mut c = components(unit, ty);
    c += &format!("FUT_REFERENCES({ident}, {counts})\n");
    c += &duplicate_opaque(ident, layouts.components(ident));
    c += &format!("FUT_WRAP_DUPLICATE({ident}, {free})\nFUT_WRAP_FREE({free}, {ident})\n");
    if let Some(store) = &opaque.ops.store {
        // Refuses a value whose stored size C would compute wrongly.
        let storable = arrays().map(|(i, array)| {
            let (rank, size) = (array.rank, array.elem.size());
            format!("FUT_STORABLE({ident}, {i}, {rank}, {size}) ")
        });
        let storable: String = storable.collect();
        let units = match arrays().any(|(_, array)| array.element_size() == 0) {
            true => format!("FUT_CLEAR_UNITS({store}, {ident})"),
            false => String::new(),
        };
        c += &format!(
            "FUT_WRAP_STORED_SIZE({store}, {ident}, {storable})\n\
             FUT_WRAP_STORE({store}, {ident}, {storable}, {units})\n"
        );
    }
    if let Some(restore) = &opaque.ops.restore {
        c += &format!("FUT_WRAP_RESTORE({restore}, {ident}, {free})\n");
    }
    if let Some(ops) = ArrayOps::of(&opaque.structure) {
        c += &element_wrappers(unit, ty, &ops);
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

/// A copy of each component in a new struct, as the runtime's own functions make it.
fn duplicate_opaque(ident: &str, components: &[Component]) -> String {
    let (mut copies, mut undo) = (String::new(), String::new());
    for (i, component) in components.iter().enumerate() {
        match component {
            Component::Scalar(_) => copies += &format!("FUT_COPY_SCALAR({i}) "),
            Component::Array(array) => {
                copies += &format!("FUT_COPY_ARRAY({i}, {}) ", array.ident);
                undo += &format!("FUT_UNDO({i}, {}) ", array.function("free"));
            }
        }
    }
    if !undo.is_empty() {
        undo = format!("FUT_UNDO_ALL({undo})");
    }
    format!("FUT_DUPLICATE_OPAQUE({ident}, {copies}, {undo})\n")
}

/// The operations of arrays of records and arrays of opaque values.
pub(super) struct ArrayOps<'a> {
    pub rank: usize,
    pub elem: TypeRef,
    pub index: &'a str,
    pub shape: &'a str,
    pub new: Option<&'a str>,
    pub set: Option<&'a str>,
}

impl<'a> ArrayOps<'a> {
    pub(super) fn of(structure: &'a Structure) -> Option<ArrayOps<'a>> {
        let (rank, elem, index, shape, new, set) = match structure {
            Structure::RecordArray(a) => (a.rank, a.elem, &a.index, &a.shape, &a.new, &a.set),
            Structure::OpaqueArray(a) => (a.rank, a.elem, &a.index, &a.shape, &a.new, &a.set),
            _ => return None,
        };
        let (new, set) = (new.as_deref(), set.as_deref());
        Some(ArrayOps {
            rank,
            elem,
            index,
            shape,
            new,
            set,
        })
    }
}

/// The wrappers of the operations of an array of opaque values: shape, index, columns, new and set.
fn element_wrappers(unit: &Unit<'_>, ty: &Type, ops: &ArrayOps<'_>) -> String {
    let &ArrayOps {
        rank,
        elem,
        index,
        shape,
        ..
    } = ops;
    let (ident, free, element) = (ty.c_ident(), ty.free(), unit.c_type(elem));
    let (dims, indices) = (indexed("dims", rank), indexed("indices", rank));
    let free_element = match elem {
        TypeRef::Type(id) => free_result(unit.program.get(id), 0),
        TypeRef::Scalar(_) => "(void)0".to_owned(),
    };
    let check = check_result(unit.program, elem, 0);
    let mut c = format!(
        "FUT_WRAP_SHAPE({shape}, {ident})\n\
         FUT_WRAP_OPAQUE_INDEX({index}, {ident}, {element}, {check}, {free_element}, {indices})\n"
    );
    if has_columns(unit, ty) {
        let (mut list, mut news) = (String::new(), String::new());
        for (i, array) in unit.generated.layouts.arrays(ident) {
            let (new, elem) = (array.function("new"), array.elem.c_type());
            list += &format!("FUT_LIST_COLUMN({i}) ");
            news += &format!("FUT_NEW_COLUMN({i}, {new}, {elem}, {dims}) ");
        }
        c += &format!("FUT_WRAP_COLUMNS({ident}, {free}, {list}, {news})\n");
    }
    let parts = parts(unit, ty, ops);
    // int new(ctx, O **out, E **elems, int64_t dim0, …)
    if let Some(new) = ops.new {
        let fits = parts.map_or(String::new(), |parts| {
            let parts = parts.iter().enumerate().map(|(i, part)| match part {
                Component::Scalar(_) => format!("FUT_FITS_SCALAR({i}, {rank}) "),
                Component::Array(array) => {
                    let (inner, elem) = (array.rank, array.elem.c_type());
                    format!("FUT_FITS_ARRAY({i}, {rank}, {inner}, {elem}) ")
                }
            });
            let product = dims.replace(", ", " * ");
            format!("FUT_FITS({product}, {})", parts.collect::<String>())
        });
        c += &format!("FUT_WRAP_OPAQUE_NEW({new}, {ident}, {element}, {free}, {fits}, {dims})\n");
    }
    // int set(ctx, O *arr, E *elem, int64_t i0, …)
    if let Some(set) = ops.set {
        let parts = parts.into_iter().flatten().enumerate();
        let fits = parts.filter_map(|(i, part)| match part {
            Component::Array(array) => Some(format!("FUT_FITS_IN({i}, {rank}, {}) ", array.rank)),
            Component::Scalar(_) => None,
        });
        let fits: String = fits.collect();
        c += &format!("FUT_WRAP_OPAQUE_SET({set}, {ident}, {element}, {fits}, {indices})\n");
    }
    c
}

/// Whether the table has the columns of `ty`.
pub(super) fn has_columns(unit: &Unit<'_>, ty: &Type) -> bool {
    !unit.program.backend.is_gpu() && unit.generated.columns.contains(ty.c_ident())
}

/// The components of an element, if the components of the array are the same with additional outer
/// dimensions, as in all known versions. Otherwise only the C function validates its arguments.
fn parts<'u>(unit: &'u Unit<'_>, ty: &Type, ops: &ArrayOps<'_>) -> Option<&'u [Component]> {
    let layouts = &unit.generated.layouts;
    let elem = unit.program.get(ops.elem.as_type()?);
    let known = elem.as_opaque().is_some() && layout::is_array_of(layouts, ty, elem, ops.rank);
    known.then(|| layouts.components(elem.c_ident()))
}
