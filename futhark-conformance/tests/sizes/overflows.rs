//! The signed operations of the generated C that overflow, found by the C compiler's own sanitizer in a build without
//! `-fwrapv`, and why each is harmless.

use crate::support::run::write_script;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use regex::Regex;

/// A regular expression for a line of the C code, and the reason why an overflow in it has no effect.
const KNOWN: [(&str, &str); 6] = [
    (
        r"^int64_t (bytes|binop_x|flat_dim|conc_tmp)_\d+ = .*;$| int64_t sdiv_up64\(",
        "sizes, which are computed again in checked arithmetic for each use",
    ),
    (
        r"^int64_t (lmad_arg|binop_y|slice)_\d+ = .*;$|^lmad_copy_\d+b\(",
        "strides and offsets, of which each subscript is exact modulo 2^64 (futhark-sys/docs/arithmetic.md)",
    ),
    (
        r"^int64_t last_index_\d+ = \w+ - \(int64_t\) 1;$",
        "the last index of an array of a negative length: the allocation fails, or a loop has no iterations",
    ),
    (
        r"\[.*\* \(\(int64_t\) -1 \* \w+\)\];$",
        "the negation of a stride of -2^63 in a subscript: such a slice has at most one element, at offset 0",
    ),
    (
        r"^int64_t \w+ = -\w+;$",
        "negations, which wrap like the arithmetic of the program",
    ),
    (
        r"^int64_t fut_\w+ = .*;$|^FUT_CHECK_",
        "our own arithmetic on a number that has overflowed",
    ),
];

/// Runs tests of this program with the sanitizer, and returns the lines of the C code that it reports. `None` if gcc has
/// no sanitizer.
fn reported(tests: &[&str], folder: &Path) -> BTreeMap<String, usize> {
    let script = folder.join("cc");
    let text = format!(
        "#!/bin/sh\nfor argument do\n    from=${{argument#-iquote}}\n    \
         if [ -e \"$from/fut_checked.c\" ]; then cp \"$from/fut_checked.c\" \"{}/${{from##*/}}.c\"; fi\ndone\n\
         exec gcc \"$@\" -fno-wrapv -fsanitize=signed-integer-overflow -fsanitize-recover=all\n",
        folder.display()
    );
    let script = write_script(script, &text);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--test-threads=1", "--nocapture", "--exact"])
        .args(tests)
        .env("CC", &script)
        .env_remove("FUTHARK_TESTS_FULL")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let report = Regex::new(r"(?m)([^/\s]+)/fut_checked\.c:(\d+):\d+: runtime error: ").unwrap();
    let mut lines = BTreeMap::new();
    for report in report.captures_iter(&text) {
        let c_text = std::fs::read_to_string(folder.join(format!("{}.c", &report[1]))).unwrap();
        let line = c_text
            .lines()
            .nth(report[2].parse::<usize>().unwrap() - 1)
            .unwrap();
        *lines.entry(line.trim().to_owned()).or_default() += 1;
    }
    let unknown = text.matches("runtime error: ").count() - lines.values().sum::<usize>();
    assert_eq!(unknown, 0, "in other files: {text}");
    lines
}

pub fn check(tests: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let lines = reported(tests, folder.path());
    let known = KNOWN.map(|(pattern, reason)| (Regex::new(pattern).unwrap(), reason));
    let mut counts = [0; KNOWN.len()];
    let mut unknown = Vec::new();
    for line in lines.keys() {
        match known.iter().position(|(pattern, _)| pattern.is_match(line)) {
            Some(i) => counts[i] += 1,
            None => unknown.push(line),
        }
    }
    for (count, (_, reason)) in counts.iter().zip(KNOWN) {
        println!("{count} lines that overflow: {reason}");
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert!(!lines.is_empty(), "the sanitizer reports nothing");
}
