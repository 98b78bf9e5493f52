//! One value is consumed in place and observed by the same call.

#[path = "../../../golden/entries.rs"]
#[allow(unused, reason = "the mistake needs few of the items")]
mod entries;

use futhark_safe::Result;

fn main() {}

fn mistake(ctx: &entries::Context, mut xs: entries::Array<f32, 1>) -> Result<()> {
    let _ys = ctx.entry().add_to(&mut xs, &xs)?;
    Ok(())
}
