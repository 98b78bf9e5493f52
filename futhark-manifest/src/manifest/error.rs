//! The error type of the crate.

use std::fmt;

use crate::manifest::code::{Code, ErrorKind};
use crate::manifest::finding::Finding;
use crate::manifest::json::Position;

/// The error of reading or resolving a manifest: one or more [`Finding`]s.
///
/// `Display` writes the first finding and the number of others; [`code`](Error::code),
/// [`pointer`](Error::pointer) and so on refer to the first, too:
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
    /// An error with one finding.
    pub(crate) fn of(finding: Finding) -> Error {
        let (first, others) = (Box::new(finding), Vec::new());
        Error { first, others }
    }

    /// An error with these findings; `None` if there are none.
    pub(crate) fn from_findings(findings: Vec<Finding>) -> Option<Error> {
        let mut findings = findings.into_iter();
        let first = Box::new(findings.next()?);
        let others = findings.collect();
        Some(Error { first, others })
    }

    /// Sets the positions of all findings in the text.
    pub(crate) fn locate(mut self, text: &str) -> Error {
        // Reading stops at the first error, so there is one.
        let findings = std::iter::once(&mut *self.first).chain(&mut self.others);
        for finding in findings {
            *finding = finding
                .clone()
                .at(Position::nearest(text, finding.pointer()));
        }
        self
    }

    /// All findings, each of [severity](Finding::severity) error.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(&*self.first).chain(&self.others)
    }

    /// The kind of failure: the class of the first finding's [`code`](Error::code).
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        let kind = self.code().error_kind();
        kind.expect("an error has no warnings")
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

    /// The position of the first finding in the text: [`Finding::position`].
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.first.position()
    }

    /// The expected value of the first finding.
    #[must_use]
    pub fn expected(&self) -> &str {
        self.first.expected()
    }

    /// The actual value of the first finding, shortened.
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

/// Writes the message and the code, since `unwrap` and a failing `main` print this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({})", self.code())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::code::Code;
    use crate::manifest::json::Path;

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
