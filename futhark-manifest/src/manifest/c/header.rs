//! The declarations of a generated C header.

use std::fmt;

use super::ctype::{CType, write_prototype};
use super::parse;
use crate::backend::Backend;

/// The declarations of a C header.
///
/// The reader knows prototypes, forward declarations of structs, `#define` and
/// `extern "C"`. It does not run the preprocessor: both sides of a condition
/// count, and macros are not expanded. Anything else is kept as
/// [`unread`](Header::unread), and is never an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The prototypes in order.
    pub declarations: Vec<Declaration>,
    /// The structs that are declared without their content, in order.
    pub structs: Vec<StructDeclaration>,
    /// The macros in order.
    pub defines: Vec<Define>,
    /// The parts that were not understood, in order.
    pub unread: Vec<Unread>,
}

impl Header {
    /// Reads the text of a header. Accepts any text; time and memory are linear in its length.
    #[must_use]
    pub fn parse(text: &str) -> Header {
        parse::header(text)
    }

    /// The backends that the header says it is for, by `FUTHARK_BACKEND_`
    /// macros: one in every generated header. The names are those of the
    /// macros, since they may be of a backend that this crate does not know.
    pub fn backend_names(&self) -> impl Iterator<Item = (&str, usize)> {
        let defines = self.defines.iter();
        defines.filter_map(|define| {
            let name = define.name.strip_prefix(BACKEND_MACRO)?;
            Some((name, define.line))
        })
    }

    /// The backend that the header says it is for; `None` if it names none, a
    /// second one, or one that this crate does not know.
    #[must_use]
    pub fn backend(&self) -> Option<Backend> {
        let mut names = self.backend_names();
        match (names.next(), names.next()) {
            (Some((name, _)), None) => name.parse().ok(),
            _ => None,
        }
    }
}

const BACKEND_MACRO: &str = "FUTHARK_BACKEND_";

/// A prototype in a header. `Display` writes it in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Declaration {
    /// The name of the function.
    pub name: String,
    /// The C type of the result.
    pub result: CType,
    /// The parameters in order.
    pub parameters: Vec<DeclaredParameter>,
    /// The line of the header that it begins on, counted from 1.
    pub line: usize,
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.parameters.iter();
        let parameters =
            parameters.map(|parameter| (&parameter.ty, parameter.name.as_deref().unwrap_or("")));
        write_prototype(f, &self.result, &self.name, parameters)
    }
}

/// A parameter in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeclaredParameter {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its C type.
    pub ty: CType,
}

/// A struct that a header declares without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StructDeclaration {
    /// The tag.
    pub tag: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// A macro of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Define {
    /// Its name.
    pub name: String,
    /// The replacement text as written, often empty. Includes the parameters, if any.
    pub value: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// A place in a header that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unread {
    /// The line that it begins on, counted from 1.
    pub line: usize,
    /// The first words of it.
    pub text: String,
}
