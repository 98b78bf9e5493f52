//! The classes of findings.

use std::fmt;

/// The class of a [`Finding`](crate::Finding).
///
/// Each has a stable name, [`as_str`](Code::as_str), which is also its `Display`. Each variant
/// documents its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The text is not JSON, or is nested deeper than 128 levels.
    NotJson,
    /// JSON, but not a manifest. `futhark c --library prog.fut` writes the manifest to `prog.json`.
    NotAManifest,
    /// An object has a member twice. JSON readers disagree on which one counts.
    DuplicateMember,
    /// A required member is missing.
    MissingMember,
    /// A value has the wrong JSON type.
    WrongType,
    /// A string is not one of the allowed values.
    UnknownValue,
    /// Two members that exclude each other, such as `output` and `outputs`.
    Ambiguous,

    /// A backend that this version of the crate does not know.
    UnknownBackend,
    /// A reference to a type that the manifest does not describe.
    DanglingType,
    /// A description of a scalar type. Scalars are built in and have no C functions.
    ScalarDescribed,
    /// A C name that is not a C identifier. Generators insert C names into code, so anything else is
    /// rejected.
    InvalidCName,
    /// A C name that is used twice. Two types that share a function
    /// would free or read each other's values.
    DuplicateCName,
    /// Two fields have the same name.
    DuplicateField,
    /// Two variants have the same name.
    DuplicateVariant,
    /// A sum type without variants.
    NoVariants,
    /// A rank that is not from 1 to 255.
    RankOutOfRange,
    /// An array has elements of the wrong kind: an array of records contains records, an array of
    /// opaques contains opaque values.
    WrongElement,
    /// An array of records has other fields than its record.
    FieldsDisagree,
    /// A field of an array of records does not have the type of an array of that field: its
    /// rank is not the sum of both ranks, or it has other elements.
    WrongFieldType,
    /// A type that is a part of itself.
    TypeContainsItself,
    /// More types than a [`TypeId`](crate::TypeId) can count.
    TooManyTypes,

    /// Warning: an unknown member, which is kept. Newer compilers add members that older readers can
    /// ignore.
    UnknownMember,
    /// Warning: the compiler is newer than those that this version of the crate supports.
    NewerCompiler,
    /// Warning: the manifest has no [version](crate::Version), or one that no compiler that writes
    /// manifests has. Results that depend on the version are uncertain.
    UnknownVersion,
    /// Warning: a type lacks an operation that this compiler version generates for all types of its
    /// kind, or the other half of a pair such as `store` and `restore`. Not an error, since a compiler
    /// built between two releases may have the number of the next.
    MissingOperation,
    /// Warning: fields or variants are not in the order of all known compilers (numbers by value, then
    /// names alphabetically). The order decides the order of C parameters, so the manifest may have
    /// been edited.
    UnusualOrder,
}

impl Code {
    /// Every code, in the order of declaration.
    pub const ALL: &'static [Code] = &[
        Code::NotJson,
        Code::NotAManifest,
        Code::DuplicateMember,
        Code::MissingMember,
        Code::WrongType,
        Code::UnknownValue,
        Code::Ambiguous,
        Code::UnknownBackend,
        Code::DanglingType,
        Code::ScalarDescribed,
        Code::InvalidCName,
        Code::DuplicateCName,
        Code::DuplicateField,
        Code::DuplicateVariant,
        Code::NoVariants,
        Code::RankOutOfRange,
        Code::WrongElement,
        Code::FieldsDisagree,
        Code::WrongFieldType,
        Code::TypeContainsItself,
        Code::TooManyTypes,
        Code::UnknownMember,
        Code::NewerCompiler,
        Code::UnknownVersion,
        Code::MissingOperation,
        Code::UnusualOrder,
    ];

    /// The stable name, in kebab case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Code::NotJson => "not-json",
            Code::NotAManifest => "not-a-manifest",
            Code::DuplicateMember => "duplicate-member",
            Code::MissingMember => "missing-member",
            Code::WrongType => "wrong-type",
            Code::UnknownValue => "unknown-value",
            Code::Ambiguous => "ambiguous",
            Code::UnknownBackend => "unknown-backend",
            Code::DanglingType => "dangling-type",
            Code::ScalarDescribed => "scalar-described",
            Code::InvalidCName => "invalid-c-name",
            Code::DuplicateCName => "duplicate-c-name",
            Code::DuplicateField => "duplicate-field",
            Code::DuplicateVariant => "duplicate-variant",
            Code::NoVariants => "no-variants",
            Code::RankOutOfRange => "rank-out-of-range",
            Code::WrongElement => "wrong-element",
            Code::FieldsDisagree => "fields-disagree",
            Code::WrongFieldType => "wrong-field-type",
            Code::TypeContainsItself => "type-contains-itself",
            Code::TooManyTypes => "too-many-types",
            Code::UnknownMember => "unknown-member",
            Code::NewerCompiler => "newer-compiler",
            Code::UnknownVersion => "unknown-version",
            Code::MissingOperation => "missing-operation",
            Code::UnusualOrder => "unusual-order",
        }
    }

    /// The kind of [`Error`](crate::Error) whose first finding has this code; `None` for warnings.
    #[must_use]
    pub const fn error_kind(self) -> Option<ErrorKind> {
        match self {
            Code::NotJson | Code::NotAManifest => Some(ErrorKind::NotAManifest),
            Code::DuplicateMember
            | Code::MissingMember
            | Code::WrongType
            | Code::UnknownValue
            | Code::Ambiguous => Some(ErrorKind::Malformed),
            Code::UnknownBackend | Code::TooManyTypes => Some(ErrorKind::Unsupported),
            Code::DanglingType
            | Code::ScalarDescribed
            | Code::InvalidCName
            | Code::DuplicateCName
            | Code::DuplicateField
            | Code::DuplicateVariant
            | Code::NoVariants
            | Code::RankOutOfRange
            | Code::WrongElement
            | Code::FieldsDisagree
            | Code::WrongFieldType
            | Code::TypeContainsItself => Some(ErrorKind::Inconsistent),
            Code::UnknownMember
            | Code::NewerCompiler
            | Code::UnknownVersion
            | Code::MissingOperation
            | Code::UnusualOrder => None,
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

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
            (ErrorKind::Unsupported, Code::UnknownBackend),
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
}
