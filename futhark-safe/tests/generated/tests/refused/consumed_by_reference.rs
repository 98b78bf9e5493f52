//! A consumed parameter gets a shared reference.

#[path = "../../../golden/entries.rs"]
#[allow(unused, reason = "the mistake needs few of the items")]
mod entries;

use futhark_safe::Result;

fn main() {}

fn mistake(ctx: &entries::Context, xs: entries::Array<f32, 1>) -> Result<()> {
    let _ys = ctx.entry().add_to(&xs, &xs)?;
    Ok(())
}
