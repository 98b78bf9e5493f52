//! Compares the lengths of the parts of a concatenation with zero, which the generated C does not.
//!
//! A concatenation computes the offset of each part:
//!
//! ```c
//! int64_t tmp_offs_6428 = (int64_t) 0;
//! ...
//! tmp_offs_6428 += n_6320;
//! ```
//!
//! The parts are often written directly into the result, before these lines, and the size of the
//! result can be valid although a part has a negative length: `replicate (n - 1) x ++ [x]` with
//! n = 0 writes before the beginning of an empty array. Therefore the lengths are compared with zero
//! at the beginning of the block that concatenates.

use std::collections::BTreeMap;

use crate::compile::generated::lines::{Line, Statement};
use crate::compile::generated::token::span;

/// The checks, by the number of the line that each one precedes.
pub(super) fn checks(lines: &[Line<'_>]) -> BTreeMap<usize, String> {
    let mut checks = BTreeMap::<usize, String>::new();
    for (i, line) in lines.iter().enumerate() {
        let Statement::Set(set) = &line.statement else {
            continue;
        };
        if !set.is_definition || !set.name.starts_with("tmp_offs_") {
            continue;
        }
        let parts = parts(&lines[i..], set.name);
        let indent = line.indent();
        let terms: Vec<_> = parts.iter().map(|part| format!("{part} < 0")).collect();
        let check = format!(
            "{indent}if ({}) {{\n\
             {indent}    err = fut_refuse_length(ctx);\n\
             {indent}    goto cleanup;\n\
             {indent}}}\n",
            terms.join(" || ")
        );
        if !parts.is_empty() {
            let place = place(lines, i, &parts);
            checks.entry(place).or_default().push_str(&check);
        }
    }
    checks
}

/// The lengths that are added to `offset` in the block in which `lines` begin.
fn parts<'a>(lines: &[Line<'a>], offset: &str) -> Vec<&'a str> {
    let block = lines[0].indent().len();
    let in_block = |line: &&Line<'_>| line.text.trim().is_empty() || line.indent().len() >= block;
    let part = |line: &Line<'a>| match (&line.statement, &*line.tokens) {
        (Statement::Set(set), [_, "+=", length @ .., ";"]) if set.name == offset => {
            Some(span(line.text, length))
        }
        _ => None,
    };
    lines.iter().take_while(in_block).filter_map(part).collect()
}

/// The first line of the block around line `end` before which all `parts` are defined.
fn place(lines: &[Line<'_>], end: usize, parts: &[&str]) -> usize {
    let block = lines[end].indent().len();
    let outside = |line: &Line<'_>| !line.text.trim().is_empty() && line.indent().len() < block;
    let begin = lines[..end].iter().rposition(outside).map_or(0, |i| i + 1);
    // `cleanup:` frees what the function has declared.
    let is_before = |line: &Line<'_>| {
        let text = line.text.trim_start();
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

/// Whether the first of `lines` belongs to a definition or to a check of the compiler, which write no
/// element. The messages of the compiler are more specific than ours.
fn can_precede(lines: &[Line<'_>], block: usize) -> bool {
    let text = lines[0].text.trim_start();
    text.is_empty()
        || ["//", "int64_t ", "bool ", "}"]
            .iter()
            .any(|start| text.starts_with(start))
        || lines[0].indent().len() > block
        || text.starts_with("if (!")
            && lines
                .get(1)
                .is_some_and(|next| next.text.contains("set_error("))
}
