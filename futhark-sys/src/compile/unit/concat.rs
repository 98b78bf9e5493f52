//! Checks the parts of a concatenation, which the generated C does not: no length is negative, and nothing is written
//! past the end of an argument.
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
//!
//! If the first part is a consumed argument, the compiler can take its memory for the result, which has no room for the
//! other parts. It does not copy the first part then, as in each concatenation in place:
//!
//! ```c
//! if (!(tmp_offs_6428 == (int64_t) 0)) {
//!     lmad_copy_4b(ctx, 1, (uint32_t *) mem_6420.mem, tmp_offs_6428, …, (uint32_t *) mem_6420.mem, …
//! ```

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
        let [_, others @ ..] = &*parts else {
            continue;
        };
        let indent = line.indent();
        let refuse_if = |parts: &[&str], operator: &str, why: &str| {
            let terms: Vec<_> = parts
                .iter()
                .map(|part| format!("{part} {operator} 0"))
                .collect();
            format!("{indent}FUT_REFUSE_IF({}, {why})\n", terms.join(" || "))
        };
        let mut check = refuse_if(&parts, "<", "FUT_NEGATIVE_PART");
        if !others.is_empty() && is_in_argument(lines, i, set.name) {
            check += &refuse_if(others, "!=", "FUT_NO_ROOM");
        }
        let place = place(lines, i, &parts);
        checks.entry(place).or_default().push_str(&check);
    }
    checks
}

/// Whether the memory that `offset`, which line `at` defines, belongs to is that of a parameter of the function.
fn is_in_argument(function: &[Line<'_>], at: usize, offset: &str) -> bool {
    let is_guard = |line: &Line<'_>| {
        line.tokens.starts_with(&["if", "(", "!"]) && line.tokens.contains(&offset)
    };
    let guarded = function[at..].iter().skip_while(|line| !is_guard(line));
    let guarded = guarded.take_while(|line| line.text.trim() != "}");
    let mut words = guarded.flat_map(|line| line.tokens.windows(3));
    let memory = words.find_map(|words| match *words {
        [name, ".", "mem"] => Some(name),
        _ => None,
    });
    let mut words = function.iter().flat_map(|line| line.tokens.windows(4));
    words.any(|words| {
        matches!(*words, ["struct", "memblock" | "memblock_device", name, "," | ")"] if Some(name) == memory)
    })
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
