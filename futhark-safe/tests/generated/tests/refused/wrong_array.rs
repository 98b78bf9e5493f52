//! An array of another element type, and one that the program does not have.

futhark_safe_generated_tests::declare_entries!();

use futhark_safe::Result;

fn main() {}

fn wrong_elements(ctx: &entries::Context, xs: &entries::Array<i32, 1>) -> Result<f32> {
    ctx.entry().mean(xs)
}

fn unknown_array(ctx: &entries::Context) -> Result<()> {
    let _xs = ctx.array(&[1u16])?;
    Ok(())
}
