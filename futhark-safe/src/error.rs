//! The error type.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use futhark_manifest::UnknownBackend;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure: its kind, the operation that reports it, and the text of the C side.
///
/// `{}` prints it without its [source](std::error::Error::source), `{:#}` with it: for
/// [`Compile`](ErrorKind::Compile) and [`Load`](ErrorKind::Load) the source says why. A clone shares the source.
///
/// An `Error` has the size of a pointer, so that results stay small.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    operation: Call,
    origin: Origin,
    /// The message of this crate or of futhark-sys. Empty if the C text suffices.
    message: Text,
    c_text: Option<String>,
    code: Option<i32>,
    also: Option<Error>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// The call that a failure belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The operation that reports it.
    #[default]
    Operation,
    /// One of these earlier calls; `None` if there are too many to name.
    Earlier(Option<Vec<Call>>),
    /// The operation, or one of these earlier calls.
    Either(Option<Vec<Call>>),
}

/// A count with its noun, such as `1 value` or `2 values`.
pub(crate) fn counted<N: fmt::Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    let plural = if n == N::from(1) { "" } else { "s" };
    format!("{n} {noun}{plural}")
}

type Text = Cow<'static, str>;

/// A call, as [`Error::operation`] names it.
pub(crate) type Call = Text;

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The Futhark program failed: an index out of bounds, a size mismatch, a division by
    /// zero, an assertion, a negative size. The context remains usable.
    Program,
    /// There was not enough memory for values, or to create a context. A context remains usable. If
    /// the runtime itself has no memory in a call after that, the error is
    /// [`ContextLost`](Self::ContextLost).
    OutOfMemory,
    /// An argument has the wrong type, shape or number, or an index is out of bounds.
    InvalidArgument,
    /// A value of one context was passed to another.
    WrongContext,
    /// The runtime failed fatally, in this call or an earlier one. The context and its values can
    /// only be dropped; create a new context to continue.
    ContextLost,
    /// This backend, or this version of the compiler, lacks the operation; or the device is known
    /// to compute wrong results.
    Unsupported,
    /// A library, or a driver of the backend, cannot be loaded.
    Load,
    /// A context could not be created.
    Start,
    /// The bytes are not a stored value of this type.
    Restore,
    /// Any other failure of the backend or its driver.
    Backend,
    /// The program could not be compiled.
    Compile,
}

impl Error {
    pub(crate) fn new(
        kind: ErrorKind,
        operation: impl Into<Text>,
        message: impl Into<Text>,
    ) -> Error {
        Error(Box::new(Inner {
            kind,
            operation: operation.into(),
            origin: Origin::Operation,
            message: message.into(),
            c_text: None,
            code: None,
            also: None,
            source: None,
        }))
    }

    /// A mistake of the caller: [`ErrorKind::InvalidArgument`].
    pub(crate) fn invalid(operation: impl Into<Text>, message: impl Into<Text>) -> Error {
        Error::new(ErrorKind::InvalidArgument, operation, message)
    }

    pub(crate) fn into_kind(mut self, kind: ErrorKind) -> Error {
        self.0.kind = kind;
        self
    }

    /// Changes the kind to the given one if the backend failed without a text. An operation on values runs no
    /// code of the program, so its arguments are then at fault.
    pub(crate) fn into_kind_if_silent(self, kind: ErrorKind) -> Error {
        match (self.kind(), self.c_message()) {
            (ErrorKind::Backend, None) => self.into_kind(kind),
            _ => self,
        }
    }

    pub(crate) fn with_origin(mut self, origin: Origin) -> Error {
        self.0.origin = origin;
        self
    }

    /// Adds another failure that the same call found.
    pub(crate) fn with_also(mut self, also: Error) -> Error {
        self.0.also = Some(also);
        self
    }

    pub(crate) fn with_words(mut self, words: String) -> Error {
        self.0.message = words.into();
        self
    }

    /// The same failure, reported again by a later operation.
    pub(crate) fn again(&self, operation: impl Into<Text>) -> Error {
        let mut error = self.clone().into_earlier(self.0.operation.clone());
        error.0.operation = operation.into();
        error.0.also = None;
        error
    }

