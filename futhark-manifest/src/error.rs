//! What is wrong with a manifest.

use std::fmt;

use serde_json::Value;

use crate::code::{Code, Severity};
use crate::json::{Path, Position};
use crate::printable::Printable;

/// Something that is wrong with a manifest, or odd about it, and where.
///
/// Its text is one lower-case sentence that names the place, what was expected
/// there and what was found.
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

    /// The same, with the place in the text where it stands.
    pub(crate) fn at(mut self, position: Position) -> Finding {
        self.position = Some(position);
        self
    }

    /// The same about another place, whose pointer is known.
    pub(crate) fn moved(mut self, pointer: String) -> Finding {
        self.pointer = pointer;
        self
    }

    /// The class, to be matched on.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// Whether the manifest can be used nevertheless.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// The place, as a JSON pointer (RFC 6901). Empty for the whole document.
    /// For something that is missing it is the place where it should stand.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The place in the text, where the text was at hand: so it is after
    /// [`Manifest::parse`](crate::Manifest::parse) failed. For other findings,
    /// ask [`Position::nearest`].
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.position
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

/// What is wrong with a manifest: one [`Finding`] or more.
///
/// Its text is that of the first, and says how many others there are. What
/// [`code`](Error::code), [`pointer`](Error::pointer) and so on give is of the
/// first, too:
///
/// ```
/// use futhark_manifest::{Code, Manifest};
///
/// let text = r#"{"backend": "c", "entry_points": {}, "types": {
///     "[]i32": {"kind": "array", "ctype": "struct a *", "rank": "two"}}}"#;
/// let error = Manifest::parse(text).unwrap_err();
/// assert_eq!(error.code(), Code::WrongType);
/// assert_eq!(error.pointer(), "/types/[]i32/rank");
/// assert_eq!(error.position().unwrap().to_string(), "line 2, column 63");
/// assert_eq!(
///     error.to_string(),
///     r#"at /types/[]i32/rank: expected a positive integer, found "two""#
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    first: Box<Finding>,
    others: Vec<Finding>,
}

impl Error {
    /// The error of one finding.
    pub(crate) fn of(finding: Finding) -> Error {
        let (first, others) = (Box::new(finding), Vec::new());
        Error { first, others }
    }

    /// The error of these findings, if there are any.
    pub(crate) fn from_findings(findings: Vec<Finding>) -> Option<Error> {
        let mut findings = findings.into_iter();
        let first = Box::new(findings.next()?);
        let others = findings.collect();
        Some(Error { first, others })
    }

    /// The same with the places of all findings in the text.
    pub(crate) fn locate(mut self, text: &str) -> Error {
        // Reading stops at the first error, so there is one.
        let findings = std::iter::once(&mut *self.first).chain(&mut self.others);
        for finding in findings {
            finding.position = Some(Position::nearest(text, &finding.pointer));
        }
        self
    }

    /// All findings, each of [severity](Finding::severity) error.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(&*self.first).chain(&self.others)
    }

    /// The class of the first finding.
    #[must_use]
    pub fn code(&self) -> Code {
        self.first.code()
    }

    /// The place of the first finding: [`Finding::pointer`].
    #[must_use]
    pub fn pointer(&self) -> &str {
        self.first.pointer()
    }

    /// The place of the first finding in the text: [`Finding::position`].
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.first.position()
    }

    /// What the first finding expected.
    #[must_use]
    pub fn expected(&self) -> &str {
        self.first.expected()
    }

    /// What stood there instead, shortened.
    #[must_use]
    pub fn found(&self) -> &str {
        self.first.found()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        match self.others.len() {
            0 => Ok(()),
            others => write!(f, " (and {others} more)"),
        }
    }
}

/// The text and the code: this is what `unwrap` and a failing `main` print.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({})", self.code())
    }
}

impl std::error::Error for Error {}

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
    fn an_error_says_how_many_findings_there_are() {
        let root = Path::Root;
        let finding = |key| Finding::new(Code::WrongType, &root.key(key), "a text", "3");
        assert_eq!(Error::from_findings(Vec::new()), None);
        let one = Error::of(finding("a"));
        assert_eq!(one.to_string(), "at /a: expected a text, found 3");
        assert_eq!(
            format!("{one:?}"),
            "at /a: expected a text, found 3 (wrong-type)"
        );
        let three = Error::from_findings(["a", "b", "c"].map(finding).into()).unwrap();
        assert_eq!(
            three.to_string(),
            "at /a: expected a text, found 3 (and 2 more)"
        );
        assert_eq!(three.findings().count(), 3);
    }
}
