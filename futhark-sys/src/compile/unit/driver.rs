//! Redirects the driver calls of the generated C to pointers that are looked up at run time (GPU
//! backends).

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The prefixes of driver functions; a capital letter follows.
const PREFIXES: [&str; 6] = ["cl", "cu", "cuda", "nvrtc", "hip", "hiprtc"];

/// Writes the list of driver functions, the include of `fut_load.h`, which declares a pointer for
/// each, and macros that replace each name with its pointer.
pub(super) fn write(calls: &BTreeSet<&str>, c: &mut String) {
    let names = calls.iter().copied();
    let mut names: BTreeSet<&str> = names.filter(|name| prefix(name).is_some()).collect();
    // Our own code calls these, even if the generated text does not.
    for probe in [
        "clGetPlatformIDs",
        "clGetDeviceInfo",
        "clGetCommandQueueInfo",
        "clRetainCommandQueue",
        "clRetainContext",
        "cuInit",
        "cuGetErrorString",
        "cuCtxGetCurrent",
        "cuCtxSetCurrent",
        "cuDeviceGet",
        "cuDeviceGetCount",
        "cuDeviceGetName",
        "cuDeviceTotalMem",
        "cuDriverGetVersion",
        "hipGetDeviceCount",
        "hipGetErrorString",
        "hipGetDevice",
        "hipSetDevice",
        "hipDriverGetVersion",
    ] {
        if names.iter().any(|name| prefix(name) == prefix(probe)) {
            names.insert(probe);
        }
    }
    c.push_str("#define FUT_SYMBOLS(X)");
    for name in &names {
        let _ = write!(c, " \\\n  X({name})");
    }
    c.push_str("\n#include \"fut_load.h\"\n");
    for name in &names {
        let _ = writeln!(c, "#undef {name}\n#define {name} fut_driver_{name}");
    }
}

/// The prefix of a name, if it is the name of a driver function.
fn prefix(name: &str) -> Option<&'static str> {
    PREFIXES.into_iter().find(|prefix| {
        name.strip_prefix(prefix)
            .and_then(|rest| rest.chars().next())
            .is_some_and(|c| c.is_ascii_uppercase())
    })
}
