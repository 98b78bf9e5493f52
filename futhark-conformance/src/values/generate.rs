//! The text between the braces of `random input`: types, for which values are generated, and
//! values.

use super::{HostValue, TextError, found, parse};
use futhark_manifest::ElemType;

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generator {
    /// A generated value of this type with sizes, such as `[10][2]f32`.
    Type(String),
    /// This value.
    Value(HostValue),
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
            match is_type(word) {
                Some(true) => Ok(Generator::Type(word.to_owned())),
                _ => scalar(word).map(Generator::Value).ok_or_else(|| TextError {
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

/// Whether a word is a type. `None` if a size is not a number.
fn is_type(word: &str) -> Option<bool> {
    let mut rest = word;
    while let Some(behind) = rest.strip_prefix('[') {
        let (dim, behind) = behind.split_once(']')?;
        dim.parse::<usize>().ok()?;
        rest = behind;
    }
    Some(ElemType::from_name(rest).is_some())
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
        let ty = |text: &str| Generator::Type(text.to_owned());
        assert_eq!(found.len(), 4);
        assert_eq!((&found[0], &found[2]), (&ty("[10][2]f32"), &ty("bool")));
        assert!(matches!(&found[1], Generator::Value(value) if value.to_string() == "7i8"));
        assert_eq!(parse_generators("").unwrap(), []);
    }

    #[test]
    fn unknown_sizes_and_types_are_errors() {
        for (text, at) in [("i32 []i32", 4), ("[n]i32", 0), ("[3]x", 0), ("[1,2]", 0)] {
            assert_eq!(parse_generators(text).unwrap_err().at, at, "{text}");
        }
    }
}
