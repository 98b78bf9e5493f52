//! What each type needs in C: the layout of a value, and the wrappers of its functions, except calls (`wrappers.rs`).
//!
//! New and set of arrays of opaque values, of Futhark 0.25.36 and later, validate the shapes of the elements.

use std::collections::BTreeSet;

use futhark_manifest::c::CType;
use futhark_manifest::{Function, Operation, Structure, Type, TypeKind, TypeRef};

use super::inputs::{Unit, array, elem_number, indexed, literal, type_number};
use crate::compile::generated::layout::Component;

/// The wrappers, and the rows of the types in the table.
pub(super) fn write(unit: &Unit<'_>) -> (String, String) {
    let program = unit.program;
    let types = program.types().iter();
    let frees = types.map(|ty| format!("FUT_WRAPPER(fut_w_{});\n", ty.free()));
    // A copy of an opaque value copies its arrays, whose types need not be in the manifest.
    let arrays: BTreeSet<&Component> = unit.generated.layouts.all_arrays().collect();
    let copies = arrays.into_iter().map(|array| array_type(unit, array));
    // The layouts of opaque values refer to wrappers of arrays, and wrappers of opaque values to layouts.
    let [mut of_arrays, mut layouts, mut of_opaque, mut rows] = [const { String::new() }; 4];
    for (id, ty) in program.types_with_ids() {
        let ident = ty.c_ident();
        let (name, rank) = (literal(&ty.name), ty.rank());
        let elem = element(ty).map_or(0, type_number);
        rows += &format!(
            "  {{.name =\n{name},\n   .elem = {elem}u, .rank = {rank}u, .duplicate = fut_w_duplicate_{ident},\n"
        );
        let wrappers = match ty.as_opaque() {
            Some(_) => {
                let (layout, members) = opaque_type(unit, ty);
                layouts += &layout;
                rows += &members;
                &mut of_opaque
            }
            None => {
                rows += "   .kind = FUT_ARRAY, .is_shared = fut_is_shared_array,\n";
                &mut of_arrays
            }
        };
        for function in program.functions_of(id) {
            if let Some((members, wrapper)) = wrapper(unit, ty, &function) {
                let f = function.name;
                for member in members.split(' ') {
                    let size = if member == "stored_size" { "size_" } else { "" };
                    rows += &format!("   .{member} = fut_w_{size}{f},\n");
                }
                *wrappers += &wrapper;
            }
        }
        rows += "  },\n";
    }
    let before: String = frees.chain(copies).collect();
    (before + &of_arrays + &layouts + &of_opaque, rows)
}

/// The wrapper that copies an array, and those of an array that the manifest lacks, which parts of values need.
fn array_type(unit: &Unit<'_>, array: &Component) -> String {
    let (ident, elem, rank) = (&array.ident, array.elem.c_type(), array.rank);
    let [new, values, free] = ["new", "values", "free"].map(|operation| array.function(operation));
    let mut c = format!("FUT_ASSERT_ARRAY({ident}, {rank})\n");
    if unit.generated.layouts.components(ident).is_empty() {
        let dims = indexed("dims", rank, ", ");
        c += &format!(
            "FUT_WRAP_FREE({free}, {ident})\nFUT_WRAP_NEW({new}, {ident}, {elem}, fut_w_{free}, {dims})\n"
        );
    }
    c + &format!(
        "FUT_WRAP_DUPLICATE({ident}, {elem}, {new}, {values}, {free}, fut_w_{free}, {}, {})\n",
        indexed("(size_t)value->shape", rank, " * "),
        indexed("value->shape", rank, ", ")
    )
}

