//! The place of a change.

use std::fmt;

use crate::manifest::json;

use super::text::quote;

/// A place in a program's API.
///
/// Ordered as changes are reported: the program as a whole, entry points by name, types
/// by name, and each whole before its parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Place {
    /// The program as a whole.
    Program,
    /// The backend.
    Backend,
    /// The compiler.
    Version,
    /// An entry point, or a part of one.
    Entry {
        /// The name of the entry point.
        name: String,
        /// The part.
        part: EntryPart,
    },
    /// A type, or a part of one.
    Type {
        /// The name of the type.
        name: String,
        /// The part.
        part: TypePart,
    },
}

/// A part of an entry point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EntryPart {
    /// The whole.
    Whole,
    /// The parameter with this index.
    Input(usize),
    /// The result.
    Result,
    /// The component with this index, if the result is a tuple.
    Component(usize),
}

/// A part of a type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TypePart {
    /// The whole.
    Whole,
    /// The field with this name.
    Field(String),
    /// The variant with this name.
    Variant(String),
    /// A value in the payload of a variant.
    Payload {
        /// The variant's name.
        variant: String,
        /// The index of the value.
        index: usize,
    },
}

impl Place {
    pub(super) fn entry(name: &str, part: EntryPart) -> Place {
        let name = name.to_owned();
        Place::Entry { name, part }
    }

    pub(super) fn ty(name: &str, part: TypePart) -> Place {
        let name = name.to_owned();
        Place::Type { name, part }
    }

    /// The place as a path, written like a JSON pointer (RFC 6901):
    /// `/entry_points/f/inputs/0`, `/entry_points/f/result/1`,
    /// `/types/point/fields/x`, `/types/shape/variants/circle/payload/0`.
    ///
    /// The path follows the resolved form, so it does not depend on the compiler that wrote
    /// the manifest. Fields and variants are identified by name.
    #[must_use]
    pub fn pointer(&self) -> String {
        let escape = json::escape;
        match self {
            Place::Program => String::new(),
            Place::Backend => "/backend".to_owned(),
            Place::Version => "/version".to_owned(),
            Place::Entry { name, part } => {
                let entry = format!("/entry_points/{}", escape(name));
                match part {
                    EntryPart::Whole => entry,
                    EntryPart::Input(index) => format!("{entry}/inputs/{index}"),
                    EntryPart::Result => format!("{entry}/result"),
                    EntryPart::Component(index) => format!("{entry}/result/{index}"),
                }
            }
            Place::Type { name, part } => {
                let ty = format!("/types/{}", escape(name));
                match part {
                    TypePart::Whole => ty,
                    TypePart::Field(field) => format!("{ty}/fields/{}", escape(field)),
                    TypePart::Variant(variant) => format!("{ty}/variants/{}", escape(variant)),
                    TypePart::Payload { variant, index } => {
                        format!("{ty}/variants/{}/payload/{index}", escape(variant))
                    }
                }
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Program | Place::Backend | Place::Version => f.write_str("program"),
            Place::Entry { name, part } => {
                write!(f, "entry point {}", quote(name))?;
                match part {
                    EntryPart::Whole => Ok(()),
                    EntryPart::Input(index) => write!(f, ", parameter {index}"),
                    EntryPart::Result => f.write_str(", result"),
                    EntryPart::Component(index) => write!(f, ", result {index}"),
                }
            }
            Place::Type { name, part } => {
                write!(f, "type {}", quote(name))?;
                match part {
                    TypePart::Whole => Ok(()),
                    TypePart::Field(field) => write!(f, ", field {}", quote(field)),
                    TypePart::Variant(variant) => write!(f, ", variant {}", quote(variant)),
                    TypePart::Payload { variant, index } => {
                        write!(f, ", variant {}, payload {index}", quote(variant))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_as_pointers_and_as_words() {
        let payload = TypePart::Payload {
            variant: "a/b~".to_owned(),
            index: 2,
        };
        for (place, pointer, words) in [
            (Place::Backend, "/backend", "program"),
            (
                Place::entry("f/g", EntryPart::Input(3)),
                "/entry_points/f~1g/inputs/3",
                "entry point `f/g`, parameter 3",
            ),
            (
                Place::entry("f", EntryPart::Component(0)),
                "/entry_points/f/result/0",
                "entry point `f`, result 0",
            ),
            (
                Place::ty("[]t", TypePart::Field("0".to_owned())),
                "/types/[]t/fields/0",
                "type `[]t`, field `0`",
            ),
            (
                Place::ty("~t", payload),
                "/types/~0t/variants/a~1b~0/payload/2",
                "type `~t`, variant `a/b~`, payload 2",
            ),
        ] {
            assert_eq!(place.pointer(), pointer);
            assert_eq!(place.to_string(), words);
        }
    }
}
