//! A single problem of a manifest, with its place.

use std::fmt;

use serde_json::Value;

use crate::manifest::code::{Code, Severity};
use crate::manifest::json::{Path, Position};
use crate::text::Printable;

/// A problem of a manifest, with its place.
///
/// `Display` writes one line: the place, the expected and the actual value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    code: Code,
    pointer: String,
    position: Option<Position>,
    expected: String,
    found: String,
}

impl Finding {
    pub(crate) fn new(
        code: Code,
        path: &Path<'_>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Finding {
        Finding {
            code,
            pointer: path.to_string(),
            position: None,
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// Sets the position in the text.
    pub(crate) fn at(mut self, position: Position) -> Finding {
        self.position = Some(position);
        self
    }

    /// Replaces the pointer.
    pub(crate) fn moved(mut self, pointer: String) -> Finding {
        self.pointer = pointer;
        self
    }

    /// The class, to match on.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// Whether this is an error or a warning.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// The place, as a JSON pointer (RFC 6901). Empty for the whole document.
    /// For a missing member, the place where it should be.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The position in the text, if the text was available, as in an error of
    /// [`Manifest::parse`](crate::Manifest::parse). For other findings, use
    /// [`Position::nearest`].
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.position
    }

    /// The expected value, as a fragment of a sentence.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// The actual value, shortened, as a fragment of a sentence.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding {
            code,
            pointer,
            position,
            expected,
            found,
        } = self;
        match (code, position) {
            (Code::NotAManifest, _) => f.write_str("not a manifest")?,
            (_, _) if !pointer.is_empty() => write!(f, "at {}", Printable(pointer))?,
            (_, Some(position)) => write!(f, "at {position}")?,
            (_, None) => f.write_str("at the top")?,
        }
        write!(f, ": expected {expected}, found {found}")
    }
}

/// A JSON value in a few words: scalars as they are, shortened, the rest by type.
pub(crate) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => shorten(&number.to_string()),
        Value::String(text) => quote(text),
        Value::Array(items) if items.is_empty() => "an empty array".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(members) if members.is_empty() => "an empty object".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A name in quotes, shortened, on one line.
pub(crate) fn quote(text: &str) -> String {
    format!("{:?}", shorten(text))
}

fn shorten(text: &str) -> String {
    // Long enough for the C name of a type that is a hash.
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_described_in_a_few_words() {
        for (value, text) in [
            (json!(null), "null"),
            (json!(true), "true"),
            (json!(-3), "-3"),
            (json!("a\n\"b\""), r#""a\n\"b\"""#),
            (json!([]), "an empty array"),
            (json!([1]), "an array"),
            (json!({}), "an empty object"),
            (json!({"a": 1}), "an object"),
        ] {
            assert_eq!(describe(&value), text);
        }
        let long = describe(&json!("é".repeat(1000)));
        assert!(
            long.ends_with("…\"") && long.chars().count() < 100,
            "{long}"
        );
    }
}
