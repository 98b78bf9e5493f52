//! Our C file, and the fixed files that it includes.
//!
//! ARCHITECTURE.md lists its parts in order. The fixed ones are headers in `c/`, which are copied to its folder.

use std::collections::BTreeSet;

use futhark_manifest::Backend;

use super::inputs::Unit;
use super::{raw, symbols, table, values, wrappers};
use crate::compile::generated::Generated;

/// The file with the generated C, with strings as C reads them, and, if the unit is hardened, as `sizes.rs` changes it.
pub(in crate::compile) const CHECKED: &str = "fut_checked.c";

macro_rules! fixed_files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../c/", $name)))),*]
    };
}

/// The name and text of the fixed files that a unit includes.
pub(in crate::compile) const FIXED_FILES: &[(&str, &str)] = fixed_files! {
    "futhark_table.h" "fut_settings.def" "fut_hooks.h" "fut_pending.h" "fut_failing.h" "fut_guard.h" "fut_workers.h" "fut_sizes.h"
    "fut_devices.h" "fut_config.h" "fut_calls.h" "fut_wrappers.h" "fut_windows.h" "override/assert.h"
    "fut_library.h" "fut_library_contexts.h"
};

pub(in crate::compile) fn write(unit: &Unit<'_>) -> String {
    let generated = unit.generated;
    let raw_functions = raw::definitions(unit);
    let (driver, state) = match unit.program.backend.is_gpu() {
        true => (driver(&generated.source.calls), reset_state(generated)),
        false => Default::default(),
    };
    let (values, types) = values::write(unit);
    let (calls, functions) = wrappers::write(unit);
    // The definition of a function has the options of its prototype: the functions of the header check, copy and allocate
    // for functions with the program's own loops.
    format!(
        "{defines}{headers}{macros}#include \"fut_hooks.h\"\n{driver}#define FUT_HAS_POINTERS 1\n\
         #include \"fut_devices.h\"\nFUT_END_OURS\nFUT_BEGIN_OURS\n#include \"{name}.h\"\nFUT_END_OURS\n\
         #include \"{CHECKED}\"\nFUT_BEGIN_OURS\n#define FUT_AFTER_PROGRAM 1\n#include \"fut_hooks.h\"\n\
         {state}#include \"fut_config.h\"\n#include \"fut_devices.h\"\n#include \"fut_calls.h\"\n\
         #include \"fut_sizes.h\"\n#include \"fut_wrappers.h\"\n{values}{calls}{table}{raw}FUT_END_OURS\n",
        defines = defines(unit),
        headers = headers(&generated.source.directives),
        macros = symbols::macros(unit, |name| raw_functions.contains_key(name)),
        name = unit.name,
        table = table::write(unit, &functions, &types),
        raw = raw_functions
            .values()
            .map(String::as_str)
            .collect::<String>(),
    )
}

/// What the fixed files need to know: the backend, and the settings of this version of the runtime
/// (`FUT_HAS_<function>`).
fn defines(unit: &Unit<'_>) -> String {
    let backend = unit.program.backend;
    let flags = [
        ("MULTICORE", backend.has_threads()),
        ("GPU_BACKEND", backend.is_gpu()),
        (
            "HAS_CURRENT",
            matches!(backend, Backend::Cuda | Backend::Hip),
        ),
        ("IS_HARDENED", unit.hardened),
        ("DIRECT_CALLS", !unit.plain.is_empty()),
    ];
    let flags = flags.map(|(name, value)| format!("#define FUT_{name} {}\n", u8::from(value)));
    let functions = unit.generated.declared.iter();
    let settings = functions.filter_map(|name| name.strip_prefix("futhark_context_config_"));
    let settings: String = settings
        .map(|name| format!("#define FUT_HAS_{name} 1\n"))
        .collect();
    format!(
        "#define _GNU_SOURCE\n#define FUT_BACKEND_{backend} 1\n#define FUT_N_TYPES {}\n{}{settings}",
        unit.program.types().len(),
        flags.concat()
    )
}

const DRIVER_HEADERS: &str = "CL/cl.h cuda.h cuda_runtime.h nvrtc.h hip/hip_runtime.h hip/hiprtc.h";

