//! The source of an upload is changed, and a batch is kept, before the batch has ended.

futhark_safe_generated_tests::declare_entries!();

use futhark_safe::{Batch, Result};

fn main() {}

fn change(ctx: &entries::Context, mut data: Vec<f32>) -> Result<()> {
    ctx.batch(|batch| {
        let _xs = batch.array(&data)?;
        data[0] = 1.0;
        Ok(())
    })
}

fn keep<'env>(
    ctx: &entries::Context,
    kept: &mut Option<&'env Batch<'env, 'env, entries::Program>>,
) -> Result<()> {
    ctx.batch(|batch| {
        *kept = Some(batch);
        Ok(())
    })
}
