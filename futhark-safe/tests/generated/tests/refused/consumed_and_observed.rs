//! Misuse 10: one value is consumed and observed by the same call.

futhark_safe_generated_tests::declare_entries!();

use futhark_safe::Result;

fn main() {}

fn mistake(ctx: &entries::Context, xs: entries::Array<f32, 1>) -> Result<()> {
    let _ys = ctx.entry().add_to(xs, &xs)?;
    Ok(())
}

fn mistake_in_place(ctx: &entries::Context, mut xs: entries::Array<f32, 1>) -> Result<()> {
    let _ys = ctx.entry().add_to(&mut xs, &xs)?;
    Ok(())
}
