//! The text between the braces of `random input`: types, for which values are generated, and
//! values.

use super::{HostValue, TextError, found, parse};
use futhark_manifest::ElemType;
use std::fmt;

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generator {
    /// A generated value of this type.
    Type(GeneratedType),
    /// This value.
    Value(HostValue),
}

/// A type with sizes, such as `[10][2]f32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedType {
    /// The extent of each dimension; empty for a scalar.
    pub shape: Vec<usize>,
    /// The element type.
    pub elem: ElemType,
}

impl fmt::Display for GeneratedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for dim in &self.shape {
            write!(f, "[{dim}]")?;
        }
        write!(f, "{}", self.elem)
    }
}

/// Parses a sequence of types and scalars, separated by white space.
///
/// # Errors
/// At the first word that is neither.
pub fn parse_generators(text: &str) -> Result<Vec<Generator>, TextError> {
    text.split_whitespace()
        .map(|word| {
            // A word is a slice of the text, so its offset is the distance.
            let at = word.as_ptr().addr() - text.as_ptr().addr();
            match parse_type(word) {
                Some(ty) => Ok(Generator::Type(ty)),
                None => scalar(word).map(Generator::Value).ok_or_else(|| TextError {
                    at,
                    message: format!(
                        "expected a type with sizes, such as [10]i32, or a number, found {}",
                        found(word)
                    ),
                }),
            }
        })
        .collect()
}

/// `[10][2]f32`.
fn parse_type(word: &str) -> Option<GeneratedType> {
    let mut shape = Vec::new();
    let mut rest = word;
    while let Some(behind) = rest.strip_prefix('[') {
        let (dim, behind) = behind.split_once(']')?;
        shape.push(dim.parse().ok()?);
        rest = behind;
    }
    let elem = ElemType::from_name(rest)?;
    Some(GeneratedType { shape, elem })
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
    fn types_and_numbers_are_parsed() {
        let found = parse_generators(" [10][2]f32 7i8\n bool 3 ").unwrap();
        let array = Generator::Type(GeneratedType {
            shape: vec![10, 2],
            elem: ElemType::F32,
        });
        assert_eq!(found.len(), 4);
        assert_eq!(found[0], array);
        assert!(matches!(&found[1], Generator::Value(value) if value.to_string() == "7i8"));
        assert!(matches!(&found[2], Generator::Type(ty) if ty.shape.is_empty()));
        assert!(matches!(&found[0], Generator::Type(ty) if ty.to_string() == "[10][2]f32"));
        assert_eq!(parse_generators("").unwrap(), []);
    }

    #[test]
    fn unknown_sizes_and_types_are_errors() {
        for (text, at) in [("i32 []i32", 4), ("[n]i32", 0), ("[3]x", 0), ("[1,2]", 0)] {
            assert_eq!(parse_generators(text).unwrap_err().at, at, "{text}");
        }
    }
}
