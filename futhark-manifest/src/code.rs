//! What can be wrong, by name.

use std::fmt;

/// The class of a [`Finding`](crate::Finding).
///
/// Each has a name that stays: [`as_str`](Code::as_str), which is also its
/// `Display`. What each means, and what to do about it, stands at the variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The text is not JSON, or is nested deeper than 128 levels.
    NotJson,
    /// JSON, but nothing in it is a part of a manifest. `prog.json` is the
    /// manifest of `futhark c --library prog.fut`.
    NotAManifest,
    /// An object names a member twice. Readers would disagree on which one counts.
    DuplicateMember,
    /// A member that every manifest has is not there.
    MissingMember,
    /// A value of another JSON type than the one that stands there.
    WrongType,
    /// A word that is not one of those that can stand there.
    UnknownValue,
    /// Two members that exclude each other, such as `output` and `outputs`.
    Ambiguous,

    /// A backend that this version of the crate does not know.
    UnknownBackend,
    /// The name of a type that the manifest does not describe.
    DanglingType,
    /// A description of a scalar type. Scalars are known everywhere and have no
    /// C functions.
    ScalarDescribed,
    /// A name that C would not accept where a manifest gives a C name. Names go
    /// into code, so nothing else may get through.
    InvalidCName,
    /// A C name that something else has already. Two types that share a function
    /// would free or read each other's values.
    DuplicateCName,
    /// Two fields of one name.
    DuplicateField,
    /// Two variants of one name.
    DuplicateVariant,
    /// A sum type without variants.
    NoVariants,
    /// A rank that is not from 1 to 255.
    RankOutOfRange,
    /// An array whose elements are of a kind that such an array cannot hold: an
    /// array of records holds records, an array of opaques opaque values.
    WrongElement,
    /// An array of records whose fields are not those of its record.
    FieldsDisagree,
    /// A field of an array of records that is not the array of that field: its
    /// rank is not the sum of both ranks, or its elements are others.
    WrongFieldType,
    /// A type that is a part of itself.
    TypeContainsItself,
    /// More types than a [`TypeId`](crate::TypeId) can count.
    TooManyTypes,

    /// A warning: a member that this version of the crate does not know. It is
    /// kept as it is. Newer compilers add members that older readers can do without.
    UnknownMember,
    /// A warning: the manifest is of a compiler that is newer than all that this
    /// version of the crate was made for.
    NewerCompiler,
    /// A warning: the manifest states no [version](crate::Version), or none of a compiler
    /// that writes manifests. What depends on the version is uncertain.
    UnknownVersion,
    /// A warning: an operation that the compiler of that version gives every type
    /// of that kind, or the other half of a pair such as `store` and `restore`,
    /// is not there. No error, since a compiler that was built between two
    /// versions may carry the number of the next.
    MissingOperation,
    /// A warning: fields or variants in another order than that of all compilers,
    /// which is numbers by value, then names by letters. They may have been moved,
    /// and the order is that of C's parameters.
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

    /// The name, in words joined by hyphens.
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

    /// Whether a manifest with such a finding can be used.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Code::UnknownMember
            | Code::NewerCompiler
            | Code::UnknownVersion
            | Code::MissingOperation
            | Code::UnusualOrder => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whether a manifest with a finding can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It can.
    Warning,
    /// It cannot: [`resolve`](crate::Manifest::resolve) refuses it.
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
    fn each_code_has_a_name_of_its_own() {
        let names: HashSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for name in names {
            let plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(name.chars().all(plain), "{name}");
        }
        assert!(Code::ALL.is_sorted(), "in the order of declaration");
    }

    #[test]
    fn errors_outrank_warnings() {
        assert!(Severity::Error > Severity::Warning);
        assert_eq!(Code::UnknownMember.severity(), Severity::Warning);
        assert_eq!(Code::DanglingType.severity(), Severity::Error);
    }
}
