//! Writes the table: constants that point to the wrappers.

use futhark_manifest::{FunctionList, Type, TypeKind};

use super::inputs::{Unit, elem_number, literal, type_number};
use super::values::{ArrayOps, has_columns};
use super::wrappers::{Function, functions};
use crate::compile::generated::layout::{self, Coverage};

pub(super) fn write(unit: &Unit<'_>) -> String {
    let functions = functions(unit.program);
    let (n_functions, n_types) = (functions.len(), unit.program.types().len());
    let constants: String = functions.iter().map(constants_of).collect();
    let rows: String = functions.iter().map(row).collect();
    let types = unit.program.types().iter();
    let types: String = types.map(|ty| type_of(unit, ty)).collect();
    let (functions, function_table) = array("fut_function", "fut_functions", &rows);
    let (types, type_table) = array("fut_type", "fut_types", &types);
    format!(
        "{constants}{function_table}{type_table}static const char fut_manifest[] =\n{manifest};\n\
         extern const struct fut_table {symbol};\n\
         __attribute__((visibility(\"default\"), externally_visible)) const struct fut_table {symbol} = {{\n  \
         .abi = FUT_ABI,\n  .size = sizeof(struct fut_table),\n  \
         .flags = (FUT_IS_HARDENED ? FUT_HARDENED : 0u) | (FUT_GPU_BACKEND ? FUT_GPU : 0u),\n  \
         .backend = \"{backend}\",\n  .manifest = fut_manifest,\n  .program = \"{program}\",\n  \
         .interface_hash = {hash:#x}u,\n  .functions_hash = {functions_hash:#x}u,\n  .types = {types},\n  .n_types = {n_types},\n  \
         .functions = {functions},\n  .n_functions = {n_functions},\n  \
         .device = fut_device,\n  .devices = fut_devices,\n  \
         .device_source = fut_device_source,\n  .context_new = fut_context_new,\n  .context_free = fut_context_free,\n  \
         .failure = fut_context_failure,\n  .unchecked = fut_context_unchecked,\n  .waited = fut_context_waited,\n  .drain = fut_drain,\n  .sync = fut_context_sync,\n  \
         .clear_caches = fut_clear_caches,\n  .pause_profiling = fut_pause_profiling,\n  \
         .unpause_profiling = fut_unpause_profiling,\n  .report = fut_report,\n  .memory = fut_memory_use,\n  \
         .context_device = fut_context_device,\n  .command_queue = fut_command_queue,\n  .free_text = fut_free_text,\n  \
         .lend = fut_lend,\n  .take_back = fut_take_back,\n  \
         .n_tuning_params = sizeof tuning_param_names / sizeof *tuning_param_names - 1,\n  \
         .tuning_param_name = fut_tuning_param_name,\n  .tuning_param_class = fut_tuning_param_class,\n  \
         .tuning_param_default = fut_tuning_param_default,\n}};\n",
        manifest = literal(unit.manifest_text),
        symbol = unit.symbol,
        backend = unit.program.backend,
        program = unit.program_id,
        hash = unit.program.interface_hash(),
        functions_hash = FunctionList::of(unit.program).hash(),
    )
}

/// The name of an array of constants, and its definition; NULL and nothing if it has no rows.
fn array<'a>(ty: &str, name: &'a str, rows: &str) -> (&'a str, String) {
    match rows {
        "" => ("NULL", String::new()),
        _ => (
            name,
            format!("static const struct {ty} {name}[] = {{\n{rows}}};\n"),
        ),
    }
}

/// The results and parameters of a function, and its tuning parameters.
fn constants_of(function: &Function<'_>) -> String {
    let cfun = function.cfun();
    let slots = |what: &str, slots: Vec<String>| match slots[..] {
        [] => String::new(),
        _ => format!(
            "static const struct fut_slot fut_{what}_{cfun}[] = {{{}}};\n",
            slots.concat()
        ),
    };
    let out = function.call.outputs.iter();
    let out = out.map(|&ty| format!("{{{}u, 0, NULL}}, ", type_number(ty)));
    let input = function.call.inputs.iter().enumerate();
    let input = input.map(|(i, &(ty, consumed))| {
        let flags = if consumed { "FUT_CONSUMED" } else { "0" };
        let name = function
            .names
            .get(i)
            .map_or(" NULL".to_owned(), |name| literal(name));
        format!("{{{}u, {flags},{name}}}, ", type_number(ty))
    });
    let mut c = slots("out", out.collect()) + &slots("in", input.collect());
    if !function.tuning_params.is_empty() {
        let names = function.tuning_params.iter();
        let names: String = names.map(|name| literal(name) + ",\n").collect();
        c += &format!("static const char *const fut_tuning_{cfun}[] = {{\n{names}}};\n");
    }
    c
}

