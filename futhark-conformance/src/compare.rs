//! Comparing results with expected values.

use crate::values::HostValue;
use futhark_manifest::ElemType;

/// The largest difference of two floats, absolute and relative to the largest finite expected
/// element. The same as in `futhark test`.
pub const TOLERANCE: f64 = 0.002;

/// The first difference of two values.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The type of the elements that differ; `None` for a difference of structure: variant, shape, number
    /// of parts.
    pub elem: Option<ElemType>,
    /// Where they differ, the expected and the actual contents.
    pub message: String,
}

/// How exactly values must agree. Types and shapes must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// In every bit, including NaN payloads.
    Bits,
    /// Floats within [`TOLERANCE`], where NaN equals NaN, and other types exactly.
    Tolerance,
}

impl Difference {
    /// A difference of structure.
    pub fn form(message: String) -> Difference {
        let elem = None;
        Difference { elem, message }
    }

    /// The same difference, with its location before its message.
    #[must_use]
    pub fn at(self, location: &str) -> Difference {
        let message = format!("{location}: {}", self.message);
        Difference { message, ..self }
    }
}

/// Compares a result with the expected value, and returns the first difference, with its index.
pub fn compare(actual: &HostValue, expected: &HostValue, within: Within) -> Result<(), Difference> {
    if (actual.elem(), actual.shape()) != (expected.elem(), expected.shape()) {
        return Err(Difference::form(format!(
            "expected {}, got {}",
            expected.type_text(),
            actual.type_text()
        )));
    }
    if actual.bytes() == expected.bytes() {
        return Ok(());
    }
    let floats = (0..expected.count()).filter_map(|i| expected.float(i));
    let largest = match within {
        Within::Bits => 0.0,
        Within::Tolerance => floats
            .filter(|x| x.is_finite())
            .fold(0.0, |a: f64, x| a.max(x.abs())),
    };
    let tolerance = TOLERANCE.max(TOLERANCE * largest);
    let differs = |i: &usize| match (within, actual.float(*i), expected.float(*i)) {
        (Within::Tolerance, Some(a), Some(e)) => !close(a, e, tolerance),
        _ => actual.element(*i) != expected.element(*i),
    };
    match (0..expected.count()).find(differs) {
        Some(i) => Err(difference(actual, expected, i)),
        None => Ok(()),
    }
}

fn close(actual: f64, expected: f64, tolerance: f64) -> bool {
    let both_are_nan = actual.is_nan() && expected.is_nan();
    // Infinities of one sign are equal, and their difference is not a number.
    both_are_nan || actual == expected || (actual - expected).abs() <= tolerance
}

fn difference(actual: &HostValue, expected: &HostValue, at: usize) -> Difference {
    let (a, e) = (actual.element_text(at), expected.element_text(at));
    // Two NaNs, or the two zeros, have the same text: shows their bits too.
    let shown = if a == e {
        let (a_bits, e_bits) = (actual.hex(at), expected.hex(at));
        format!("expected {e} ({e_bits}), got {a} ({a_bits})")
    } else {
        format!("expected {e}, got {a}")
    };
    let (index, whole) = match expected.shape() {
        [] => (String::new(), String::new()),
        shape => (
            format!(" at {:?}", position(shape, at)),
            format!("\nexpected {expected}\ngot      {actual}"),
        ),
    };
    Difference {
        elem: Some(expected.elem()),
        message: format!("{}{index}: {shown}{whole}", expected.type_text()),
    }
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
        parse(text).unwrap().remove(0)
    }

    fn agree(actual: &str, expected: &str) -> bool {
        compare(&value(actual), &value(expected), Within::Tolerance).is_ok()
    }

    #[test]
    fn integers_are_compared_exactly() {
        assert!(agree("[1,2]", "[1,2]"));
        let error = compare(
            &value("[[1,2],[3,4],[5,7]]"),
            &value("[[1,2],[3,4],[6,7]]"),
            Within::Bits,
        )
        .unwrap_err();
        assert!(
            error
                .message
                .starts_with("[3][2]i32 at [2, 0]: expected 6, got 5"),
            "{error:?}"
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
        let error = compare(&value("-0.0f32"), &zero, Within::Bits).unwrap_err();
        assert!(compare(&value("-0.0f32"), &zero, Within::Tolerance).is_ok());
        assert!(
            error.message.contains("80000000") || error.message.contains("-0"),
            "{error:?}"
        );
        assert!(compare(&value("f32.nan"), &value("f32.nan"), Within::Bits).is_ok());
    }
}
