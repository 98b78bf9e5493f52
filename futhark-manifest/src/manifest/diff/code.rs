//! What can happen to an API, and how much each of it matters.

use std::fmt;

/// How much a change matters to the users of a bridge.
///
/// Ordered: a worse one is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Impact {
    /// No code of a user depends on it.
    Cosmetic,
    /// There is more than before; what was there works as it did.
    Compatible,
    /// Code that worked may no longer do so.
    Breaking,
}

impl Impact {
    /// The word for it, in lower case.
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

/// One table for the name of each code, its impact and the reason, from which the documentation
/// is made, too.
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

            /// How much such a change matters.
            #[must_use]
            pub const fn impact(self) -> Impact {
                match self {
                    $(ChangeCode::$variant => Impact::$impact,)*
                }
            }

            /// What happened, as a lower-case fragment.
            #[must_use]
            pub const fn what(self) -> &'static str {
                match self {
                    $(ChangeCode::$variant => $what,)*
                }
            }

            /// Why such a change matters that much: a sentence.
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
        "Every backend gives a program the same entry points, types and operations; what differs \
         is the C type of raw memory, when transfers are complete, and what must be installed: a \
         bridge takes that from the manifest.";
    CompilerChanged, "compiler-changed", Cosmetic, "another compiler made it",
        "Callers do not see the compiler; what it does differently is listed by itself.";

    UnknownChanged, "unknown-changed", Compatible, "members that are not known here changed",
        "A newer compiler wrote them, and this version of the crate cannot judge what they mean; \
         what it knows was compared.";

    // Entry points.
    EntryAdded, "entry-added", Compatible, "it was added",
        "No caller knows it yet.";
    EntryRemoved, "entry-removed", Breaking, "it was removed",
        "Its callers have nothing to call any more.";
    EntryFunctionChanged, "entry-function-changed", Cosmetic, "its C function changed",
        "A bridge takes C names from the manifest; its users call the entry point by its Futhark \
         name.";
    TuningParametersChanged, "tuning-parameters-changed", Cosmetic,
        "its tuning parameters changed",
        "They belong to the generated code and differ between backends and compilers; only files \
         of tuned values have to be made anew.";
    AttributesChanged, "attributes-changed", Cosmetic, "its attributes changed",
        "They tell compilers and tools something; no call looks different.";
    DocChanged, "doc-changed", Cosmetic, "its documentation changed",
        "Documentation is for people; no call looks different.";

    // Parameters.
    ParameterAdded, "parameter-added", Breaking, "it was added",
        "Every call lacks an argument.";
    ParameterRemoved, "parameter-removed", Breaking, "it was removed",
        "Every call has an argument too many.";
    ParametersReordered, "parameters-reordered", Breaking, "its parameters changed places",
        "Arguments go by position: a call does not compile any more or, where the types agree, \
         compiles and means something else.";
    ParameterTypeChanged, "parameter-type-changed", Breaking, "its type changed",
        "Callers pass a value of the old type.";
    ParameterConsumed, "parameter-consumed", Breaking, "it is now consumed",
        "The call takes the argument away: a caller that lends it, or uses it afterwards, does not \
         compile any more, and fails at run time in a language that does not check this.";
    ParameterObserved, "parameter-observed", Breaking, "it is no longer consumed",
        "Typed bridges take a consumed argument by value and any other by reference, so calls \
         that pass it by value do not compile any more.";
    ParameterRenamed, "parameter-renamed", Cosmetic, "its name changed",
        "Arguments go by position, so no call depends on the name. But a bridge that offers \
         keyword arguments shows it: users of such a bridge must be told.";

    // Results.
    ResultTypeChanged, "result-type-changed", Breaking, "its type changed",
        "Callers expect a value of the old type.";
    ResultCountChanged, "result-count-changed", Breaking, "the number of values changed",
        "Callers take the result apart into as many values as there were.";
    ResultFormChanged, "result-form-changed", Cosmetic, "C gives the same values in another form",
        "Up to 0.25.37 compilers give each component of a tuple by itself and the unit value not \
         at all, from 0.26.1 one value for all; a bridge gives the components either way.";
    ResultUniquenessChanged, "result-uniqueness-changed", Cosmetic, "its uniqueness changed",
        "The compiler infers it where the source does not say, so it flips with harmless edits; it \
         is no part of a bridge's API.";

    // Types as a whole.
    TypeAdded, "type-added", Compatible, "it was added",
        "No code knows it yet.";
    TypeRemoved, "type-removed", Breaking, "it was removed",
        "Bridges have a type for it; code that names this one does not compile any more.";
    TypeRenamed, "type-renamed", Breaking, "its name changed",
        "Bridges name their types after it, so code that names the old one does not compile any \
         more; the values are the same.";
    TypeReplaced, "type-replaced", Breaking, "another type stands in its place",
        "Callers have and expect values of the old type, under its old name.";
    TypeRespelled, "type-respelled", Cosmetic, "its name has other spaces",
        "Compilers spell the names of anonymous types differently (0.25.36 adds spaces), and the C \
         names made of them follow; the type is the same. An identifier that is derived from the \
         name must not depend on its spaces.";
    TypeRevealed, "type-revealed", Compatible, "its structure is now known",
        "Whatever could be done with a value of unknown structure still can, and its parts are \
         reachable now. A bridge that gives tuples or the unit value as types of its own \
         language must decide for itself.";
    TypeHidden, "type-hidden", Breaking, "its structure is no longer known",
        "Code that makes such values from their parts, or takes them apart, has no operation for \
         it any more.";
    TypeKindChanged, "type-kind-changed", Breaking, "it is of another kind",
        "Nothing that is done with values of the one kind can be done with those of the other.";
    TypeFunctionsChanged, "type-functions-changed", Cosmetic, "its C names changed",
        "A bridge takes C names from the manifest; its users know the type by its Futhark name.";
    OperationsAdded, "operations-added", Compatible, "it has more operations",
        "What could be done before still can.";
    OperationsRemoved, "operations-removed", Breaking, "it has fewer operations",
        "Code that uses them has nothing to call any more.";

    // Arrays of scalars, and types that only carry results.
    ArrayAdded, "array-added", Cosmetic, "it was added",
        "An array of scalars is no type of the program's own; it is listed while something uses \
         it, and what uses it is listed by itself.";
    ArrayRemoved, "array-removed", Cosmetic, "it was removed",
        "An array of scalars is no type of the program's own; it was listed while something used \
         it, and what does so no more is listed by itself.";
    ResultTypeAdded, "result-type-added", Cosmetic, "it was added to carry results",
        "It only carries the result of entry points: a bridge gives the components, so nobody \
         holds a value of it.";
    ResultTypeRemoved, "result-type-removed", Cosmetic, "it carries results no more",
        "It only carried the result of entry points: a bridge gives the components, so nobody \
         held a value of it.";

    // What types are made of.
    FieldAdded, "field-added", Breaking, "it was added",
        "A record is made from all of its fields, so code that makes one lacks a value.";
    FieldRemoved, "field-removed", Breaking, "it was removed",
        "Code that reads it or gives a value for it does not compile any more.";
    FieldRenamed, "field-renamed", Breaking, "its name changed",
        "Code that reads or gives it by name does not compile any more, and since fields are \
         ordered by name, code that gives fields by position may give the wrong ones.";
    FieldTypeChanged, "field-type-changed", Breaking, "its type changed",
        "Code reads and gives a value of the old type.";
    FieldsReordered, "fields-reordered", Breaking, "its fields changed places",
        "Fields are given by position: code does not compile any more or, where the types agree, \
         compiles and means something else.";
    VariantAdded, "variant-added", Breaking, "it was added",
        "Code that handles each variant does not handle this one; where the language checks that, \
         it does not compile any more.";
    VariantRemoved, "variant-removed", Breaking, "it was removed",
        "Code that makes or handles it does not compile any more.";
    VariantRenamed, "variant-renamed", Breaking, "its name changed",
        "Code that makes or handles it by name does not compile any more.";
    VariantsReordered, "variants-reordered", Breaking, "its variants changed places",
        "A value tells its variant by number, so code that goes by number handles the wrong one.";
    PayloadCountChanged, "payload-count-changed", Breaking, "the number of payload values changed",
        "Code that makes it or takes it apart does so with as many values as there were.";
    PayloadTypeChanged, "payload-type-changed", Breaking, "its type changed",
        "Code reads and gives a value of the old type.";
    ElementTypeChanged, "element-type-changed", Breaking, "its element type changed",
        "Code puts elements of the old type in and takes them out.";
    RankChanged, "rank-changed", Breaking, "its rank changed",
        "Code gives and expects the old number of dimensions.";
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
    fn reasons_are_sentences() {
        for code in ChangeCode::ALL {
            let reason = code.reason();
            assert!(reason.starts_with(char::is_uppercase), "{code:?}");
            assert!(reason.ends_with('.') && !reason.contains("  "), "{code:?}");
            assert!(!code.what().ends_with('.'), "{code:?}");
        }
    }

    #[test]
    fn severities_are_ordered() {
        assert!(Impact::Cosmetic < Impact::Compatible);
        assert!(Impact::Compatible < Impact::Breaking);
    }
}
