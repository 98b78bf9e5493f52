//! One value is consumed twice by the same call.

use futhark_safe::{Consumed, Result};

fn main() {}

/// As the method of an entry point with two consumed parameters.
fn exchange<T>(_a: impl Consumed<T>, _b: impl Consumed<T>) -> Result<()> {
    Ok(())
}

fn mistake<P>(mut xs: futhark_safe::Array<P, f32, 1>) -> Result<()> {
    exchange::<futhark_safe::Array<P, f32, 1>>(&mut xs, &mut xs)
}
