//! Misuse 12: a value of another program, whose type has the same name there.

#[path = "../../../golden/records.rs"]
#[allow(unused)]
mod records;
#[path = "../../../golden/sums.rs"]
#[allow(unused)]
mod sums;

use futhark_safe::Result;

fn main() {}

fn mistake(ctx: &records::Context, p: &records::Pt, q: &sums::Pt) -> Result<()> {
    let _line = records::Line::new(ctx, p, q)?;
    Ok(())
}