/// The layout of an opaque type, its components in the table, assertions that they match the struct, and the wrappers
/// that need only the layout. And the members of its row that tell of them.
fn opaque_type(unit: &Unit<'_>, ty: &Type) -> (String, String) {
    let (ident, generated) = (ty.c_ident(), unit.generated);
    let layouts = &generated.layouts;
    let (rules, coverage) = layouts.rules(ty);
    let (mut c, mut components, mut parts, mut n_parts) =
        (String::new(), String::new(), String::new(), 0);
    // A struct with the same fields.
    let mut fields = String::new();
    let all = layouts.components(ident).iter().zip(rules);
    for (i, (component, rule)) in all.enumerate() {
        let (c_type, rank, number) = (
            component.c_type(),
            component.rank,
            elem_number(component.elem),
        );
        let (offset, mut shape) = (format!("offsetof(struct {ident}, v{i})"), "0".to_owned());
        if rank > 0 {
            let [new, free] = ["new", "free"].map(|operation| component.function(operation));
            let (size, array) = (component.element_size(), &component.ident);
            parts += &format!(
                "  {{{offset}, {rank}, {size}, fut_w_{new}, fut_w_duplicate_{array}, fut_w_{free}}},\n"
            );
            n_parts += 1;
            shape = format!("offsetof(struct {array}, shape)");
        }
        c += &format!(
            "_Static_assert(__builtin_types_compatible_p(__typeof__(((struct {ident} *)0)->v{i}), {c_type}), \
             \"component {i} of {ident} does not have the type that was read\");\n"
        );
        components += &format!(
            "  {{{number}u, {rank}u, {}u, {}u, {}u, {offset}, {shape}}},\n",
            rule.variants, rule.like, rule.shared
        );
        fields += &format!("  {c_type} v{i};\n");
    }
    if fields.is_empty() {
        fields = "  char dummy;\n".to_owned();
    }
    let n = layouts.components(ident).len();
    let name = format!("fut_components_{ident}");
    let (components, list) = array("struct fut_component", name, &components);
    let (parts, part_list) = array("struct fut_part", format!("fut_parts_{ident}"), &parts);
    // Equal sizes mean that no component was missed.
    c += &format!(
        "{list}struct fut_read_{ident} {{\n{fields}}};\n\
         _Static_assert(sizeof(struct {ident}) == sizeof(struct fut_read_{ident}), \
         \"{ident} has components that were not read\");\n\
         {part_list}static const struct fut_layout fut_layout_{ident} = {{{parts}, {n_parts}, sizeof(struct {ident})}};\n\
         FUT_WRAP_DUPLICATE_OPAQUE({ident})\n"
    );
    let coverage = format!("{coverage:?}").to_uppercase();
    let mut members = format!(
        "   .kind = FUT_OPAQUE, .coverage = FUT_COVERAGE_{coverage}, .n_components = {n}u, .components = {components},\n"
    );
    if n_parts > 0 {
        c += &format!("FUT_IS_SHARED({ident})\n");
        members += &format!("   .is_shared = fut_is_shared_{ident},\n");
    } else {
        members += "   .is_shared = fut_is_not_shared,\n";
    }
    if !unit.program.backend.is_gpu() && layouts.columns(&generated.source, ty).is_some() {
        c += &format!("FUT_WRAP_COLUMNS({ident})\n");
        members += &format!(
            "   .columns = fut_w_columns_{ident}, .create_columns = fut_w_create_columns_{ident},\n"
        );
    }
    (c, members)
}

/// The type of the elements, if the values are arrays.
fn element(ty: &Type) -> Option<TypeRef> {
    match &ty.kind {
        TypeKind::Array(array) => Some(TypeRef::Scalar(array.elem)),
        TypeKind::Opaque(opaque) => match &opaque.structure {
            Structure::RecordArray(array) => Some(array.elem),
            Structure::OpaqueArray(array) => Some(array.elem),
            _ => None,
        },
    }
}