    /// The same failure, which `operation` may have caused, reported by a later call.
    pub(crate) fn into_earlier(mut self, operation: Call) -> Error {
        self.0.origin = Origin::Earlier(match std::mem::take(&mut self.0.origin) {
            Origin::Operation => Some(vec![operation]),
            Origin::Earlier(calls) => calls,
            Origin::Either(calls) => calls.map(|calls| [calls, vec![operation]].concat()),
        });
        self
    }

    pub(crate) fn with_c(mut self, text: Option<String>, code: i32) -> Error {
        self.0.c_text = text;
        self.0.code = Some(code);
        self
    }

    pub(crate) fn with_source(
        mut self,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Error {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that reports the failure, for example `entry point mean`.
    ///
    /// Calls on GPU backends can return before their work is done. A later operation reports
    /// failures of that work: see [`is_from_earlier_call`](Self::is_from_earlier_call).
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.0.operation
    }

    /// Whether an earlier call failed, not [`operation`](Self::operation).
    ///
    /// Any operation on a context can report one: a call on a GPU that failed after it had
    /// returned, a value that could not be freed when it was dropped, or the call in which the
    /// context was lost. `false` also if it could have been either: see
    /// [`failed_calls`](Self::failed_calls).
    #[must_use]
    pub fn is_from_earlier_call(&self) -> bool {
        matches!(self.0.origin, Origin::Earlier(_))
    }

    /// The operations of which one failed, each as [`operation`](Self::operation) names it.
    ///
    /// Usually one: the operation itself, or the only earlier call with pending work. Otherwise all
    /// candidates, the operation itself last. Empty if there are too many to name.
    pub fn failed_calls(&self) -> impl Iterator<Item = &str> {
        let (earlier, own) = match &self.0.origin {
            Origin::Operation => (None, true),
            Origin::Earlier(calls) => (calls.as_ref(), false),
            Origin::Either(calls) => (calls.as_ref(), calls.is_some()),
        };
        let earlier = earlier.into_iter().flatten().map(|call| &**call);
        earlier.chain(own.then_some(self.operation()))
    }

    /// A second failure, found while the context recovered from this one: usually that of an
    /// earlier call on a GPU.
    #[must_use]
    pub fn also(&self) -> Option<&Error> {
        self.0.also.as_ref()
    }

    /// The code that the C function returned, if any. Of little use: the runtime returns 1 for many
    /// failures that have a code of their own.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.0.code
    }

    /// The text of the Futhark runtime; bytes that are not UTF-8 are replaced. `None` if there is
    /// none, for example because this crate found the failure.
    #[must_use]
    pub fn c_message(&self) -> Option<&str> {
        self.0.c_text.as_deref()
    }

    /// The place of the failure in the Futhark program, if known: the innermost one of the
    /// backtrace in [`c_message`](Self::c_message).
    #[must_use]
    pub fn place(&self) -> Option<Place<'_>> {
        Place::find(self.c_message()?)
    }
}

/// A place in the source of a Futhark program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place<'a> {
    /// The path of the file, as it was passed to the compiler.
    pub file: &'a str,
    /// Starting at 1.
    pub line: u32,
    /// Starting at 1.
    pub column: u32,
}

impl Place<'_> {
    /// Finds the place in `-> #0  stats.fut:19:40-45` or `…:19:40-21:3`, the first line of a backtrace.
    fn find(text: &str) -> Option<Place<'_>> {
        let (_, rest) = text.split_once("-> #0 ")?;
        let place = rest.lines().next()?.trim();
        // From the end, since the file name may contain colons and dashes.
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

/// The message, the sources and, except for `Compile`, the kind: returning an error from `main` prints this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind {
            // `main` of a build script prints this form.
            ErrorKind::Compile => write!(f, "{self:#}"),
            kind => write!(f, "{self:#} ({kind:?})"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.operation(), self.attribution())?;
        let message = self.0.message.trim_end();
        let text = self.c_message().unwrap_or_default().trim_end();
        match message.is_empty() || text.is_empty() {
            true => write!(f, "{message}{text}")?,
            false => write!(f, "{message}: {text}")?,
        }
        if f.alternate() {
            let mut next = std::error::Error::source(self);
            while let Some(source) = next {
                write!(f, ": {source}")?;
                next = source.source();
            }
        }
        match self.also() {
            Some(also) => write!(f, "\nfurthermore, {also}"),
            None => Ok(()),
        }
    }
}

