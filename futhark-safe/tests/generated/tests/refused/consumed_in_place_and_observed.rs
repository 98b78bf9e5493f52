//! One value is consumed in place and observed by the same call.

futhark_safe_generated_tests::declare_entries!();

use futhark_safe::Result;

fn main() {}

fn mistake(ctx: &entries::Context, mut xs: entries::Array<f32, 1>) -> Result<()> {
    let _ys = ctx.entry().add_to(&mut xs, &xs)?;
    Ok(())
}
