//! The declarations of a generated C header.

use std::fmt;

use super::ctype::{CType, write_prototype};
use super::parse;
use crate::backend::Backend;

/// The declarations of a C header.
///
/// The parser knows prototypes, forward declarations of structs, `#define` and
/// `extern "C"`. It does not run the preprocessor: it reads both branches of a
/// condition, and does not expand macros. Everything else is kept in
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
    /// The parts that could not be parsed, in order.
    pub unread: Vec<Unread>,
}

impl Header {
    /// Reads the text of a header. Accepts any text; time and memory are linear in its length.
    #[must_use]
    pub fn parse(text: &str) -> Header {
        parse::header(text)
    }

    /// The backends in the header's `FUTHARK_BACKEND_` macros, each with its line. Every
    /// generated header has one. Names are returned as text, because they may be unknown
    /// to this crate.
    pub fn backend_names(&self) -> impl Iterator<Item = (&str, usize)> {
        let defines = self.defines.iter();
        defines.filter_map(|define| {
            let name = define.name.strip_prefix(BACKEND_MACRO)?;
            Some((name, define.line))
        })
    }

    /// The header's backend; `None` if it names none, several, or one that this crate
    /// does not know.
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
    /// The first line of the declaration in the header, counted from 1.
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
    /// The name, if it has one.
    pub name: Option<String>,
    /// The C type.
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
    /// The name.
    pub name: String,
    /// The replacement text as written, often empty. Includes the parameters, if any.
    pub value: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// A part of a header that could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unread {
    /// The first line, counted from 1.
    pub line: usize,
    /// The first words.
    pub text: String,
}
