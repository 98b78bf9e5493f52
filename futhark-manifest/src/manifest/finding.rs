//! The problems of a manifest: their classes, their places, and the error type of the crate.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

use self::ErrorKind as K;
use crate::text::Printable;

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
/// assert_eq!(
///     error.to_string(),
///     r#"at /types/[]i32/rank: expected a positive integer, found "two""#
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    /// Not empty.
    findings: Vec<Finding>,
}

impl Error {
    /// An error with these findings; `None` if there are none.
    pub(crate) fn from_findings(findings: Vec<Finding>) -> Option<Error> {
        (!findings.is_empty()).then_some(Error { findings })
    }

    /// All findings, each of [severity](Finding::severity) error.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
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
        self.findings[0].code
    }

    /// The place of the first finding: [`Finding::pointer`].
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.findings[0].pointer
    }

    /// The expected value of the first finding.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.findings[0].expected
    }

    /// The actual value of the first finding, shortened.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.findings[0].found
    }
}

impl From<Finding> for Error {
    fn from(finding: Finding) -> Error {
        let findings = vec![finding];
        Error { findings }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.findings[0].fmt(f)?;
        match self.findings.len() {
            1 => Ok(()),
            count => write!(f, " (and {} more)", count - 1),
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

/// A problem of a manifest, with its place.
///
/// `Display` writes one line: the place, the expected and the actual value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    code: Code,
    pointer: String,
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
            expected: expected.into(),
            found: found.into(),
        }
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
            expected,
            found,
        } = self;
        match code {
            Code::NotJson | Code::NotAManifest => f.write_str("not a manifest")?,
            _ if pointer.is_empty() => f.write_str("at the top")?,
            _ => write!(f, "at {}", Printable(pointer))?,
        }
        write!(f, ": expected {expected}, found {found}")
    }
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The manifest can be used.
    Warning,
    /// The manifest cannot be used: [`resolve`](crate::Manifest::resolve) fails.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// The kinds of [`Error`](crate::Error): classes of [`Code`]s that call for different reactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is something else than a manifest, or incomplete.
    NotAManifest,
    /// A part of the manifest does not have the documented form.
    Malformed,
    /// The manifest may be valid, but this version of the crate does not support it.
    Unsupported,
    /// Each part has the documented form, but they contradict each other, or code that is generated from
    /// them would be wrong.
    Inconsistent,
}

/// A table of the codes with their names and the kinds of error: `None` for warnings.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $kind:expr;)*) => {
        /// The class of a [`Finding`].
        ///
        /// Each has a stable name, [`as_str`](Code::as_str), which is also its `Display`. Each variant
        /// documents its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// Every code, in the order of declaration.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The stable name, in kebab case.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$variant => $name,)*
                }
            }

            /// The kind of [`Error`] whose first finding has this code; `None` for warnings.
            #[must_use]
            pub const fn error_kind(self) -> Option<ErrorKind> {
                match self {
                    $(Code::$variant => $kind,)*
                }
            }
        }
    };
}

