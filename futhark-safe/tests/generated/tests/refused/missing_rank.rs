//! A shape of a rank that no array type of the program has.

futhark_safe_generated_tests::declare_record_arrays!();

use futhark_safe::Result;

fn main() {}

fn unknown_rank(xs: &record_arrays::Array<f64, 1>) -> Result<()> {
    let _cube = xs.reshape([1, 2, 3])?;
    Ok(())
}
