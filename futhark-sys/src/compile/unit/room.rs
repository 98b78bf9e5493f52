//! Compares the places that a copy on a GPU reads and writes with the memory of its arrays.
//!
//! The compiler moves checks of slices into kernels if they depend on a number that a kernel has computed. The host does not
//! wait for their failure before the copy of such a slice, whose place is then outside of the array.

use crate::compile::generated::expr::{Expr, Kind};

/// The checks for a call `lmad_copy_gpu2gpu_4b(ctx, …, RANK, MEMORY, PLACE, STRIDES, MEMORY, PLACE, STRIDES, SHAPE)`.
pub(super) fn checks(arguments: &[Expr<'_>], function: &str) -> Vec<String> {
    let size = function.strip_prefix("lmad_copy_gpu2gpu_");
    let (
        Some(size),
        [
            ..,
            rank,
            to,
            to_place,
            to_strides,
            from,
            from_place,
            from_strides,
            shape,
        ],
    ) = (size.map(|size| size.trim_end_matches('b')), arguments)
    else {
        return Vec::new();
    };
    let [rank, to_place, to_strides, from_place, from_strides, shape] =
        [rank, to_place, to_strides, from_place, from_strides, shape].map(|argument| argument.text);
    let sides = [(to, to_place, to_strides), (from, from_place, from_strides)];
    let checks = sides.into_iter().filter_map(|(memory, place, strides)| {
        // What the function keeps for later calls has the size of its array.
        let Kind::Member(memory, ".", "mem") = &memory.kind else {
            return None;
        };
        Some(format!(
            "FUT_REFUSE_IF(fut_is_outside({memory}.size / {size}, {rank}, {place}, {strides}, {shape}), FUT_OUTSIDE)"
        ))
    });
    checks.collect()
}
