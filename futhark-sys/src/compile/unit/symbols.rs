//! The names of functions and variables with external linkage, unique per unit.
//!
//! Several programs and backends are linked into one binary, and their generated code defines the same names. Macros
//! append the name of the table to each of them, so no tool that edits objects is necessary. The original name comes
//! first, because `fut_set_error` derives the cause of an error from the name of its caller.

use std::fmt::Write as _;

use super::inputs::Unit;

/// The variables with external linkage in the runtime, of multicore and of cuda and hip.
const VARIABLES: [&str; 2] = ["worker_local", "gpu_config_initial"];

/// The external functions that macros of `fut_hooks.h` rename already, to `fut_runtime_…`.
const HOOKED: [&str; 2] = ["memblock_alloc", "memblock_alloc_device"];

/// The symbol of an external function in the library of the table `table`.
pub(in crate::compile) fn symbol(table: &str, function: &str) -> String {
    format!("{function}_{table}")
}

/// The macros that rename external functions and variables of the generated C. `replaced`: our own function has
/// the symbol of this one.
pub(super) fn macros(unit: &Unit<'_>, replaced: impl Fn(&str) -> bool) -> String {
    let functions = unit.generated.source.external.iter().copied();
    let mut macros = String::new();
    for name in functions.chain(VARIABLES) {
        let hooked = match HOOKED.contains(&name) {
            true => "fut_runtime_",
            false => "",
        };
        let inner = if replaced(name) { "_in" } else { "" };
        let symbol = symbol(unit.symbol, &format!("{name}{inner}"));
        let _ = writeln!(macros, "#define {hooked}{name} {symbol}");
    }
    macros
}
