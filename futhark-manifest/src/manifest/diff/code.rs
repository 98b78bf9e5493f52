//! The classes of changes, and their impact.

use std::fmt;

/// The impact of a change on the users of a bridge.
///
/// Ordered: a worse impact is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Impact {
    /// No user code depends on it.
    Cosmetic,
    /// Additions; existing code works as before.
    Compatible,
    /// Existing code may no longer work.
    Breaking,
}

impl Impact {
    /// The name, in lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Impact::Cosmetic => "cosmetic",
            Impact::Compatible => "compatible",
            Impact::Breaking => "breaking",
        }
    }
}

impl fmt::Display for Impact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for ChangeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A table of the codes with their names, impacts and reasons, which also generates their
/// documentation.
macro_rules! codes {
    ($($variant:ident, $code:literal, $impact:ident, $what:literal, $reason:literal;)*) => {
        /// What changed. Each code has one impact and a stable name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ChangeCode {
            $(
                #[doc = concat!("`", $code, "`, ", stringify!($impact), ": ", $what, ".")]
                #[doc = ""]
                #[doc = $reason]
                $variant,
            )*
        }

        impl ChangeCode {
            /// Every code, in the order of declaration.
            pub const ALL: &'static [ChangeCode] = &[$(ChangeCode::$variant,)*];

            /// The stable name, such as `field-added`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(ChangeCode::$variant => $code,)*
                }
            }

            /// The impact of such a change.
            #[must_use]
            pub const fn impact(self) -> Impact {
                match self {
                    $(ChangeCode::$variant => Impact::$impact,)*
                }
            }

            /// A description, as a lower-case fragment.
            #[must_use]
            pub const fn what(self) -> &'static str {
                match self {
                    $(ChangeCode::$variant => $what,)*
                }
            }

            /// The reason for the impact, as a sentence.
            #[must_use]
            pub const fn reason(self) -> &'static str {
                match self {
                    $(ChangeCode::$variant => $reason,)*
                }
            }
        }
    };
}

