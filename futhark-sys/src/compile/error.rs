//! What can go wrong between a source file and a table.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a program could not be built.
///
/// Its text says what to do next, and carries what the compilers said, unchanged.
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No Futhark compiler was found, or the one that was named does not run.
    NoCompiler,
    /// The source file is not there.
    NoSource,
    /// The Futhark compiler refused the program. The text is the compiler's own.
    Program,
    /// The Futhark compiler itself failed (it says that it found a bug in itself, or it died).
    CompilerFailed,
    /// The manifest could not be understood.
    Manifest,
    /// The generated C is not in the form that our C file relies on.
    Layout,
    /// No C compiler was found.
    NoCCompiler,
    /// No ISPC was found, which the backend `ispc` needs.
    NoIspc,
    /// ISPC refused the generated kernels: mostly it is of another time than the Futhark compiler.
    Ispc,
    /// The raw module could not be made: libclang is missing, or refused the header.
    Bindings,
    /// A header of the backend is missing.
    NoHeader,
    /// The C compiler refused our C file: the generated code and its manifest disagree,
    /// or the C compiler is too old.
    C,
    /// A file could not be read or written.
    Io,
}

impl Error {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error {
            kind,
            message: message.into(),
            source: None,
        }
    }

    pub(super) fn io(doing: &str, path: impl Into<PathBuf>, error: std::io::Error) -> Error {
        Error {
            kind: ErrorKind::Io,
            message: format!("cannot {doing} {}: {error}", path.into().display()),
            source: Some(Box::new(error)),
        }
    }

    pub(super) fn manifest(path: impl Into<PathBuf>, error: futhark_manifest::Error) -> Error {
        Error {
            kind: ErrorKind::Manifest,
            message: format!(
                "the manifest {} cannot be used: {error}",
                path.into().display()
            ),
            source: Some(Box::new(error)),
        }
    }

    /// The generated C is not in the expected form. `hook` is the function or struct in it that
    /// our C file relies on.
    pub(super) fn unsupported(version: &str, hook: &str, why: &str) -> Error {
        let message = format!(
            "the C code that Futhark {version} generated is not supported: `{hook}`: {why}. \
             Use a version that this crate was tested with, or add support: see UPGRADING.md"
        );
        Error::new(ErrorKind::Layout, message)
    }

    pub(super) fn no_source(source: &Path) -> Error {
        let message = format!("there is no Futhark source file {}", source.display());
        Error::new(ErrorKind::NoSource, message)
    }

    /// What kind of failure it was.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// The text as it is, and the kind: this is what `unwrap` and a failing `main` print.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({:?})", self.kind)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}
