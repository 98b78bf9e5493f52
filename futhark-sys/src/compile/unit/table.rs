//! Writes the table: constants that point to the wrappers.

use std::fmt::Write as _;
use std::iter::repeat;

use futhark_manifest::{FunctionList, OpaqueOps, Structure, TypeKind, TypeRef};

use super::wrappers::{Function, functions};
use super::{Unit, elem_number, elements, type_number, write_text};
use crate::compile::generated::layout::{self, Coverage};

pub(super) fn write(unit: &Unit<'_>, c: &mut String) {
    let functions = functions(unit.program);
    let functions_hash = FunctionList::of(unit.program).hash();
    for function in &functions {
        write_slots(function, c);
        write_tuning_params(function, c);
    }
    write_functions(&functions, c);
    write_types(unit, c);

    c.push_str("static const char fut_manifest[] =\n");
    write_text(unit.manifest_text, c);
    c.push_str(";\n");

    let n_types = unit.program.types().len();
    let n_functions = functions.len();
    let (types, functions) = (
        if n_types == 0 { "NULL" } else { "fut_types" },
        if n_functions == 0 {
            "NULL"
        } else {
            "fut_functions"
        },
    );
    let _ = writeln!(
        c,
        "extern const struct fut_table {symbol};\n\
         __attribute__((visibility(\"default\"), externally_visible)) const struct fut_table {symbol} = {{\n  \
         .abi = FUT_ABI,\n  .size = sizeof(struct fut_table),\n  \
         .flags = (FUT_IS_HARDENED ? FUT_HARDENED : 0u) | (FUT_GPU_BACKEND ? FUT_GPU : 0u),\n  \
         .backend = \"{backend}\",\n  .manifest = fut_manifest,\n  .program = \"{program}\",\n  \
         .interface_hash = {hash:#x}u,\n  .functions_hash = {functions_hash:#x}u,\n  .types = {types},\n  .n_types = {n_types},\n  \
         .functions = {functions},\n  .n_functions = {n_functions},\n  \
         .device = fut_device,\n  .devices = fut_devices,\n  \
         .device_source = fut_device_source,\n  .context_new = fut_context_new,\n  .context_free = fut_context_free,\n  \
         .failure = fut_context_failure,\n  .unchecked = fut_context_unchecked,\n  .drain = fut_drain,\n  .sync = fut_context_sync,\n  \
         .clear_caches = fut_clear_caches,\n  .pause_profiling = fut_pause_profiling,\n  \
         .unpause_profiling = fut_unpause_profiling,\n  .report = fut_report,\n  .memory = fut_memory_use,\n  \
         .context_device = fut_context_device,\n  .command_queue = fut_command_queue,\n  .free_text = fut_free_text,\n  \
         .lend = fut_lend,\n  .take_back = fut_take_back,\n  \
         .n_tuning_params = sizeof tuning_param_names / sizeof *tuning_param_names - 1,\n  \
         .tuning_param_name = fut_tuning_param_name,\n  .tuning_param_class = fut_tuning_param_class,\n  \
         .tuning_param_default = fut_tuning_param_default,\n}};",
        symbol = unit.symbol,
        backend = unit.program.backend,
        program = unit.program_id,
        hash = unit.program.interface_hash(),
    );
}

fn write_slots(function: &Function<'_>, c: &mut String) {
    let mut write = |what: &str, slots: Vec<(TypeRef, bool, Option<&str>)>| {
        if slots.is_empty() {
            return;
        }
        let _ = write!(
            c,
            "static const struct fut_slot fut_{what}_{}[] = {{",
            function.cfun()
        );
        for (ty, consumed, name) in slots {
            let flags = if consumed { "FUT_CONSUMED" } else { "0" };
            let _ = write!(c, "{{{}u, {flags},", type_number(ty));
            match name {
                Some(name) => write_text(name, c),
                None => c.push_str(" NULL"),
            }
            c.push_str("}, ");
        }
        c.push_str("};\n");
    };
    let out = function.call.outputs.iter().map(|&ty| (ty, false, None));
    write("out", out.collect());
    let names = function.names.iter().copied().map(Some);
    let names = names.chain(repeat(None));
    let input = function.call.inputs.iter().zip(names);
    write(
        "in",
        input
            .map(|(&(ty, consumed), name)| (ty, consumed, name))
            .collect(),
    );
}

fn write_tuning_params(function: &Function<'_>, c: &mut String) {
    if function.tuning_params.is_empty() {
        return;
    }
    let cfun = function.cfun();
    let _ = writeln!(c, "static const char *const fut_tuning_{cfun}[] = {{");
    for name in function.tuning_params {
        write_text(name, c);
        c.push_str(",\n");
    }
    c.push_str("};\n");
}

