//! The one error type.

use std::borrow::Cow;
use std::fmt;

/// What this crate's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, where, and what the C side said.
///
/// Its size is one pointer, so that results stay small.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    operation: Cow<'static, str>,
    message: Cow<'static, str>,
    code: Option<i32>,
    from_c: bool,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The Futhark program failed: an index out of bounds, a size that does not fit, a
    /// division by zero, an assertion, a negative size. The context goes on.
    Program,
    /// There was not enough memory. The context goes on.
    OutOfMemory,
    /// An argument that does not fit: its type, shape, number, an index.
    InvalidArgument,
    /// A value of one context was passed to another.
    WrongContext,
    /// The runtime died, in this call or an earlier one. Values of the context can be
    /// dropped and nothing else; make a new context.
    ContextLost,
    /// This backend, or this version of the compiler, does not have what was asked for.
    Unsupported,
    /// A library, or a driver of the backend, cannot be loaded.
    Load,
    /// A context could not be made.
    Start,
    /// Bytes are no stored value of this type.
    Restore,
    /// A failure of the backend or its driver that fits nothing else.
    Backend,
    /// The program could not be compiled.
    Compile,
}

impl Error {
    pub(crate) fn new(
        kind: Kind,
        operation: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Error {
        Error(Box::new(Inner {
            kind,
            operation: operation.into(),
            message: message.into(),
            code: None,
            from_c: false,
            source: None,
        }))
    }

    /// A failure that the C side reported, with its text.
    pub(crate) fn from_c(
        kind: Kind,
        operation: impl Into<Cow<'static, str>>,
        message: String,
        code: i32,
    ) -> Error {
        let mut error = Error::new(kind, operation, message);
        error.0.code = Some(code);
        error.0.from_c = true;
        error
    }

    /// A failure that the C side reported by its code alone.
    pub(crate) fn silent(kind: Kind, operation: impl Into<Cow<'static, str>>, code: i32) -> Error {
        let message = format!("failed with code {code} and without a message");
        let mut error = Error::new(kind, operation, message);
        error.0.code = Some(code);
        error
    }

    pub(crate) fn into_kind(mut self, kind: Kind) -> Error {
        self.0.kind = kind;
        self
    }

    /// The same failure, told again to somebody else: who meets it by doing `operation`.
    pub(crate) fn again(&self, operation: impl Into<Cow<'static, str>>) -> Error {
        let mut error = Error::new(self.0.kind, operation, self.0.message.clone());
        error.0.code = self.0.code;
        error.0.from_c = self.0.from_c;
        error
    }

    pub(crate) fn with_source(
        mut self,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Error {
        self.0.source = Some(Box::new(source));
        self
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// What was being done, for example `entry point mean`.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.0.operation
    }

    /// The code that the C function returned, where one did. Tells little: the runtime
    /// returns 1 for many failures that have a code of their own.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.0.code
    }

    /// The text of the C side, as it is, where the failure came from there.
    #[must_use]
    pub fn c_message(&self) -> Option<&str> {
        self.0.from_c.then_some(&*self.0.message)
    }

    /// Where in the Futhark program it failed, if the C side says so: the innermost place
    /// of the backtrace in [`c_message`](Self::c_message).
    #[must_use]
    pub fn place(&self) -> Option<Place<'_>> {
        Place::find(self.c_message()?)
    }
}

/// A place in the source of a Futhark program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place<'a> {
    /// The file, as the compiler was told of it.
    pub file: &'a str,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1.
    pub column: u32,
}

impl Place<'_> {
    /// In `-> #0  stats.fut:19:40-45`, or `…:19:40-21:3`; there may be more of them.
    fn find(text: &str) -> Option<Place<'_>> {
        let (_, rest) = text.split_once("-> #0 ")?;
        let place = rest.lines().next()?.trim();
        // From the end: a file's name may have a colon, or a dash.
        let (start, _) = place.rsplit_once('-').unwrap_or((place, ""));
        let (file_and_line, column) = start.rsplit_once(':')?;
        let (file, line) = file_and_line.rsplit_once(':')?;
        Some(Place {
            file,
            line: line.parse().ok()?,
            column: column.parse().ok()?,
        })
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What `main` shows when it returns an error: the text as it is, and the kind.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({:?})", self.0.kind)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.operation, self.0.message.trim_end())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| &**source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Option<String> {
        let error = Error::from_c(Kind::Program, "call", text.to_owned(), 2);
        error.place().map(|place| place.to_string())
    }

    #[test]
    fn places_are_found_in_backtraces() {
        let top = "Error: Index [10] out of bounds for array of shape [3].\n\nBacktrace:\n-> #0  ../e.fut:19:40-45\n   #1  ../e.fut:18:1-45\n";
        assert_eq!(place(top).as_deref(), Some("../e.fut:19:40"));
        let kernel =
            "Index [99] out of bounds for array of shape [3].\n-> #0  a-b:c.fut:20:59-21:4\n";
        assert_eq!(place(kernel).as_deref(), Some("a-b:c.fut:20:59"));
        assert_eq!(place("-> #0  one.fut:7:3").as_deref(), Some("one.fut:7:3"));
    }

    #[test]
    fn no_place_is_no_place() {
        for text in [
            "",
            "Error: no memory",
            "Backtrace:\n-> #0  unknown location\n",
            "-> #0 ",
            "-> #0  a.fut:x:y-z",
        ] {
            assert_eq!(place(text), None, "{text:?}");
        }
        let ours = Error::new(Kind::Program, "call", "-> #0  a.fut:1:2-3");
        assert!(ours.place().is_none());
    }
}