codes! {
    // The program as a whole.
    BackendChanged, "backend-changed", Cosmetic, "the backend changed",
        "Every backend gives a program the same entry points, types and operations. The C type of \
         raw memory, the time at which transfers are complete and the required drivers differ, and a \
         bridge reads those from the manifest.";
    CompilerChanged, "compiler-changed", Cosmetic, "it was compiled by another compiler",
        "Callers do not see the compiler; its effects on the API are listed as changes of their own.";

    UnknownChanged, "unknown-changed", Compatible, "unknown members changed",
        "A newer compiler wrote them, and this version of the crate does not know their meaning; \
         all known members were compared.";

    // Entry points.
    EntryAdded, "entry-added", Compatible, "it was added",
        "No existing code calls it.";
    EntryRemoved, "entry-removed", Breaking, "it was removed",
        "Its callers no longer compile.";
    EntryFunctionChanged, "entry-function-changed", Cosmetic, "its C function changed",
        "A bridge takes C names from the manifest; its users call the entry point by its Futhark \
         name.";
    TuningParametersChanged, "tuning-parameters-changed", Cosmetic,
        "its tuning parameters changed",
        "They belong to the generated code and differ between backends and compilers; only files \
         of tuned values must be regenerated.";
    AttributesChanged, "attributes-changed", Cosmetic, "its attributes changed",
        "They are for compilers and tools; calls do not change.";
    DocChanged, "doc-changed", Cosmetic, "its documentation changed",
        "Calls do not change.";

    // Parameters.
    ParameterAdded, "parameter-added", Breaking, "it was added",
        "Every call lacks an argument.";
    ParameterRemoved, "parameter-removed", Breaking, "it was removed",
        "Every call has an argument too many.";
    ParametersReordered, "parameters-reordered", Breaking, "its parameters changed places",
        "Arguments are passed by position: a call no longer compiles or, if the types agree, compiles \
         and passes the wrong arguments.";
    ParameterTypeChanged, "parameter-type-changed", Breaking, "its type changed",
        "Callers pass a value of the old type.";
    ParameterConsumed, "parameter-consumed", Breaking, "it is now consumed",
        "A caller that passes the argument by reference, or uses it afterwards, no longer compiles, \
         or fails at run time in a language that does not check this.";
    ParameterObserved, "parameter-observed", Breaking, "it is no longer consumed",
        "Typed bridges take a consumed argument by value and any other by reference, so calls \
         that pass it by value no longer compile.";
    ParameterRenamed, "parameter-renamed", Cosmetic, "its name changed",
        "Arguments are passed by position, so no call depends on the name. But a bridge with keyword \
         arguments exposes it to its users.";

    // Results.
    ResultTypeChanged, "result-type-changed", Breaking, "its type changed",
        "Callers expect a value of the old type.";
    ResultCountChanged, "result-count-changed", Breaking, "the number of values changed",
        "Callers expect the old number of values.";
    ResultFormChanged, "result-form-changed", Cosmetic, "C returns the same values in another form",
        "Up to 0.25.37 compilers return each component of a tuple separately and do not return the unit \
         value; from 0.26.1 they return one value. A bridge returns the components in both cases.";
    ResultUniquenessChanged, "result-uniqueness-changed", Cosmetic, "its uniqueness changed",
        "The compiler infers it if the source does not declare it, so unrelated edits change it; \
         it is not part of a bridge's API.";

    // Types as a whole.
    TypeAdded, "type-added", Compatible, "it was added",
        "No existing code uses it.";
    TypeRemoved, "type-removed", Breaking, "it was removed",
        "Bridges have a type for it; code that names this type no longer compiles.";
    TypeRenamed, "type-renamed", Breaking, "its name changed",
        "Bridges name their types after it, so code that names the old type no longer compiles; \
         the values are the same.";
    TypeReplaced, "type-replaced", Breaking, "another type replaced it",
        "Callers have and expect values of the old type, under its old name.";
    TypeRespelled, "type-respelled", Cosmetic, "its name has other spaces",
        "Compilers spell the names of anonymous types differently (0.25.36 adds spaces), and the C \
         names made of them follow; the type is the same. An identifier that is derived from the \
         name must not depend on its spaces.";
    TypeRevealed, "type-revealed", Compatible, "its structure is now known",
        "All operations on a value of unknown structure still work, and its parts are \
         accessible now. A bridge that gives tuples or the unit value as types of its own \
         language must decide for itself.";
    TypeHidden, "type-hidden", Breaking, "its structure is no longer known",
        "Code that constructs such values from their parts, or reads their parts, no longer has an \
         operation for it.";
    TypeKindChanged, "type-kind-changed", Breaking, "it is of another kind",
        "Operations of one kind do not work on values of the other.";
    TypeFunctionsChanged, "type-functions-changed", Cosmetic, "its C names changed",
        "A bridge takes C names from the manifest; its users know the type by its Futhark name.";
    OperationsAdded, "operations-added", Compatible, "it has more operations",
        "The existing operations still work.";
    OperationsRemoved, "operations-removed", Breaking, "it has fewer operations",
        "Code that uses them no longer compiles.";

    // Arrays of scalars, and types that only carry results.
    ArrayAdded, "array-added", Cosmetic, "it was added",
        "Arrays of scalars are listed while something uses them, and a change of their users is listed \
         separately.";
    ArrayRemoved, "array-removed", Cosmetic, "it was removed",
        "Arrays of scalars are listed while something uses them, and a change of their users is listed \
         separately.";
    ResultTypeAdded, "result-type-added", Cosmetic, "it was added to carry results",
        "It only carries results of entry points: a bridge returns the components, so users never \
         hold a value of it.";
    ResultTypeRemoved, "result-type-removed", Cosmetic, "it no longer carries results",
        "It only carried results of entry points: a bridge returns the components, so users never \
         held a value of it.";

    // Parts of types.
    FieldAdded, "field-added", Breaking, "it was added",
        "A record is constructed from all of its fields, so code that constructs one lacks a value.";
    FieldRemoved, "field-removed", Breaking, "it was removed",
        "Code that reads it or passes a value for it no longer compiles.";
    FieldRenamed, "field-renamed", Breaking, "its name changed",
        "Code that uses the old name no longer compiles; and since fields are ordered by name, code \
         that passes fields by position may pass the wrong ones.";
    FieldTypeChanged, "field-type-changed", Breaking, "its type changed",
        "Code reads and passes a value of the old type.";
    FieldsReordered, "fields-reordered", Breaking, "its fields changed places",
        "Fields are passed by position: code no longer compiles or, if the types agree, compiles and \
         passes the wrong fields.";
    VariantAdded, "variant-added", Breaking, "it was added",
        "Code that handles each variant does not handle this one; if the language checks that, it no \
         longer compiles.";
    VariantRemoved, "variant-removed", Breaking, "it was removed",
        "Code that constructs or handles it no longer compiles.";
    VariantRenamed, "variant-renamed", Breaking, "its name changed",
        "Code that constructs or handles it by name no longer compiles.";
    VariantsReordered, "variants-reordered", Breaking, "its variants changed places",
        "A value stores its variant as a number, so code that uses the number handles the wrong one.";
    PayloadCountChanged, "payload-count-changed", Breaking, "the number of payload values changed",
        "Code that constructs or destructs it uses the old number of values.";
    PayloadTypeChanged, "payload-type-changed", Breaking, "its type changed",
        "Code reads and passes a value of the old type.";
    ElementTypeChanged, "element-type-changed", Breaking, "its element type changed",
        "Code writes and reads elements of the old type.";
    RankChanged, "rank-changed", Breaking, "its rank changed",
        "Code passes and expects the old number of dimensions.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_are_distinct_and_in_kebab_case() {
        let codes: HashSet<_> = ChangeCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(codes.len(), ChangeCode::ALL.len());
        for code in codes {
            let kebab = |c: char| c == '-' || c.is_ascii_lowercase();
            assert!(code.chars().all(kebab), "{code}");
        }
    }

    #[test]
    fn severities_are_ordered() {
        assert!(Impact::Cosmetic < Impact::Compatible);
        assert!(Impact::Compatible < Impact::Breaking);
    }
}
