//! Parses numbers, and encodes them as an element type.

use futhark_manifest::ElemType;
use half::f16;
use regex::Regex;
use std::fmt;
use std::sync::LazyLock;

/// A parsed token without a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number<'a> {
    /// An integer with its sign. Futhark's own parser wraps numbers that are too wide, so 128 bits
    /// are kept.
    Int(i128),
    /// A float: digits, point and exponent, underscores included; or `nan`, `inf` or `-inf`.
    Float(&'a str),
    /// A truth value.
    Bool(bool),
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(value) => value.fmt(f),
            Number::Float(text) => f.write_str(text),
            Number::Bool(value) => value.fmt(f),
        }
    }
}

/// The notation of numbers. Letters at the end of a hexadecimal number that may be digits are digits.
static NOTATION: LazyLock<Regex> = LazyLock::new(|| {
    let notation = r"(?x)^
        (?<number> (?<sign> [+-]?) (?:
            0x (?<hexadecimal> [0-9a-fA-F][0-9a-fA-F_]*)
          | 0b (?<binary> [01][01_]*)
          | (?<float> [0-9][0-9_]* (?: \.[0-9][0-9_]* ([eE][+-]?[0-9][0-9_]*)? | e[+-]?[0-9][0-9_]* ))
          | (?<decimal> [0-9][0-9_]*)
        ))
        (?<suffix> [iu](?:8|16|32|64) | f(?:16|32|64) )?
        $";
    Regex::new(notation).expect("a valid expression")
});

/// Splits a token into its number and the type from its suffix, or from its name as in `f32.nan`.
/// `None` if the token is not a number.
pub(super) fn read(token: &str) -> Option<(Number<'_>, Option<ElemType>)> {
    if let Some((number, elem)) = named(token) {
        return Some((number, Some(elem)));
    }
    let parts = NOTATION.captures(token)?;
    let part = |name| parts.name(name).map(|part| part.as_str());
    let digits = [("hexadecimal", 16), ("binary", 2), ("decimal", 10)];
    let mut digits = digits.into_iter();
    let number = match digits.find_map(|(name, radix)| Some((part(name)?, radix))) {
        Some((digits, radix)) => Number::Int(integer(digits, radix, part("sign") == Some("-"))),
        None => Number::Float(part("number")?),
    };
    Some((number, part("suffix").and_then(ElemType::from_name)))
}

/// `true`, `f32.nan`, `-f64.inf` and so on.
fn named(token: &str) -> Option<(Number<'static>, ElemType)> {
    match token {
        "true" => return Some((Number::Bool(true), ElemType::Bool)),
        "false" => return Some((Number::Bool(false), ElemType::Bool)),
        _ => {}
    }
    let (ty, name) = token.split_once('.')?;
    let number = match (ty.starts_with('-'), name) {
        (false, "nan") => "nan",
        (false, "inf") => "inf",
        (true, "inf") => "-inf",
        _ => return None,
    };
    let elem = ElemType::from_name(ty.strip_prefix('-').unwrap_or(ty));
    Some((Number::Float(number), elem.filter(|elem| is_float(*elem))?))
}

fn integer(digits: &str, radix: u32, is_negative: bool) -> i128 {
    let digits = digits.chars().filter_map(|c| c.to_digit(radix));
    let value = digits.fold(0i128, |value, digit| {
        value.wrapping_mul(radix.into()).wrapping_add(digit.into())
    });
    match is_negative {
        true => value.wrapping_neg(),
        false => value,
    }
}

/// The bits of a number as an element of type `elem`, and any above its width; `None` for a float as an
/// integer, or a boolean as a number.
pub(super) fn bits(number: Number<'_>, elem: ElemType) -> Option<u64> {
    use ElemType::{Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    Some(match (elem, number) {
        (Bool, Number::Bool(value)) => value.into(),
        // The low bits of a two's complement number are the number wrapped to that width, signed or not.
        (I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64, Number::Int(value)) => value as u64,
        (F16, _) => f16::from_f64(double(number)?).to_bits().into(),
        // Parsed at its own width: by way of f64 it would be rounded twice.
        (F32, Number::Float(text)) => plain(text).parse::<f32>().ok()?.to_bits().into(),
        (F32, _) => (double(number)? as f32).to_bits().into(),
        (F64, _) => double(number)?.to_bits(),
        _ => return None,
    })
}

fn double(number: Number<'_>) -> Option<f64> {
    match number {
        Number::Int(value) => Some(value as f64),
        Number::Float(text) => plain(text).parse().ok(),
        Number::Bool(_) => None,
    }
}

fn plain(text: &str) -> String {
    text.replace('_', "")
}

pub(super) fn is_float(elem: ElemType) -> bool {
    matches!(elem, ElemType::F16 | ElemType::F32 | ElemType::F64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_i64(token: &str) -> Option<i64> {
        let (number, _) = read(token)?;
        bits(number, ElemType::I64).map(u64::cast_signed)
    }

    fn as_f64(token: &str) -> Option<f64> {
        let (number, _) = read(token)?;
        bits(number, ElemType::F64).map(f64::from_bits)
    }

    #[test]
    fn integers_are_parsed_in_every_notation() {
        assert_eq!(as_i64("42"), Some(42));
        assert_eq!(as_i64("-1_000_000"), Some(-1_000_000));
        assert_eq!(as_i64("+7i64"), Some(7));
        assert_eq!(as_i64("0xFF_ff"), Some(0xFFFF));
        assert_eq!(as_i64("-0b1010i8"), Some(-10));
        assert_eq!(as_i64("9223372036854775808"), Some(i64::MIN), "wraps");
        for wrong in ["", "-", "0x", "1x", "_1", "i32", "12i7", "--1"] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn suffixes_give_the_type() {
        let suffix = |token| read(token).and_then(|(_, suffix)| suffix);
        assert_eq!(suffix("1u8"), Some(ElemType::U8));
        assert_eq!(suffix("1"), None);
        assert_eq!(suffix("1f16"), Some(ElemType::F16));
        assert_eq!(suffix("-f64.inf"), Some(ElemType::F64));
        assert_eq!(suffix("0xf16"), None, "a hexadecimal integer");
        assert_eq!(as_i64("0xf16"), Some(0xf16));
        assert_eq!(suffix("0x10u8"), Some(ElemType::U8));
    }

    #[test]
    fn floats_are_parsed_in_every_notation() {
        assert_eq!(as_f64("1.5e-3"), Some(0.0015));
        assert_eq!(as_f64("-2.0f32"), Some(-2.0));
        assert_eq!(as_f64("3"), Some(3.0));
        assert_eq!(as_f64("1e1_0"), Some(1e10));
        assert_eq!(as_f64("1.0E1"), Some(10.0));
        assert_eq!(as_f64("-f32.inf"), Some(f64::NEG_INFINITY));
        assert!(as_f64("f16.nan").is_some_and(f64::is_nan));
        assert_eq!(as_i64("1.5"), None, "a float is not an integer");
        assert_eq!(as_f64("true"), None);
        for wrong in [
            ".5", "1.", "1.e5", "1e", "1E1", "1.2.3", "f32.max", "i32.nan", "0x1.8", "0x1p4",
            "-f32.nan", "+f32.inf",
        ] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn single_precision_is_rounded_once() {
        // So close above a midpoint that parsing it as f64 gives the midpoint, which then rounds
        // down.
        let token = "1.000000059604644775390625000000000001";
        let (number, _) = read(token).unwrap();
        assert_eq!(bits(number, ElemType::F32), Some(0x3f80_0001));
    }
}