/// Headers in the generated text that are for device code or for other systems.
const NOT_OURS: [&str; 3] = ["cuda_fp16.h", "windows.h", "assert.h"];

/// The beginnings of macros that configure headers.
const STEERING: [&str; 2] = ["#define CL_", "#define __HIP_PLATFORM"];

/// The system headers that the generated text includes, with the macros that configure them.
/// They precede the hooks, so that those apply only to generated code.
fn headers(directives: &[&str]) -> String {
    let mut seen = BTreeSet::new();
    let lines = directives.iter().filter_map(|line| {
        let line = line.trim_end();
        let header = line
            .strip_prefix("#include <")
            .and_then(|rest| rest.split('>').next());
        let text = match header {
            Some(header) if NOT_OURS.contains(&header) => return None,
            // A missing driver header is an error of the C compiler that names it.
            Some(header) if DRIVER_HEADERS.split(' ').any(|driver| driver == header) => {
                format!("#include <{header}>\n")
            }
            Some(header) => {
                format!("#if __has_include(<{header}>)\n#include <{header}>\n#endif\n")
            }
            None if STEERING.iter().any(|start| line.starts_with(start)) => format!("{line}\n"),
            None => return None,
        };
        seen.insert(line).then_some(text)
    });
    lines.collect()
}

/// The prefixes of driver functions; a capital letter follows.
const PREFIXES: [&str; 6] = ["cl", "cu", "cuda", "nvrtc", "hip", "hiprtc"];

/// The functions of drivers that our own code calls, even if the generated text does not.
const CALLED_BY_US: &str = "clGetPlatformIDs clGetDeviceInfo clGetCommandQueueInfo clRetainCommandQueue clRetainContext \
    cuInit cuGetErrorString cuCtxGetCurrent cuCtxSetCurrent cuDeviceGet cuDeviceGetCount \
    cuDeviceGetName cuDeviceTotalMem cuDriverGetVersion hipGetDeviceCount hipGetErrorString \
    hipGetDevice hipSetDevice hipDriverGetVersion";

/// The list of driver functions, the include of `fut_devices.h`, which declares a pointer for each, and macros that replace
/// each name with its pointer, which is looked up at run time.
fn driver(calls: &BTreeSet<&str>) -> String {
    let prefix = |name: &str| {
        PREFIXES.into_iter().find(|prefix| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        })
    };
    let called = calls.iter().copied().filter(|name| prefix(name).is_some());
    let ours = CALLED_BY_US.split(' ');
    let ours = ours.filter(|ours| calls.iter().any(|name| prefix(name) == prefix(ours)));
    let names: BTreeSet<&str> = called.chain(ours).collect();
    let list = names.iter().map(|name| format!(" \\\n  X({name})"));
    let list: String = list.collect();
    let pointers = names
        .iter()
        .map(|name| format!("#undef {name}\n#define {name} fut_driver_{name}\n"));
    let pointers: String = pointers.collect();
    format!("#define FUT_SYMBOLS(X){list}\n#include \"fut_devices.h\"\n{pointers}")
}

/// `fut_reset_state`, which initialises device state again after a failed call, such as the block counters of reductions
/// and the locks of histograms, by the calls that `init_constants` contains (`generated/state.rs`). The runtime relies on
/// every kernel to restore it. A failed kernel does not, and later calls would return wrong results without an error.
fn reset_state(generated: &Generated<'_>) -> String {
    let fills = generated.fills.iter().map(|fill| {
        let (function, memory, count, value) =
            (fill.function, fill.memory, fill.count, fill.value);
        format!(
            "  if ({function}(ctx, ctx->constants->{memory}, {count}, {value}) != 0)\n    return 1;\n"
        )
    });
    let fills: String = fills.collect();
    let copies = u8::from(generated.source.calls.contains("gpu_memcpy"));
    format!(
        "static int fut_reset_state(struct futhark_context *ctx) {{\n  (void)ctx;\n{fills}  return 0;\n}}\n\
         #define FUT_HAS_GPU_MEMCPY {copies}\n"
    )
}
