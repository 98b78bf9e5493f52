//! Patterns with `*`, for names of programs, checks, compilers and devices, and ranges of compiler
//! versions.

use futhark_manifest::Version;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A pattern: `*` matches any number of any characters, `/` included. Other characters match
/// themselves.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Pattern(String);

impl Pattern {
    /// Whether the pattern matches the whole of `text`.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let mut pieces = self.0.split('*');
        let (first, last) = (pieces.next(), pieces.next_back());
        let (Some(first), Some(last)) = (first, last) else {
            return self.0 == text;
        };
        let text = text.strip_prefix(first);
        let between = text.and_then(|text| text.strip_suffix(last));
        // Between two stars the earliest occurrence is as good as a later one.
        let rest = between.and_then(|between| {
            pieces.try_fold(between, |text, piece| Some(text.split_once(piece)?.1))
        });
        rest.is_some()
    }
}

impl From<String> for Pattern {
    fn from(text: String) -> Pattern {
        Pattern(text)
    }
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Pattern {
        Pattern(text.to_owned())
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Default for Pattern {
    /// The pattern that matches everything.
    fn default() -> Pattern {
        Pattern("*".to_owned())
    }
}

/// A range of compiler versions, such as `<0.26`, `>=0.25.30, <0.27`, `0.25.*` or `0.25.32`, which is this one only;
/// all of them by default. A version without numbers is only in the range of all, `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Versions(semver::VersionReq);

impl Versions {
    #[must_use]
    pub fn contain(&self, version: &str) -> bool {
        let number = Version::new(version).number;
        let number = number.map(|(major, minor, patch)| [major, minor, patch].map(u64::from));
        let is_in = |[major, minor, patch]: [u64; 3]| {
            (self.0).matches(&semver::Version::new(major, minor, patch))
        };
        number.map_or(self.0.comparators.is_empty(), is_in)
    }
}

impl TryFrom<String> for Versions {
    type Error = String;

    fn try_from(text: String) -> Result<Versions, String> {
        let is_one = text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains('*');
        let operator = if is_one { "=" } else { "" };
        let range = semver::VersionReq::parse(&format!("{operator}{text}"));
        range.map(Versions).map_err(|error| {
            format!("`{text}` is no range of versions such as `>=0.25.30, <0.27`: {error}")
        })
    }
}

/// A pattern for checks: `CHECK`, for all its cases, or `CHECK:CASE`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct CheckPattern {
    check: Pattern,
    case: Option<Pattern>,
}

impl CheckPattern {
    /// Whether the pattern matches this case of this check.
    #[must_use]
    pub fn matches(&self, check: &str, case: &str) -> bool {
        let case_matches = |pattern: &Pattern| pattern.matches(case);
        self.check.matches(check) && self.case.as_ref().is_none_or(case_matches)
    }

    /// The pattern for the cases of this check only, which it [may match](Self::may_match).
    #[must_use]
    pub fn only(&self, check: &str) -> CheckPattern {
        CheckPattern {
            check: Pattern(check.to_owned()),
            case: self.case.clone(),
        }
    }

    /// Whether the pattern matches all cases of its checks.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.case.is_none()
    }

    /// Whether the pattern can match a case of this check.
    #[must_use]
    pub fn may_match(&self, check: &str) -> bool {
        self.check.matches(check)
    }
}

impl From<String> for CheckPattern {
    fn from(text: String) -> CheckPattern {
        let (check, case) = match text.split_once(':') {
            Some((check, case)) => (check, Some(case.into())),
            None => (text.as_str(), None),
        };
        CheckPattern {
            check: check.into(),
            case,
        }
    }
}

impl From<CheckPattern> for String {
    fn from(pattern: CheckPattern) -> String {
        pattern.to_string()
    }
}

impl fmt::Display for CheckPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.case {
            Some(case) => write!(f, "{}:{case}", self.check),
            None => self.check.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern(pattern.to_owned()).matches(text)
    }

    #[test]
    fn stars_match_any_text() {
        assert!(matches("*", ""));
        assert!(matches("a*", "a/b.fut"));
        assert!(matches("*/b.fut", "a/b.fut"));
        assert!(matches("a*b*c", "a1b2b3c"));
        assert!(!matches("a*b*c", "a1c2b"));
        assert!(!matches("a*a", "a"), "the two ends may not overlap");
        assert!(matches("a**a", "aa"));
    }

    #[test]
    fn other_characters_match_themselves() {
        assert!(matches("0.25.27", "0.25.27"));
        assert!(!matches("0.25.27", "0x25x27"));
        assert!(!matches("", "x"));
        assert!(matches("[]i32", "[]i32"));
    }

    #[test]
    fn ranges_compare_the_numbers_of_versions() {
        let matches = |pattern: &str, version: &str| {
            Versions::try_from(pattern.to_owned())
                .unwrap()
                .contain(version)
        };
        assert!(matches("<0.26", "0.25.32"));
        assert!(!matches("<0.26", "0.26.0"));
        assert!(matches(">=0.26", "0.27.1"));
        assert!(!matches(">=0.25.4", "0.25.3"), "numbers, not text");
        assert!(matches(">=0.25.30, <0.27", "0.25.32"));
        assert!(!matches("<0.26", "a version without numbers"));
        assert!(matches("0.25.*", "0.25.32"));
        let error = Versions::try_from(">= new".to_owned()).unwrap_err();
        assert!(error.contains("`>= new` is no range"), "{error}");
    }

    #[test]
    fn check_patterns_match_a_check_or_a_case() {
        let pattern = |text: &str| CheckPattern::from(text.to_owned());
        assert!(pattern("blocks").matches("blocks", "main #0"));
        assert!(pattern("blocks:main *").matches("blocks", "main #0"));
        assert!(!pattern("blocks:main").matches("blocks", "main #0"));
        assert!(pattern("blocks:main").may_match("blocks"));
        assert!(!pattern("arrays").may_match("blocks"));
        assert_eq!(pattern("blocks:a:b").to_string(), "blocks:a:b");
    }
}
