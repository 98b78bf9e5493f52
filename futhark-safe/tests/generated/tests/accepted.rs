//! Correct versions of the mistakes in `refused`.

use futhark_safe_generated_tests::{
    golden_entries as entries, golden_records as records, golden_sums as sums,
};

use futhark_safe::Result;

fn consumed_then_made_again(ctx: &records::Context, m: records::Mixed) -> Result<()> {
    let ys = ctx.entry().take(m)?;
    let _first: f32 = ys.get(0)?;
    Ok(())
}

fn observed_then_consumed(ctx: &records::Context, m: records::Mixed) -> Result<()> {
    let ys = m.ys()?;
    let _changed: records::Mixed = ctx.entry().mix(&m, ys)?;
    Ok(())
}

/// A value is consumed in a struct, and the result takes its place.
fn consumed_in_place(ctx: &entries::Context, xs: &mut entries::Array<f32, 1>) -> Result<()> {
    let ys = ctx.array(&[1.0, 2.0])?;
    *xs = ctx.entry().add_to(&mut *xs, &ys)?;
    *xs = ctx.entry().add_to(ctx.array(&[1.0, 2.0])?, xs)?;
    Ok(())
}

/// Memory outlives the batch, and is used after it.
fn a_batch(ctx: &entries::Context, mut data: Vec<f32>) -> Result<f32> {
    let mut out = vec![0.0f32; data.len()];
    let (mean, download) = ctx.batch(|batch| {
        let xs = batch.array(&data)?;
        batch.read_into(&xs, &mut out)?;
        Ok((
            ctx.entry().mean(&xs)?,
            batch.to_vec(&batch.array(vec![1.0f32])?)?,
        ))
    })?;
    data[0] = mean;
    Ok(out[0] + download.into_vec()?[0])
}

fn a_value_of_this_program(ctx: &records::Context) -> Result<f64> {
    let p = records::Pt::new(ctx, records::PtFields { x: 1.0, y: 2.0 })?;
    let q = records::Pt::from_fields(ctx, records::PtFields { x: 1.0, y: 2.0 })?;
    let line = records::Line::new(ctx, records::LineParts { from: &p, to: &q })?;
    Ok(line.fields()?.from.x + ctx.entry().midpoint(&line)?.y()?)
}

fn every_variant(shape: &sums::Shape) -> Result<f64> {
    Ok(match shape.destruct()? {
        sums::ShapeVariant::Point => 0.0,
        sums::ShapeVariant::Circle(r) => r,
        sums::ShapeVariant::Rect(w, h) => w * h,
        sums::ShapeVariant::Path(xs, p) => xs.get(0)? + p.x()?,
    })
}

#[test]
fn values_are_send_and_sync() {
    fn go<T: Send + Sync>() {}
    go::<records::Mixed>();
    go::<sums::ShapeVariant>();
    let _ = (
        consumed_then_made_again,
        observed_then_consumed,
        consumed_in_place,
        a_batch,
        a_value_of_this_program,
        every_variant,
    );
}
