//! Host data is passed for an argument that the call consumes.

futhark_safe_generated_tests::declare_entries!();

use futhark_safe::Result;

fn main() {}

fn mistake(ctx: &entries::Context, xs: Vec<f32>) -> Result<()> {
    let _ys = ctx.entry().add_to(xs, &[1.0])?;
    Ok(())
}
