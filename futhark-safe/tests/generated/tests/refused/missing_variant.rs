//! Misuse 17: a variant that nobody thought of.

use futhark_safe::Result;
use futhark_safe_generated_tests::golden_sums as sums;

fn main() {}

fn mistake(shape: &sums::Shape) -> Result<f64> {
    Ok(match shape.destruct()? {
        sums::ShapeVariant::Point => 0.0,
        sums::ShapeVariant::Circle(r) => r,
        sums::ShapeVariant::Path(xs, _) => xs.get(0)?,
    })
}
