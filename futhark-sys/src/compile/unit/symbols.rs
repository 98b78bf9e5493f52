//! The names of functions and variables with external linkage, unique per unit.
//!
//! Several programs and backends are linked into one binary, and their generated code defines the same names. Macros
//! append the name of the table, which contains a hash of everything that determines the object, to each of them.
//! So no tool that edits objects is necessary. In a shared object, only the table is visible, and kernels of ISPC.
//!
//! The original name comes first, because `fut_set_error` derives the cause of an error from the name of its caller.

use std::fmt::Write as _;

use super::inputs::Unit;

/// The variables with external linkage in the runtime, of multicore and of cuda and hip.
const VARIABLES: [&str; 2] = ["worker_local", "gpu_config_initial"];

/// The external functions that macros of `fut_hooks.h` rename already, to `fut_runtime_…`.
const HOOKED: [&str; 2] = ["memblock_alloc", "memblock_alloc_device"];

/// As [`HOOKED`], in units with kernels of ISPC. The kernels call functions of ours instead, `fut_kernels_…`.
const HOOKED_FOR_KERNELS: [&str; 2] = ["memblock_alloc", "lexical_realloc_error"];

/// The symbol of an external function in the library of the table `table`.
pub(in crate::compile) fn symbol(table: &str, function: &str) -> String {
    format!("{function}_{table}")
}

/// The macros that rename external functions and variables of the generated C. `replaced`: our own function has
/// the symbol of this one.
pub(super) fn macros(unit: &Unit<'_>, replaced: impl Fn(&str) -> bool) -> String {
    let exported = exported(unit).into_iter();
    let functions = unit.generated.external.iter().copied().chain(exported);
    let mut macros = String::new();
    for name in functions.chain(VARIABLES) {
        let is_hooked =
            HOOKED.contains(&name) || unit.kernels.is_some() && HOOKED_FOR_KERNELS.contains(&name);
        let hooked = if is_hooked { "fut_runtime_" } else { "" };
        let inner = if replaced(name) { "_in" } else { "" };
        let symbol = symbol(unit.symbol, &format!("{name}{inner}"));
        let _ = writeln!(macros, "#define {hooked}{name} {symbol}");
    }
    for name in HOOKED_FOR_KERNELS.iter().filter(|_| unit.kernels.is_some()) {
        let name = format!("fut_kernels_{name}");
        let _ = writeln!(macros, "#define {name} {}", symbol(unit.symbol, &name));
    }
    macros
}

/// As [`macros`], for the kernels of ISPC, which call functions of the generated C.
pub(super) fn macros_of_kernels(unit: &Unit<'_>) -> String {
    let exported = exported(unit).into_iter();
    let functions = unit.generated.external.iter().copied().chain(exported);
    let define = |name: &str| {
        let ours = match HOOKED_FOR_KERNELS.contains(&name) {
            true => "fut_kernels_",
            false => "",
        };
        let symbol = symbol(unit.symbol, &format!("{ours}{name}"));
        format!("#define {name} {symbol}\n")
    };
    functions.map(define).collect()
}

/// The functions that kernels of ISPC offer to C.
fn exported<'a>(unit: &Unit<'a>) -> Vec<&'a str> {
    let lines = unit.kernels.unwrap_or_default().lines();
    let heads = lines.filter_map(|line| line.strip_prefix("export ")?.split_once('('));
    heads
        .filter_map(|(head, _)| head.split(' ').next_back())
        .collect()
}
