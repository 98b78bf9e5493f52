//! The target of a download is read before the batch has ended.

futhark_safe_generated_tests::declare_entries!();

use futhark_safe::Result;

fn main() {}

fn mistake(ctx: &entries::Context, xs: &entries::Array<f32, 1>) -> Result<f32> {
    let mut out = vec![0.0f32; 10];
    ctx.batch(|batch| {
        batch.read_into(xs, &mut out)?;
        Ok(out[0])
    })
}