codes! {
    /// The text is not JSON, or is nested deeper than 128 levels.
    NotJson, "not-json", Some(K::NotAManifest);
    /// JSON, but not a manifest. `futhark c --library prog.fut` writes the manifest to `prog.json`.
    NotAManifest, "not-a-manifest", Some(K::NotAManifest);
    /// An object has a member twice. JSON readers disagree on which one counts.
    DuplicateMember, "duplicate-member", Some(K::Malformed);
    /// A required member is missing.
    MissingMember, "missing-member", Some(K::Malformed);
    /// A value has the wrong JSON type.
    WrongType, "wrong-type", Some(K::Malformed);
    /// A string is not one of the allowed values.
    UnknownValue, "unknown-value", Some(K::Malformed);
    /// Two members that exclude each other, such as `output` and `outputs`.
    Ambiguous, "ambiguous", Some(K::Malformed);
    /// A reference to a type that the manifest does not describe.
    DanglingType, "dangling-type", Some(K::Inconsistent);
    /// A C name that is not a C identifier. Generators insert C names into code, so anything else is
    /// rejected.
    InvalidCName, "invalid-c-name", Some(K::Inconsistent);
    /// A C name that is used twice. Two types that share a function
    /// would free or read each other's values.
    DuplicateCName, "duplicate-c-name", Some(K::Inconsistent);
    /// Two fields have the same name.
    DuplicateField, "duplicate-field", Some(K::Inconsistent);
    /// Two variants have the same name.
    DuplicateVariant, "duplicate-variant", Some(K::Inconsistent);
    /// A sum type without variants.
    NoVariants, "no-variants", Some(K::Inconsistent);
    /// A rank that is not from 1 to 255.
    RankOutOfRange, "rank-out-of-range", Some(K::Inconsistent);
    /// An array has elements of the wrong kind: an array of records contains records, an array of
    /// opaques contains opaque values.
    WrongElement, "wrong-element", Some(K::Inconsistent);
    /// An array of records has other fields than its record.
    FieldsDisagree, "fields-disagree", Some(K::Inconsistent);
    /// A field of an array of records does not have the type of an array of that field: its
    /// rank is not the sum of both ranks, or it has other elements.
    WrongFieldType, "wrong-field-type", Some(K::Inconsistent);
    /// A type that is a part of itself.
    TypeContainsItself, "type-contains-itself", Some(K::Inconsistent);
    /// More types than a [`TypeId`](crate::TypeId) can count.
    TooManyTypes, "too-many-types", Some(K::Unsupported);
    /// Warning: an unknown member, which is kept. Newer compilers add members that older readers can
    /// ignore.
    UnknownMember, "unknown-member", None;
    /// Warning: a type with the name of a scalar type, as in `type u8 = {x: i32}`. References to the name are taken to
    /// mean this type; the manifest does not tell them from references to the scalar.
    ScalarDescribed, "scalar-described", None;
    /// Warning: a backend that this version of the crate does not know. The program is without the functions of raw
    /// memory, whose C type is unknown.
    UnknownBackend, "unknown-backend", None;
    /// Warning: the compiler is newer than those that this version of the crate supports.
    NewerCompiler, "newer-compiler", None;
    /// Warning: the manifest has no [version](crate::Version), or one that no compiler that writes
    /// manifests has. Results that depend on the version are uncertain.
    UnknownVersion, "unknown-version", None;
    /// Warning: a type lacks an operation that this compiler version generates for all types of its
    /// kind, or the other half of a pair such as `store` and `restore`. Not an error, since a compiler
    /// built between two releases may have the number of the next.
    MissingOperation, "missing-operation", None;
    /// Warning: fields or variants are not in the order of all known compilers (numbers by value, then
    /// names alphabetically). The order decides the order of C parameters, so the manifest may have
    /// been edited.
    UnusualOrder, "unusual-order", None;
}

impl Code {
    /// The severity of findings with this code.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self.error_kind() {
            Some(_) => Severity::Error,
            None => Severity::Warning,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A place in a JSON text: a chain of steps on the stack, which allocates only when a finding needs it. Its
/// `Display` is the JSON pointer (RFC 6901).
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    pub(crate) fn key(&'a self, key: &'a str) -> Path<'a> {
        Path::Key(self, key)
    }

    pub(crate) fn index(&'a self, index: usize) -> Path<'a> {
        Path::Index(self, index)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(parent, key) => write!(f, "{parent}/{}", escape(key)),
            Path::Index(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}

/// A name as a segment of a JSON pointer.
pub(crate) fn escape(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) {
        // Tildes first: otherwise those from slashes would be escaped again.
        Cow::Owned(name.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(name)
    }
}

/// Orders pointers by place: members by name, items by number.
pub(crate) fn compare_pointers(a: &str, b: &str) -> Ordering {
    fn segments(pointer: &str) -> impl Iterator<Item = Result<usize, &str>> {
        let segments = pointer.split('/');
        segments.map(|segment| segment.parse().map_err(|_| segment))
    }
    // Segments such as `1` and `01` compare as equal.
    segments(a).cmp(segments(b)).then_with(|| a.cmp(b))
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
    use std::collections::HashSet;

    #[test]
    fn descriptions_of_long_values_are_cut() {
        let long = describe(&json!("é".repeat(1000)));
        assert!(
            long.ends_with("…\"") && long.chars().count() < 100,
            "{long}"
        );
    }

    #[test]
    fn names_of_codes_are_unique() {
        let names: HashSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for name in names {
            let plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(name.chars().all(plain), "{name}");
        }
        assert!(Code::ALL.is_sorted(), "in the order of declaration");
    }

    #[test]
    fn each_kind_of_error_has_codes() {
        for (kind, code) in [
            (ErrorKind::NotAManifest, Code::NotJson),
            (ErrorKind::Malformed, Code::MissingMember),
            (ErrorKind::Unsupported, Code::TooManyTypes),
            (ErrorKind::Inconsistent, Code::DanglingType),
        ] {
            assert_eq!(code.error_kind(), Some(kind));
        }
        assert_eq!(Code::NewerCompiler.error_kind(), None);
    }

    #[test]
    fn errors_outrank_warnings() {
        assert!(Severity::Error > Severity::Warning);
        assert_eq!(Code::UnknownMember.severity(), Severity::Warning);
        assert_eq!(Code::DanglingType.severity(), Severity::Error);
    }

    #[test]
    fn an_error_says_how_many_findings_there_are() {
        let root = Path::Root;
        let finding = |key| Finding::new(Code::WrongType, &root.key(key), "a text", "3");
        assert_eq!(Error::from_findings(Vec::new()), None);
        let one = Error::from(finding("a"));
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
        assert_eq!(three.findings().len(), 3);
    }
}
