//! GPU backends: which functions of the driver the generated text calls.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How the names of driver functions begin; a capital letter follows.
const PREFIXES: [&str; 6] = ["cl", "cu", "cuda", "nvrtc", "hip", "hiprtc"];

/// Writes the list, the pointers (by `fut_load.h`), and the redefinitions.
pub(super) fn write(c_text: &str, c: &mut String) {
    // What our own code calls is needed whether or not the text has it.
    let mut names = calls(c_text);
    for probe in [
        "clGetPlatformIDs",
        "clGetDeviceInfo",
        "cuInit",
        "cuGetErrorString",
        "cuCtxGetCurrent",
        "cuCtxSetCurrent",
        "hipGetDeviceCount",
        "hipGetErrorString",
        "hipGetDevice",
        "hipSetDevice",
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

/// The names that stand before a parenthesis, outside of strings and comments.
fn calls(c_text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut last_word = "";
    let mut rest = c_text;
    while let Some(c) = rest.chars().next() {
        let skip = match c {
            '"' | '\'' => {
                last_word = "";
                quoted(rest, c)
            }
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            'a'..='z' | 'A'..='Z' | '_' => {
                last_word = super::identifier(rest);
                last_word.len()
            }
            _ if c.is_whitespace() => c.len_utf8(),
            _ => {
                if c == '(' && prefix(last_word).is_some() {
                    names.insert(last_word);
                }
                last_word = "";
                c.len_utf8()
            }
        };
        rest = &rest[skip..];
    }
    names
}

/// The length of the literal that `text` begins with, quotes included.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return i + 1,
            _ => {}
        }
    }
    text.len()
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
        let text = r#"  CUDA_SUCCEED_FATAL(cuMemAlloc(&p, n));
            "cuFake(x)\" cuFake2(y)"
            // clOther(
            /* clThird( */ '"' x = clGetInfo
              (a); custom(x);
            hipError_t e = hipMalloc(p);
            *q = cudaEventCreate(&e);"#;
        let found: Vec<&str> = calls(text).into_iter().collect();
        assert_eq!(
            found,
            ["clGetInfo", "cuMemAlloc", "cudaEventCreate", "hipMalloc"]
        );
    }
}