fn row(f: &Function<'_>) -> String {
    let cfun = f.cfun();
    let [n_out, n_in, n_tuning] = [
        f.call.outputs.len(),
        f.call.inputs.len(),
        f.tuning_params.len(),
    ];
    let array = |what: &str, n: usize| match n {
        0 => "NULL".to_owned(),
        _ => format!("fut_{what}_{cfun}"),
    };
    format!(
        "  {{\"{cfun}\",\n{}, {}, {}, {}, {n_out}u, {n_in}u, {n_tuning}u, {}, fut_w_{cfun}}},\n",
        literal(&f.label),
        if f.is_entry() { "FUT_ENTRY_POINT" } else { "0" },
        array("out", n_out),
        array("in", n_in),
        array("tuning", n_tuning),
    )
}

fn type_of(unit: &Unit<'_>, ty: &Type) -> String {
    let (ident, name, free) = (ty.c_ident(), literal(&ty.name), ty.free());
    let mut c = format!(
        "  {{.name =\n{name},\n   .references = fut_references_{ident}, .duplicate = fut_w_duplicate_{ident}, .free = fut_w_{free},\n"
    );
    let wrapper = |slot: &str, cfun: Option<&str>| {
        cfun.map_or(String::new(), |cfun| {
            format!("   .{slot} = fut_w_{cfun},\n")
        })
    };
    match &ty.kind {
        TypeKind::Array(array) => {
            let (ops, elem, rank) = (&array.ops, elem_number(array.elem), array.rank);
            let (shape, new, values) = (&ops.shape, &ops.new, &ops.values);
            c += &format!(
                "   .kind = FUT_ARRAY, .elem = {elem}u, .rank = {rank}u,\n   \
                 .shape = fut_w_{shape}, .create = fut_w_{new}, .values = fut_w_{values},\n"
            );
            c += &wrapper("index", ops.index.as_deref());
            c += &wrapper("raw_memory", ops.values_raw.as_deref());
            c += &wrapper("borrow", ops.new_raw.as_deref());
        }
        TypeKind::Opaque(opaque) => {
            let layouts = &unit.generated.layouts;
            c += &format!("   .kind = FUT_OPAQUE, .rank = {}u,\n", ty.rank());
            match layouts.components(ident).len() {
                0 => {}
                n => {
                    c += &format!(
                        "   .n_components = {n}u, .components = fut_components_{ident},\n"
                    );
                }
            }
            let coverage = match layout::rules(layouts, unit.program, ty).1 {
                Coverage::Unknown => "UNKNOWN",
                Coverage::Full => "FULL",
                Coverage::Sum => "SUM",
                Coverage::Abstract => "ABSTRACT",
            };
            c += &format!("   .coverage = FUT_COVERAGE_{coverage},\n");
            if let Some(store) = &opaque.ops.store {
                c += &format!("   .stored_size = fut_w_size_{store}, .store = fut_w_{store},\n");
            }
            c += &wrapper("restore", opaque.ops.restore.as_deref());
            if has_columns(unit, ty) {
                c += &format!(
                    "   .columns = fut_w_columns_{ident}, .create_columns = fut_w_create_columns_{ident},\n"
                );
            }
            if let Some(ops) = ArrayOps::of(&opaque.structure) {
                c += &format!("   .elem = {}u,\n", type_number(ops.elem));
                c += &wrapper("index", Some(ops.index));
                c += &wrapper("shape", Some(ops.shape));
                c += &wrapper("create", ops.new);
                c += &wrapper("set", ops.set);
            }
        }
    }
    c + "  },\n"
}
