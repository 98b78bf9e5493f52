//! Comparing results with expected values.

use crate::values::HostValue;
use std::fmt;

/// The largest difference of two floats, absolute and relative to the largest finite expected
/// element. The same as in `futhark test`.
pub const TOLERANCE: f64 = 0.002;

/// The first difference of two values.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch(String);

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Compares a result with the expected value: type, shape, integers and booleans exactly, floats
/// within [`TOLERANCE`]; NaN equals NaN.
///
/// # Errors
/// The first difference, with its index.
pub fn compare(actual: &HostValue, expected: &HostValue) -> Result<(), Mismatch> {
    same_type(actual, expected)?;
    let floats = (0..expected.count()).filter_map(|i| expected.float(i));
    let largest = floats
        .filter(|x| x.is_finite())
        .fold(0.0, |a: f64, x| a.max(x.abs()));
    let tolerance = TOLERANCE.max(TOLERANCE * largest);
    for i in 0..expected.count() {
        let equal = match (actual.float(i), expected.float(i)) {
            (Some(a), Some(e)) => close(a, e, tolerance),
            _ => actual.element(i) == expected.element(i),
        };
        if !equal {
            return Err(difference(actual, expected, i));
        }
    }
    Ok(())
}

/// Compares two values bit by bit, NaN payloads included.
///
/// # Errors
/// The first difference, with its index.
pub fn identical(actual: &HostValue, expected: &HostValue) -> Result<(), Mismatch> {
    same_type(actual, expected)?;
    match (0..expected.count()).find(|&i| actual.element(i) != expected.element(i)) {
        Some(i) => Err(difference(actual, expected, i)),
        None => Ok(()),
    }
}

fn same_type(actual: &HostValue, expected: &HostValue) -> Result<(), Mismatch> {
    if (actual.elem(), actual.shape()) == (expected.elem(), expected.shape()) {
        return Ok(());
    }
    Err(Mismatch(format!(
        "expected {}, got {}",
        expected.type_text(),
        actual.type_text()
    )))
}

fn close(actual: f64, expected: f64, tolerance: f64) -> bool {
    if actual.is_nan() || expected.is_nan() {
        actual.is_nan() && expected.is_nan()
    } else if actual.is_infinite() || expected.is_infinite() {
        actual.is_infinite() && expected.is_infinite() && (actual > 0.0) == (expected > 0.0)
    } else {
        (actual - expected).abs() <= tolerance
    }
}

fn difference(actual: &HostValue, expected: &HostValue, at: usize) -> Mismatch {
    let place = if expected.shape().is_empty() {
        String::new()
    } else {
        format!(" at {:?}", position(expected.shape(), at))
    };
    let bits = |value: &HostValue| -> String {
        value
            .element(at)
            .iter()
            .rev()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    let (a, e) = (actual.element_text(at), expected.element_text(at));
    // Two NaNs, or the two zeros, have the same text: shows their bits too.
    let shown = if a == e {
        format!(
            "expected {e} (0x{}), got {a} (0x{})",
            bits(expected),
            bits(actual)
        )
    } else {
        format!("expected {e}, got {a}")
    };
    let whole = if expected.shape().is_empty() {
        String::new()
    } else {
        format!("\nexpected {expected}\ngot      {actual}")
    };
    Mismatch(format!("{}{place}: {shown}{whole}", expected.type_text()))
}

/// The index of the element at a row-major position.
#[must_use]
pub fn position(shape: &[usize], mut flat: usize) -> Vec<i64> {
    let mut index = vec![0; shape.len()];
    for (slot, &dim) in index.iter_mut().zip(shape).rev() {
        *slot = i64::try_from(flat % dim).unwrap_or(i64::MAX);
        flat /= dim;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::parse;

    fn value(text: &str) -> HostValue {
        parse(text).unwrap()[0].by_itself().unwrap()
    }

    fn agree(actual: &str, expected: &str) -> bool {
        compare(&value(actual), &value(expected)).is_ok()
    }

    #[test]
    fn integers_are_compared_exactly() {
        assert!(agree("[1,2]", "[1,2]"));
        let error = compare(&value("[[1,2],[3,5]]"), &value("[[1,2],[3,4]]")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("[2][2]i32 at [1, 1]: expected 4, got 5"),
            "{error}"
        );
    }

    #[test]
    fn types_and_shapes_must_agree() {
        assert!(!agree("1i32", "1i64"));
        assert!(!agree("[1,2]", "[[1,2]]"));
        assert!(!agree("empty([0][3]i32)", "empty([0][2]i32)"));
        assert!(agree("empty([0][3]i32)", "empty([0][3]i32)"));
    }

    #[test]
    fn floats_are_compared_within_the_tolerance() {
        assert!(agree("1.0019", "1.0"));
        assert!(!agree("1.0021", "1.0"));
        assert!(
            agree("[0.0, 1001.9]", "[1.0, 1000.0]"),
            "relative to the largest expected"
        );
        assert!(!agree("[0.0, 1.0]", "[1.0, 1.0]"));
        assert!(
            agree("[1.0, f64.inf]", "[1.0019, f64.inf]"),
            "infinity does not scale the tolerance"
        );
        assert!(!agree("[2.0, f64.inf]", "[1.0, f64.inf]"));
    }

    #[test]
    fn nan_equals_nan_and_infinities_must_agree() {
        assert!(agree("f32.nan", "f32.nan"));
        assert!(!agree("0f32", "f32.nan"));
        assert!(!agree("f32.nan", "0f32"));
        assert!(agree("-f32.inf", "-f32.inf"));
        assert!(!agree("f32.inf", "-f32.inf"));
        assert!(!agree("1e38f32", "f32.inf"));
    }

    #[test]
    fn identical_compares_every_bit() {
        let zero = value("0f32");
        let error = identical(&value("-0.0f32"), &zero).unwrap_err();
        assert!(compare(&value("-0.0f32"), &zero).is_ok());
        assert!(
            error.to_string().contains("80000000") || error.to_string().contains("-0"),
            "{error}"
        );
        assert!(identical(&value("f32.nan"), &value("f32.nan")).is_ok());
    }

    #[test]
    fn positions_are_row_major() {
        assert_eq!(position(&[2, 3, 4], 23), [1, 2, 3]);
        assert_eq!(position(&[5], 3), [3]);
        assert_eq!(position(&[], 0), Vec::<i64>::new());
    }
}
