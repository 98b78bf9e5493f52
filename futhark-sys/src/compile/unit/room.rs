//! Compares the places that a copy on a GPU reads and writes with the memory of its arrays.
//!
//! The compiler moves checks of slices into kernels if they depend on a number that a kernel has computed. The host does not
//! wait for their failure before the copy of such a slice, whose place is then outside of the array.

use crate::compile::generated::lines::{Line, arguments};
use crate::compile::generated::token::span;

/// The checks for a line with `lmad_copy_gpu2gpu_4b(ctx, …, RANK, MEMORY, PLACE, STRIDES, MEMORY, PLACE, STRIDES, SHAPE)`.
pub(super) fn checks(line: &Line<'_>) -> String {
    let mut names = line.tokens.iter().enumerate();
    let Some((at, size)) = names.find_map(|(at, name)| {
        let size = name.strip_prefix("lmad_copy_gpu2gpu_")?;
        Some((at, size.trim_end_matches('b')))
    }) else {
        return String::new();
    };
    let list = arguments(&line.tokens[at + 2..]).unwrap_or_default();
    let list: Vec<_> = list.iter().map(|tokens| span(line.text, tokens)).collect();
    let [
        ..,
        rank,
        to,
        to_place,
        to_strides,
        from,
        from_place,
        from_strides,
        shape,
    ] = *list
    else {
        return String::new();
    };
    let indent = line.indent();
    let sides = [(to, to_place, to_strides), (from, from_place, from_strides)];
    let checks = sides.map(|(memory, place, strides)| {
        // What the function keeps for later calls has the size of its array.
        let Some(memory) = memory.strip_suffix(".mem") else {
            return String::new();
        };
        format!(
            "{indent}FUT_REFUSE_IF(fut_is_outside({memory}.size / {size}, {rank}, {place}, {strides}, {shape}), FUT_OUTSIDE)\n"
        )
    });
    checks.concat()
}
