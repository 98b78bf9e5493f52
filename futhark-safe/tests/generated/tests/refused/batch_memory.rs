//! Before a batch has ended, the memory of its transfers is freed, changed or read, or the batch is kept.

futhark_safe_generated_tests::declare_entries!();

use entries::{Array, Context, Program};
use futhark_safe::{Batch, Result};

fn main() {}

fn free_source(ctx: &Context) -> Result<Array<f32, 1>> {
    ctx.batch(|batch| {
        let data = vec![0.0f32; 10];
        batch.array(&data)
    })
}

fn free_target(ctx: &Context, xs: &Array<f32, 1>) -> Result<()> {
    ctx.batch(|batch| {
        let mut out = vec![0.0f32; 10];
        batch.read_into(xs, &mut out)
    })
}

fn change_source(ctx: &Context, mut data: Vec<f32>) -> Result<()> {
    ctx.batch(|batch| {
        let _xs = batch.array(&data)?;
        data[0] = 1.0;
        Ok(())
    })
}

fn read_target(ctx: &Context, xs: &Array<f32, 1>) -> Result<f32> {
    let mut out = vec![0.0f32; 10];
    ctx.batch(|batch| {
        batch.read_into(xs, &mut out)?;
        Ok(out[0])
    })
}

fn keep<'env>(ctx: &Context, kept: &mut Option<&'env Batch<'env, 'env, Program>>) -> Result<()> {
    ctx.batch(|batch| {
        *kept = Some(batch);
        Ok(())
    })
}
