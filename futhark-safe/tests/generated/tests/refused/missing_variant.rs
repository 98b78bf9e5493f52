//! Misuse 17: a variant that the `match` does not handle.

futhark_safe_generated_tests::declare_sums!();

use futhark_safe::Result;

fn main() {}

fn mistake(shape: &sums::Shape) -> Result<f64> {
    Ok(match shape.destruct()? {
        sums::ShapeVariant::Point => 0.0,
        sums::ShapeVariant::Circle(r) => r,
        sums::ShapeVariant::Path(xs, _) => xs.get(0)?,
    })
}
