//! Writes the table: constants that point to the wrappers.

use futhark_manifest::{Call, FunctionList, Operation, Owner, Program, Structure};

use super::inputs::{Unit, array, literal, type_number};

/// `functions` and `types`: the rows.
pub(super) fn write(unit: &Unit<'_>, functions: &str, types: &str) -> String {
    let (program, n_functions) = (unit.program, unit.program.calls().len());
    let n_types = program.types().len();
    let name = |what: &str| format!("fut_{what}");
    let (functions, function_table) = array("struct fut_function", name("functions"), functions);
    let (types, type_table) = array("struct fut_type", name("types"), types);
    format!(
        "{function_table}{type_table}static const char fut_manifest[] =\n{manifest};\n\
         extern const struct fut_table {symbol};\n\
         __attribute__((visibility(\"default\"), externally_visible)) const struct fut_table {symbol} = {{\n  \
         .abi = FUT_ABI,\n  .size = sizeof(struct fut_table),\n  \
         .flags = (FUT_IS_HARDENED ? FUT_HARDENED : 0u) | (FUT_GPU_BACKEND ? FUT_GPU : 0u){partial},\n  \
         .backend = \"{backend}\",\n  .manifest = fut_manifest,\n  .program = \"{program_id}\",\n  \
         .interface_hash = {hash:#x}u,\n  .functions_hash = {functions_hash:#x}u,\n  .types = {types},\n  .n_types = {n_types},\n  \
         .functions = {functions},\n  .n_functions = {n_functions},\n  \
         .device = fut_device,\n  .devices = fut_devices,\n  \
         .device_source = fut_device_source,\n  .context_new = fut_context_new,\n  .context_free = fut_context_free,\n  \
         .failure = fut_context_failure,\n  .pending = fut_context_pending,\n  .drain = fut_drain,\n  .enter = fut_enter,\n  .call = fut_call_function,\n  .sync = fut_context_sync,\n  \
         .clear_caches = fut_clear_caches,\n  .pause_profiling = fut_pause_profiling,\n  \
         .unpause_profiling = fut_unpause_profiling,\n  .report = fut_report,\n  .memory = fut_memory_use,\n  \
         .context_device = fut_context_device,\n  .command_queue = fut_command_queue,\n  .free_text = fut_free_text,\n  \
         .lend = fut_lend,\n  .take_back = fut_take_back,\n  \
         .n_tuning_params = sizeof tuning_param_names / sizeof *tuning_param_names - 1,\n  \
         .tuning_param_name = fut_tuning_param_name,\n  .tuning_param_class = fut_tuning_param_class,\n  \
         .tuning_param_default = fut_tuning_param_default,\n}};\n",
        partial = if unit.partial { " | FUT_PARTIAL" } else { "" },
        manifest = literal(unit.manifest_text),
        symbol = unit.symbol,
        backend = program.backend,
        program_id = unit.program_id,
        hash = program.interface_hash(),
        functions_hash = FunctionList::of(program).hash(),
    )
}

/// The lists of the results, parameters and tuning parameters of a function, and its row in the table.
pub(super) fn function(program: &Program, call: &Call<'_>) -> (String, String) {
    let cfun = call.function.name;
    let entry = match call.function.owner {
        Owner::Entry(index) => Some(&program.entries()[index]),
        Owner::Type(_) => None,
    };
    let list = |ty: &str, what: &str, rows: Vec<String>| {
        let (name, list) = array(ty, format!("fut_{what}_{cfun}"), &rows.concat());
        (name, list, rows.len())
    };
    let out = call.outputs.iter();
    let out = out.map(|&ty| format!("{{{}u, 0, NULL}},\n", type_number(ty)));
    let input = call.inputs.iter().enumerate();
    let input = input.map(|(i, &(ty, consumed))| {
        let flags = if consumed { "FUT_CONSUMED" } else { "0" };
        let name = entry.map_or(" NULL".to_owned(), |entry| literal(&entry.inputs[i].name));
        format!("{{{}u, {flags},{name}}},\n", type_number(ty))
    });
    let tuning = entry.map_or(&[][..], |entry| &entry.tuning_params).iter();
    let tuning = tuning.map(|name| literal(name) + ",\n");
    let (out, outs, n_out) = list("struct fut_slot", "out", out.collect());
    let (input, inputs, n_in) = list("struct fut_slot", "in", input.collect());
    let (tuning, tunings, n_tuning) = list("char *const", "tuning", tuning.collect());
    let consumes = call.inputs.iter().any(|&(_, consumed)| consumed);
    let flags = [
        (entry.is_some(), "FUT_ENTRY_POINT"),
        (consumes, "FUT_CONSUMES"),
    ];
    let flags: Vec<_> = flags
        .iter()
        .map(|&(is_set, flag)| if is_set { flag } else { "0u" })
        .collect();
    let row = format!(
        "  {{\"{cfun}\",\n{}, {}, {out}, {input}, {n_out}u, {n_in}u, {n_tuning}u, {tuning}, fut_w_{cfun}}},\n",
        literal(&label(program, call)),
        flags.join(" | "),
    );
    (outs + &inputs + &tunings, row)
}

fn label(program: &Program, call: &Call<'_>) -> String {
    let ty = match call.function.owner {
        Owner::Entry(index) => return format!("entry point {}", program.entries()[index].name),
        Owner::Type(id) => program.get(id),
    };
    let structure = ty.as_opaque().map(|opaque| &opaque.structure);
    let part = match (structure, call.function.part) {
        (Some(Structure::Record(record)), Some(part)) => &*record.fields[part].name,
        (Some(Structure::RecordArray(array)), Some(part)) => &*array.fields[part].name,
        (Some(Structure::Sum(sum)), Some(part)) => &*sum.variants[part].name,
        _ => "",
    };
    let name = &ty.name;
    match call.function.operation {
        Operation::RecordNew => format!("record {name}"),
        Operation::RecordArrayZip => format!("zip to {name}"),
        Operation::RecordProject | Operation::RecordArrayProject => {
            format!("field {part} of {name}")
        }
        Operation::SumVariant => format!("variant of {name}"),
        Operation::SumConstruct => format!("construct #{part} of {name}"),
        Operation::SumDestruct => format!("destruct #{part} of {name}"),
        other => format!("{other} of {name}"),
    }
}
