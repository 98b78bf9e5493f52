//! Misuse 9: a value that was consumed is read.

use futhark_safe::Result;
use futhark_safe_generated_tests::golden_records as records;

fn main() {}

fn mistake(ctx: &records::Context, m: records::Mixed) -> Result<()> {
    let _ys = ctx.entry().take(m)?;
    let _end = m.end()?;
    Ok(())
}
