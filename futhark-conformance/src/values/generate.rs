//! What stands between the braces of `random input`: types, of which values are generated, and
//! values, which are taken as they are.

use super::{HostValue, TextError, parse};
use futhark_manifest::ElemType;

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generator {
    /// A value of this type, such as `[10][2]f32`.
    Type {
        /// The extent of each dimension; empty for a scalar.
        shape: Vec<usize>,
        /// The element type.
        elem: ElemType,
    },
    /// This value.
    Value(HostValue),
}

/// Parses a sequence of types and scalars, separated by white space.
///
/// # Errors
/// At the first thing that is neither.
pub fn parse_generators(text: &str) -> Result<Vec<Generator>, TextError> {
    text.split_whitespace()
        .map(|word| {
            // A word is a part of the text, so its place is the distance.
            let at = word.as_ptr().addr() - text.as_ptr().addr();
            match parse_type(word) {
                Some((shape, elem)) => Ok(Generator::Type { shape, elem }),
                None => scalar(word).map(Generator::Value).ok_or_else(|| TextError {
                    at,
                    message: format!(
                        "expected a type with sizes, such as [10]i32, or a number, found {word:?}"
                    ),
                }),
            }
        })
        .collect()
}

/// `[10][2]f32`.
fn parse_type(word: &str) -> Option<(Vec<usize>, ElemType)> {
    let mut shape = Vec::new();
    let mut rest = word;
    while let Some(behind) = rest.strip_prefix('[') {
        let (dim, behind) = behind.split_once(']')?;
        shape.push(dim.parse().ok()?);
        rest = behind;
    }
    Some((shape, ElemType::from_name(rest)?))
}

fn scalar(word: &str) -> Option<HostValue> {
    let values = parse(word).ok()?;
    match values.as_slice() {
        [value] if value.shape().is_empty() => value.by_itself().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_numbers() {
        let found = parse_generators(" [10][2]f32 7i8\n bool 3 ").unwrap();
        let array = Generator::Type {
            shape: vec![10, 2],
            elem: ElemType::F32,
        };
        assert_eq!(found.len(), 4);
        assert_eq!(found[0], array);
        assert!(matches!(&found[1], Generator::Value(value) if value.to_string() == "7i8"));
        assert!(matches!(&found[2], Generator::Type { shape, .. } if shape.is_empty()));
        assert_eq!(parse_generators("").unwrap(), []);
    }

    #[test]
    fn sizes_and_types_must_be_known() {
        for (text, at) in [("i32 []i32", 4), ("[n]i32", 0), ("[3]x", 0), ("[1,2]", 0)] {
            assert_eq!(parse_generators(text).unwrap_err().at, at, "{text}");
        }
    }
}
