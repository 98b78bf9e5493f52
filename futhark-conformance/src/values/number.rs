//! Parses numbers, and encodes them as an element type.

use futhark_manifest::ElemType;
use half::f16;
use std::fmt;

/// A parsed token without a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number<'a> {
    /// An integer with its sign. Futhark's own parser wraps numbers that are too wide, so 128 bits
    /// are kept.
    Int(i128),
    /// A decimal float: digits, point and exponent, underscores included.
    Decimal(&'a str),
    /// A float with a name, such as `f32.nan`.
    Exact(f64),
    /// A truth value.
    Bool(bool),
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(value) => value.fmt(f),
            Number::Decimal(text) => f.write_str(text),
            Number::Exact(value) => value.fmt(f),
            Number::Bool(value) => value.fmt(f),
        }
    }
}

impl Number<'_> {
    /// Whether it is written as a float.
    pub(super) fn is_decimal(&self) -> bool {
        matches!(self, Number::Decimal(_) | Number::Exact(_))
    }
}

/// Splits a token into its number and the type from its suffix, or from its name as in `f32.nan`.
/// `None` if the token is not a number.
pub(super) fn read(token: &str) -> Option<(Number<'_>, Option<ElemType>)> {
    match token {
        "true" => return Some((Number::Bool(true), Some(ElemType::Bool))),
        "false" => return Some((Number::Bool(false), Some(ElemType::Bool))),
        _ => {}
    }
    let (negative, unsigned) = match token.as_bytes().first()? {
        b'-' => (true, &token[1..]),
        b'+' => (false, &token[1..]),
        _ => (false, token),
    };
    if let Some(named) = named(token) {
        return Some(named);
    }
    let (body, suffix) = split_suffix(unsigned);
    let number = if let Some(digits) = body.strip_prefix("0x") {
        Number::Int(integer(digits, 16, negative)?)
    } else if let Some(digits) = body.strip_prefix("0b") {
        Number::Int(integer(digits, 2, negative)?)
    } else if let Some(value) = integer(body, 10, negative) {
        Number::Int(value)
    } else if is_decimal(body) {
        Number::Decimal(&token[..token.len() - (unsigned.len() - body.len())])
    } else {
        return None;
    };
    Some((number, suffix))
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
        (F32, Number::Decimal(text)) => plain(text).parse::<f32>().ok()?.to_bits().into(),
        (F32, _) => (double(number)? as f32).to_bits().into(),
        (F64, _) => double(number)?.to_bits(),
        _ => return None,
    })
}

fn double(number: Number<'_>) -> Option<f64> {
    match number {
        Number::Int(value) => Some(value as f64),
        Number::Decimal(text) => plain(text).parse().ok(),
        Number::Exact(value) => Some(value),
        Number::Bool(_) => None,
    }
}

/// `f32.nan`, `-f64.inf` and so on.
fn named(token: &str) -> Option<(Number<'static>, Option<ElemType>)> {
    let (ty, name) = token.split_once('.')?;
    let (ty, negative) = match ty.strip_prefix('-') {
        Some(ty) => (ty, true),
        None => (ty, false),
    };
    let elem = ElemType::from_name(ty).filter(|elem| is_float(*elem))?;
    let value = match (name, negative) {
        ("nan", false) => f64::NAN,
        ("inf", false) => f64::INFINITY,
        ("inf", true) => f64::NEG_INFINITY,
        _ => return None,
    };
    Some((Number::Exact(value), Some(elem)))
}

/// Removes a type name from the end. It may also be digits: all of `0xf16` is a number, because
/// there are no floats in that notation.
fn split_suffix(text: &str) -> (&str, Option<ElemType>) {
    for &elem in ElemType::ALL {
        if elem == ElemType::Bool || is_float(elem) && text.starts_with("0x") {
            continue;
        }
        let digits = |body: &&str| body.ends_with(|c: char| c.is_ascii_hexdigit() || c == '_');
        if let Some(body) = text.strip_suffix(elem.as_str()).filter(digits) {
            return (body, Some(elem));
        }
    }
    (text, None)
}

fn integer(digits: &str, radix: u32, negative: bool) -> Option<i128> {
    let mut value: i128 = 0;
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None;
    }
    for c in digits.chars().filter(|&c| c != '_') {
        let digit = c.to_digit(radix)?;
        value = value
            .wrapping_mul(i128::from(radix))
            .wrapping_add(i128::from(digit));
    }
    Some(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}

/// Digits, a point with digits after it, an exponent; the last two are optional.
fn is_decimal(text: &str) -> bool {
    let digits = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_digit() || c == '_')
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    // A capital letter is accepted only after a point.
    let capital = fraction.is_none() && text.contains('E');
    let exponent = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
    !capital && digits(whole) && fraction.is_none_or(digits) && exponent.is_none_or(digits)
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