impl Error {
    /// The beginning of the message if an earlier call failed, or may have.
    fn attribution(&self) -> String {
        let calls: Vec<_> = self.failed_calls().collect();
        let all = calls.join(", ");
        let failed = match (&self.0.origin, &calls[..]) {
            (Origin::Operation, _) => return String::new(),
            (Origin::Earlier(_), []) => "one of the calls since the last sync failed",
            (Origin::Earlier(_), [one]) if *one == self.operation() => "an earlier call failed",
            (Origin::Earlier(_), [_]) => &format!("an earlier call failed ({all})"),
            (Origin::Earlier(_), _) => &format!("one of the earlier calls failed ({all})"),
            (Origin::Either(_), []) => "this call or one of those since the last sync failed",
            (Origin::Either(_), _) => &format!("one of these calls failed ({all})"),
        };
        format!("{failed}: ")
    }
}

/// For `name.parse::<Backend>()?` in a function that returns this crate's errors.
impl From<UnknownBackend> for Error {
    fn from(error: UnknownBackend) -> Error {
        Error::invalid("choose a backend", error.to_string())
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
        let error = Error::new(ErrorKind::Program, "call", "").with_c(Some(text.to_owned()), 2);
        error.place().map(|place| place.to_string())
    }

    #[test]
    fn an_unknown_backend_is_a_mistake_of_the_caller() {
        let parse = |name: &str| -> Result<futhark_manifest::Backend> { Ok(name.parse()?) };
        assert!(parse("opencl").is_ok());
        let error = parse("gpu").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }

    #[test]
    fn the_innermost_place_of_a_backtrace_is_found() {
        let top = "Error: Index [10] out of bounds for array of shape [3].\n\nBacktrace:\n-> #0  ../e.fut:19:40-45\n   #1  ../e.fut:18:1-45\n";
        assert_eq!(place(top).as_deref(), Some("../e.fut:19:40"));
        let kernel =
            "Index [99] out of bounds for array of shape [3].\n-> #0  a-b:c.fut:20:59-21:4\n";
        assert_eq!(place(kernel).as_deref(), Some("a-b:c.fut:20:59"));
        assert_eq!(place("-> #0  one.fut:7:3").as_deref(), Some("one.fut:7:3"));
    }

    #[test]
    fn a_clone_is_the_same_error_in_one_pointer() {
        let also = Error::new(ErrorKind::Backend, "sync", "the device failed");
        let origin = Origin::Earlier(Some(vec!["entry point f".into()]));
        let text = Some("-> #0  a.fut:1:2-3".to_owned());
        let error = Error::new(ErrorKind::Program, "call", "words")
            .with_c(text, 2)
            .with_origin(origin)
            .with_also(also)
            .with_source(fmt::Error);
        let clone = error.clone();
        assert_eq!(clone.to_string(), error.to_string());
        assert_eq!(
            (clone.kind(), clone.code()),
            (ErrorKind::Program, error.code())
        );
        assert_eq!(clone.place(), error.place());
        assert!(clone.failed_calls().eq(["entry point f"]));
        assert_eq!(clone.also().unwrap().kind(), ErrorKind::Backend);
        drop(error);
        let source = std::error::Error::source(&clone).unwrap();
        assert!(source.is::<fmt::Error>());
        assert_eq!(size_of::<Option<Error>>(), size_of::<usize>());
        fn shared<T: Clone + Send + Sync + 'static>(_: &T) {}
        shared(&clone);
    }

    #[test]
    fn an_error_without_a_backtrace_has_no_place() {
        for text in [
            "",
            "Error: no memory",
            "Backtrace:\n-> #0  unknown location\n",
            "-> #0 ",
            "-> #0  a.fut:x:y-z",
        ] {
            assert_eq!(place(text), None, "{text:?}");
        }
        let ours = Error::new(ErrorKind::Program, "call", "-> #0  a.fut:1:2-3");
        assert!(ours.place().is_none());
    }
}
