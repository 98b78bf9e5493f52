//! What can be wrong with a manifest.

use std::fmt;

use serde_json::Value;

use crate::path::Path;
pub(crate) use crate::words::alternatives;

/// What is wrong with a manifest, and where.
///
/// Its text is one lower-case sentence that names the place, what was expected
/// there and what was found:
///
/// ```
/// let text = r#"{"backend": "c", "entry_points": {}, "types": {
///     "[]i32": {"kind": "array", "ctype": "struct a *", "rank": "two"}}}"#;
/// let error = futhark_manifest::Manifest::parse(text).unwrap_err();
/// assert_eq!(error.pointer(), "/types/[]i32/rank");
/// assert_eq!(
///     error.to_string(),
///     r#"at /types/[]i32/rank: expected a positive integer, found "two""#
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    pointer: String,
    expected: String,
    found: String,
}

impl Error {
    pub(crate) fn new(
        kind: ErrorKind,
        path: &Path<'_>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Error {
        Error {
            kind,
            pointer: path.to_string(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// The class of the error, to be matched on.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The place, as a JSON pointer (RFC 6901). Empty for the whole document.
    /// For something that is missing it is the place where it should stand.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What was expected there, as a fragment of a sentence.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// What was found there, shortened, as a fragment of a sentence.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (expected, found) = (&self.expected, &self.found);
        match self.kind {
            ErrorKind::NotJson { line, column } => write!(
                f,
                "at line {line}, column {column}: expected {expected}, found something else ({found})"
            ),
            ErrorKind::NotAManifest => {
                write!(f, "not a manifest: expected {expected}, found {found}")
            }
            _ if self.pointer.is_empty() => {
                write!(f, "at the top: expected {expected}, found {found}")
            }
            _ => write!(f, "at {}: expected {expected}, found {found}", self.pointer),
        }
    }
}

impl std::error::Error for Error {}

/// The class of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not JSON. Both numbers count from one; a column counts bytes.
    NotJson {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// JSON, but nothing in it is a part of a manifest.
    NotAManifest,
    /// A member that every manifest has is not there.
    Missing,
    /// A value of another JSON type.
    WrongType,
    /// A word that is not one of those that can stand there, such as a backend
    /// that nobody knows.
    UnknownValue,
    /// The name of a type that the manifest does not describe.
    Dangling,
    /// A name that C would not accept where a manifest gives a C name.
    InvalidCName,
    /// A name that is taken already: a C name, a field, a variant.
    Duplicate,
    /// Two parts that disagree, or a part that means nothing by itself.
    Inconsistent,
}

/// Something in a manifest that this version of the crate does not know. It is
/// ignored: newer compilers add members that older readers can do without.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The place, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// What is there, as a lower-case fragment.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.pointer, self.message)
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

    #[test]
    fn words_are_listed() {
        assert_eq!(alternatives(&[]), "");
        assert_eq!(alternatives(&["a"]), "a");
        assert_eq!(alternatives(&["a", "b"]), "a or b");
        assert_eq!(alternatives(&["a", "b", "c"]), "a, b or c");
    }
}