fn write_functions(functions: &[Function<'_>], c: &mut String) {
    if functions.is_empty() {
        return;
    }
    c.push_str("static const struct fut_function fut_functions[] = {\n");
    for f in functions {
        let cfun = f.cfun();
        let slots = |what: &str, n: usize| {
            if n == 0 {
                "NULL".into()
            } else {
                format!("fut_{what}_{cfun}")
            }
        };
        let _ = writeln!(c, "  {{\"{cfun}\",");
        write_text(&f.label, c);
        let _ = writeln!(
            c,
            ", {}, {}, {}, {}u, {}u, {}u, {}, fut_w_{cfun}}},",
            if f.is_entry() { "FUT_ENTRY_POINT" } else { "0" },
            slots("out", f.call.outputs.len()),
            slots("in", f.call.inputs.len()),
            f.call.outputs.len(),
            f.call.inputs.len(),
            f.tuning_params.len(),
            match f.tuning_params {
                [] => "NULL".into(),
                _ => format!("fut_tuning_{cfun}"),
            },
        );
    }
    c.push_str("};\n");
}

fn write_types(unit: &Unit<'_>, c: &mut String) {
    if unit.program.types().is_empty() {
        return;
    }
    c.push_str("static const struct fut_type fut_types[] = {\n");
    for ty in unit.program.types() {
        let ident = ty.c_ident();
        c.push_str("  {.name =\n");
        write_text(&ty.name, c);
        let _ = writeln!(
            c,
            ",\n   .references = fut_references_{ident}, .duplicate = fut_w_duplicate_{ident}, .free = fut_w_{},",
            ty.free()
        );
        match &ty.kind {
            TypeKind::Array(array) => {
                let ops = &array.ops;
                let _ = writeln!(
                    c,
                    "   .kind = FUT_ARRAY, .elem = {}u, .rank = {}u,\n   .shape = fut_w_{}, .create = fut_w_{}, .values = fut_w_{},",
                    elem_number(array.elem),
                    array.rank,
                    ops.shape,
                    ops.new,
                    ops.values
                );
                write_op("index", ops.index.as_deref(), c);
                write_op("raw_memory", ops.values_raw.as_deref(), c);
                write_op("borrow", ops.new_raw.as_deref(), c);
            }
            TypeKind::Opaque(opaque) => {
                let _ = writeln!(c, "   .kind = FUT_OPAQUE, .rank = {}u,", ty.rank());
                write_components(unit, ident, c);
                let coverage = layout::coverage(&unit.generated.layouts, unit.program, ty);
                let _ = writeln!(c, "   .coverage = {},", coverage_name(coverage));
                write_opaque_ops(&opaque.ops, c);
                if elements::has_columns(unit, ty) {
                    let _ = writeln!(
                        c,
                        "   .columns = fut_w_columns_{ident}, .create_columns = fut_w_create_columns_{ident},"
                    );
                }
                match &opaque.structure {
                    Structure::RecordArray(a) => {
                        let _ = writeln!(c, "   .elem = {}u,", type_number(a.elem));
                        write_op("index", Some(&a.index), c);
                        write_op("shape", Some(&a.shape), c);
                        write_op("create", a.new.as_deref(), c);
                        write_op("set", a.set.as_deref(), c);
                    }
                    Structure::OpaqueArray(a) => {
                        let _ = writeln!(c, "   .elem = {}u,", type_number(a.elem));
                        write_op("index", Some(&a.index), c);
                        write_op("shape", Some(&a.shape), c);
                        write_op("create", a.new.as_deref(), c);
                        write_op("set", a.set.as_deref(), c);
                    }
                    _ => {}
                }
            }
        }
        c.push_str("  },\n");
    }
    c.push_str("};\n");
}

fn write_components(unit: &Unit<'_>, ident: &str, c: &mut String) {
    let n = unit.generated.layouts.components(ident).len();
    if n > 0 {
        let _ = writeln!(
            c,
            "   .n_components = {n}u, .components = fut_components_{ident},"
        );
    }
}

fn coverage_name(coverage: Coverage) -> &'static str {
    match coverage {
        Coverage::Unknown => "FUT_COVERAGE_UNKNOWN",
        Coverage::Full => "FUT_COVERAGE_FULL",
        Coverage::Sum => "FUT_COVERAGE_SUM",
        Coverage::Abstract => "FUT_COVERAGE_ABSTRACT",
    }
}

fn write_opaque_ops(ops: &OpaqueOps, c: &mut String) {
    if let Some(store) = &ops.store {
        let _ = writeln!(
            c,
            "   .stored_size = fut_w_size_{store}, .store = fut_w_{store},"
        );
    }
    write_op("restore", ops.restore.as_deref(), c);
}

fn write_op(slot: &str, cfun: Option<&str>, c: &mut String) {
    if let Some(cfun) = cfun {
        let _ = writeln!(c, "   .{slot} = fut_w_{cfun},");
    }
}
