//! The error type of this crate.

use std::fmt;

/// Why something could not be done, with the kind `K` of the module that reports it.
///
/// `{}` prints the message without its [source](std::error::Error::source), `{:#}` with it.
pub struct Error<K> {
    kind: K,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl<K: Copy> Error<K> {
    pub(crate) fn new(kind: K, message: impl Into<String>) -> Error<K> {
        let (message, source) = (message.into(), None);
        Error {
            kind,
            message,
            source,
        }
    }

    #[cfg(any(feature = "compile", feature = "load"))]
    pub(crate) fn with(
        mut self,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Error<K> {
        self.source = Some(Box::new(source));
        self
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> K {
        self.kind
    }
}

impl<K> fmt::Display for Error<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let mut next = self.source.as_deref().map(|source| source as _);
        while let Some(source) = next.filter(|_| f.alternate()) {
            write!(f, ": {source}")?;
            next = std::error::Error::source(source);
        }
        Ok(())
    }
}

/// The message, the sources and the kind: `unwrap` and a failing `main` print this.
impl<K: fmt::Debug> fmt::Debug for Error<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#} ({:?})", self.kind)
    }
}

impl<K: fmt::Debug> std::error::Error for Error<K> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}
