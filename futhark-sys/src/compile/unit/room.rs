//! Compares the places that a copy on a GPU reads and writes with the memory of its arrays.
//!
//! The compiler moves checks of slices into kernels if they depend on a number that a kernel has computed. The host does not
//! wait for their failure before the copy of such a slice, whose place is then outside of the array.

use crate::compile::generated::expr::{Expr, Kind};

/// The checks for a call `lmad_copy_gpu2gpu_4b(ctx, …, RANK, MEMORY, PLACE, STRIDES, MEMORY, PLACE, STRIDES, SHAPE)`.
pub(super) fn checks(arguments: &[Expr<'_>], function: &str) -> Vec<String> {
    let size = function.strip_prefix("lmad_copy_gpu2gpu_");
    let (Some(size), Some([rank, sides @ .., shape])) = (size, arguments.last_chunk::<8>()) else {
        return Vec::new();
    };
    let (size, rank, shape) = (size.trim_end_matches('b'), rank.text, shape.text);
    let checks = sides.chunks(3).filter_map(|side| match &side[0].kind {
        Kind::Member(memory, ".", "mem") => {
            let (place, strides) = (side[1].text, side[2].text);
            Some(format!(
                "FUT_REFUSE_IF(fut_is_outside({memory}.size / {size}, {rank}, {place}, {strides}, {shape}), FUT_OUTSIDE)"
            ))
        }
        // What the function keeps for later calls has the size of its array.
        _ => None,
    });
    checks.collect()
}
