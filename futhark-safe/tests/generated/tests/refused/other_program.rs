//! Misuse 12: a value of another program, of a type with the same name.

futhark_safe_generated_tests::declare_records!();
futhark_safe_generated_tests::declare_sums!();

use futhark_safe::Result;

fn main() {}

fn mistake(ctx: &records::Context, p: &records::Pt, q: &sums::Pt) -> Result<()> {
    let _line = records::Line::new(ctx, records::LineParts { from: p, to: q })?;
    Ok(())
}
