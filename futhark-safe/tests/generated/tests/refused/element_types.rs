//! Arrays of elements that Futhark does not have.

futhark_safe_generated_tests::declare_entries!();

use futhark_safe::Result;

fn main() {}

fn mistake(ctx: &entries::Context) -> Result<()> {
    let _sizes = ctx.array(&[1usize])?;
    Ok(())
}
