//! Arguments that a call reads: a `Result`, a value instead of a reference, host data for an array of rank 2, and the
//! fields of another record.

futhark_safe_generated_tests::declare_entries!();
futhark_safe_generated_tests::declare_records!();

use futhark_safe::Result;

fn main() {}

fn no_question_mark(ctx: &entries::Context) -> Result<f32> {
    let xs = ctx.array(&[1.0]);
    ctx.entry().mean(&xs)
}

fn by_value(ctx: &records::Context, line: records::LineFields) -> Result<records::Pt> {
    ctx.entry().midpoint(line)
}

fn no_shape(ctx: &entries::Context) -> Result<()> {
    let _parts = ctx.entry().split(1, &[[true], [false]])?;
    Ok(())
}

fn other_fields(ctx: &records::Context, p: records::PtFields) -> Result<records::Pt> {
    ctx.entry().midpoint(&p)
}