/// The members of `struct fut_type` for a function of `ty`, and its wrapper; nothing for a call.
fn wrapper(unit: &Unit<'_>, ty: &Type, function: &Function<'_>) -> Option<(&'static str, String)> {
    let (f, ident, rank) = (function.name, ty.c_ident(), ty.rank());
    let (program, layouts) = (unit.program, &unit.generated.layouts);
    let free = format!("fut_w_{}", ty.free());
    let [dims, indices] = ["dims", "indices"].map(|name| indexed(name, rank, ", "));
    let elem = element(ty).map_or(String::new(), |elem| unit.c_type(elem));
    let parts = parts_of_element(unit, ty).iter().enumerate();
    let mut before = String::new();
    // The macro, and its arguments after function and type.
    let (slot, name, arguments) = match function.operation {
        Operation::ArrayNew => ("create", "NEW", format!(", {elem}, {free}, {dims}")),
        Operation::ArrayNewRaw => {
            let memory = CType::raw_memory(program.backend);
            ("borrow", "BORROW", format!(", {memory}, {free}, {dims}"))
        }
        Operation::ArrayValues => ("values", "VALUES", format!(", {elem}")),
        Operation::ArrayIndex => ("index", "INDEX", format!(", {elem}, {indices}")),
        Operation::ArrayValuesRaw => ("raw_memory", "RAW_MEMORY", String::new()),
        Operation::ArrayShape | Operation::RecordArrayShape | Operation::OpaqueArrayShape => {
            ("shape", "SHAPE", String::new())
        }
        Operation::ArrayFree | Operation::OpaqueFree => ("free", "FREE", String::new()),
        Operation::OpaqueStore => {
            // A value whose stored size C would compute wrongly is refused.
            let (mut storable, mut units) = (String::new(), String::new());
            for (_, array) in layouts.arrays(ident) {
                storable = format!("fut_expect_storable(c, &fut_layout_{ident}, in[0]);");
                if array.element_size() == 0 {
                    units = format!("FUT_CLEAR_UNITS({f}, {ident})");
                }
            }
            before = format!("FUT_WRAP_STORED_SIZE({f}, {ident}, {storable})\n");
            (
                "store stored_size",
                "STORE",
                format!(", {storable}, {units}"),
            )
        }
        Operation::OpaqueRestore => {
            let check = unit.check_result(ty, 0).unwrap_or_default();
            ("restore", "RESTORE", format!(", {check}, {free}"))
        }
        Operation::RecordArrayIndex | Operation::OpaqueArrayIndex => {
            let value = program.get(element(ty)?.as_type()?);
            let check = unit.check_result(value, 0).unwrap_or_default();
            let leave = format!("fut_leave_value(c, rc, out, fut_w_{})", value.free());
            let arguments = format!(", {elem}, {check}, {leave}, {indices}");
            ("index", "OPAQUE_INDEX", arguments)
        }
        Operation::RecordArrayNew | Operation::OpaqueArrayNew => {
            let fits = parts.map(|(i, part)| match (part.rank, part.elem.c_type()) {
                (0, _) => format!("FUT_FITS_SCALAR({i}, {rank}) "),
                (inner, elem) => format!("FUT_FITS_ARRAY({i}, {rank}, {inner}, {elem}) "),
            });
            let fits = match fits.collect::<String>() {
                none if none.is_empty() => none,
                fits => format!("FUT_FITS({}, {fits})", indexed("dims", rank, " * ")),
            };
            let arguments = format!(", {elem}, {free}, {fits}, {dims}");
            ("create", "OPAQUE_NEW", arguments)
        }
        Operation::RecordArraySet | Operation::OpaqueArraySet => {
            let arrays = parts.filter(|(_, part)| part.rank > 0);
            let fits = arrays.map(|(i, part)| format!("FUT_FITS_IN({i}, {rank}, {}) ", part.rank));
            let fits: String = fits.collect();
            let arguments = format!(", {elem}, {fits}, {indices}");
            ("set", "OPAQUE_SET", arguments)
        }
        _ => return None,
    };
    let wrapper = format!("{before}FUT_WRAP_{name}({f}, {ident}{arguments})\n");
    Some((slot, wrapper))
}

/// The components of an element, if the components of the array are the same with additional outer
/// dimensions, as in all known versions. Otherwise only the C function validates its arguments.
fn parts_of_element<'u>(unit: &'u Unit<'_>, array: &Type) -> &'u [Component] {
    let layouts = &unit.generated.layouts;
    let elem = element(array).and_then(TypeRef::as_type);
    let elem = elem.map(|id| unit.program.get(id));
    let elem = elem.filter(|elem| layouts.is_array_of(array, elem));
    elem.map_or(&[], |elem| layouts.components(elem.c_ident()))
}
