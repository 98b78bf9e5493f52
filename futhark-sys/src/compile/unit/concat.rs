//! Lengths of concatenations, which the generated C never compares with zero.
//!
//! A concatenation adds up where each part begins:
//!
//! ```c
//! int64_t tmp_offs_6428 = (int64_t) 0;
//! ...
//! tmp_offs_6428 += n_6320;
//! ```
//!
//! The parts are often written into the result directly, before these lines, and the size of the
//! result can be valid while a part has a negative length: `replicate (n - 1) x ++ [x]` with
//! n = 0 writes before the beginning of no elements. Therefore the lengths are compared with zero
//! where the block begins that concatenates.

use std::collections::BTreeMap;

/// Checks by the number of the line that they stand before.
pub(super) fn checks(lines: &[&str]) -> BTreeMap<usize, String> {
    let mut checks = BTreeMap::<usize, String>::new();
    for (i, line) in lines.iter().enumerate() {
        let offset = line.trim_start().strip_prefix("int64_t tmp_offs_");
        if let Some((number, _)) = offset.and_then(|rest| rest.split_once(" = ")) {
            let parts = parts(&lines[i..], &format!("tmp_offs_{number} += "));
            if !parts.is_empty() {
                let indent = &line[..indent(line)];
                let terms: Vec<_> = parts.iter().map(|part| format!("{part} < 0")).collect();
                let check = format!(
                    "{indent}if ({}) {{\n\
                     {indent}    err = fut_refuse_length(ctx);\n\
                     {indent}    goto cleanup;\n\
                     {indent}}}\n",
                    terms.join(" || ")
                );
                checks
                    .entry(place(lines, i, &parts))
                    .or_default()
                    .push_str(&check);
            }
        }
    }
    checks
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The lengths that are added in the block in which `lines` begin.
fn parts<'a>(lines: &[&'a str], addition: &str) -> Vec<&'a str> {
    let block = indent(lines[0]);
    lines
        .iter()
        .take_while(|line| line.trim().is_empty() || indent(line) >= block)
        .filter_map(|line| {
            line[indent(line)..]
                .strip_prefix(addition)?
                .strip_suffix(';')
        })
        .collect()
}

/// The first line of the block around line `end` before which all `parts` are defined.
fn place(lines: &[&str], end: usize, parts: &[&str]) -> usize {
    let block = indent(lines[end]);
    let outside = |line: &&str| !line.trim().is_empty() && indent(line) < block;
    let begin = lines[..end].iter().rposition(outside).map_or(0, |i| i + 1);
    // `cleanup:` frees what the function has declared.
    let is_before = |line: &&str| {
        let text = line.trim_start();
        let name = text.strip_prefix("int64_t ").unwrap_or(text);
        let name = name.split([' ', ';']).next().unwrap_or_default();
        parts.contains(&name) || text.ends_with(" = NULL;") || text == "int err = 0;"
    };
    let mut place = lines[begin..end]
        .iter()
        .rposition(is_before)
        .map_or(begin, |i| begin + i + 1);
    while place < end && can_precede(&lines[place..], block) {
        place += 1;
    }
    place
}

/// Whether the first of `lines` belongs to a definition or to a check of the compiler, whose
/// message says more than ours. Both write no element.
fn can_precede(lines: &[&str], block: usize) -> bool {
    let text = lines[0].trim_start();
    text.is_empty()
        || ["//", "int64_t ", "bool ", "}"]
            .iter()
            .any(|start| text.starts_with(start))
        || indent(lines[0]) > block
        || text.starts_with("if (!") && lines.get(1).is_some_and(|next| next.contains("set_error("))
}
