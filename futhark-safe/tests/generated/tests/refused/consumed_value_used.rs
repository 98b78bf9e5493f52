//! Misuse 9: a value that was consumed is read.

futhark_safe_generated_tests::declare_records!();

use futhark_safe::Result;

fn main() {}

fn mistake(ctx: &records::Context, m: records::Mixed) -> Result<()> {
    let _ys = ctx.entry().take(m)?;
    let _end = m.end()?;
    Ok(())
}
