//! GPU backends: resets device state after a failed call, such as the block counters of reductions
//! and the locks of histograms.
//!
//! The runtime initialises this state once, with its constants, and relies on every kernel to
//! restore it. A failed kernel does not, and later calls would return wrong results without an error.
//! Therefore the state is initialised again after a failed call, by the same calls that the
//! generated `init_constants` contains: see `generated/fills.rs`.

use std::fmt::Write as _;

use crate::compile::generated::fills::Fill;

/// Writes `fut_reset_state`.
pub(super) fn write(fills: &[Fill<'_>], c: &mut String) {
    c.push_str("static int fut_reset_state(struct futhark_context *ctx) {\n  (void)ctx;\n");
    for Fill {
        function,
        memory,
        arguments,
    } in fills
    {
        let _ = writeln!(
            c,
            "  if ({function}(ctx, ctx->constants->{memory}, {arguments}) != 0)\n    return 1;"
        );
    }
    c.push_str("  return 0;\n}\n");
}
