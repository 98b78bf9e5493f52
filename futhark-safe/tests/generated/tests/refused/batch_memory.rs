//! The memory of transfers is freed before the batch has ended.

futhark_safe_generated_tests::declare_entries!();

use futhark_safe::Result;

fn main() {}

fn upload(ctx: &entries::Context) -> Result<()> {
    ctx.batch(|batch| {
        let data = vec![0.0f32; 10];
        let _xs = batch.array(&data)?;
        Ok(())
    })
}

fn download(ctx: &entries::Context, xs: &entries::Array<f32, 1>) -> Result<()> {
    ctx.batch(|batch| {
        let mut out = vec![0.0f32; 10];
        batch.read_into(xs, &mut out)
    })
}
