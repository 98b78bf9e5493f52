//! GPU backends: which functions of the driver the generated text calls.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How the names of driver functions begin; a capital letter follows.
const PREFIXES: [&str; 6] = ["cl", "cu", "cuda", "nvrtc", "hip", "hiprtc"];

/// Writes the list, the pointers (by `fut_load.h`), and the redefinitions.
pub(super) fn write(c_text: &str, c: &mut String) {
    // What our own probe calls is needed whether or not the text has it.
    let mut names = calls(c_text);
    for probe in ["clGetPlatformIDs", "clGetDeviceInfo", "cuInit", "hipGetDeviceCount"] {
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

/// The names that stand before a parenthesis outside of strings and comments.
fn calls(c_text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for line in c_text.lines() {
        // Kernel source is embedded as string literals; driver calls never share a line with it.
        if line.trim_start().starts_with(['"', '/']) {
            continue;
        }
        let mut rest = line;
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let word = super::identifier(&rest[start..]);
            let after = &rest[start + word.len()..];
            if after.trim_start().starts_with('(') && prefix(word).is_some() {
                names.insert(word);
            }
            rest = after;
        }
    }
    names
}

/// The library that a name belongs to, if it is a driver function's.
fn prefix(name: &str) -> Option<&'static str> {
    PREFIXES.into_iter().find(|prefix| {
        name.strip_prefix(prefix)
            .and_then(|rest| rest.chars().next())
            .is_some_and(|c| c.is_ascii_uppercase())
    })
}

#[cfg(test)]
mod tests {
    use super::calls;

    #[test]
    fn finds_calls_only() {
        let text = "  CUDA_SUCCEED_FATAL(cuMemAlloc(&p, n));\n  \"cuFake(x)\\n\"\n// clOther(\n  cl_int clGetInfo (a);\n custom(x);\n hipError_t e = hipMalloc(p);\n cudaEventCreate(&e);";
        let found: Vec<&str> = calls(text).into_iter().collect();
        assert_eq!(
            found,
            ["clGetInfo", "cuMemAlloc", "cudaEventCreate", "hipMalloc"]
        );
    }
}
