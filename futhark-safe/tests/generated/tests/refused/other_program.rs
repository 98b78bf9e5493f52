//! Misuse 12: a value of another program, whose type has the same name there.

use futhark_safe::Result;
use futhark_safe_generated_tests::golden_records as records;
use futhark_safe_generated_tests::golden_sums as sums;

fn main() {}

fn mistake(ctx: &records::Context, p: &records::Pt, q: &sums::Pt) -> Result<()> {
    let _line = records::Line::new(ctx, p, q)?;
    Ok(())
}
