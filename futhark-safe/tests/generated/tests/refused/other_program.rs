//! Misuse 12: a value of another program, of a type with the same name.

#[path = "../../../golden/records.rs"]
#[allow(unused, reason = "the mistake needs few of the items")]
mod records;
#[path = "../../../golden/sums.rs"]
#[allow(unused, reason = "the mistake needs few of the items")]
mod sums;

use futhark_safe::Result;

fn main() {}

fn mistake(ctx: &records::Context, p: &records::Pt, q: &sums::Pt) -> Result<()> {
    let _line = records::Line::new(ctx, records::LineParts { from: p, to: q })?;
    Ok(())
}
