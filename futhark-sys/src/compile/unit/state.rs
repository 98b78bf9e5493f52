//! GPU backends: device state that outlives calls and that a failing kernel can leave
//! half-way, such as the block counters of reductions and the locks of histograms.
//!
//! The runtime sets it once, when it makes its constants, and relies on every kernel
//! to leave it as it was. A kernel that fails does not, and later calls then give wrong
//! results without an error. So after a failed call it is set again, by the very calls
//! that the generated `init_constants` makes: see `generated/fills.rs`.

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
