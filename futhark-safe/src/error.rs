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

    pub(crate) fn into_kind(mut self, kind: Kind) -> Error {
        self.0.kind = kind;
        self
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
