//! Errors of a build.

use std::fmt;
use std::path::Path;

use futhark_manifest::{Backend, Version, known};

/// The backends that a [`Build`](super::Build) supports.
pub const BACKENDS: [Backend; 5] = [
    Backend::C,
    Backend::Multicore,
    Backend::OpenCl,
    Backend::Cuda,
    Backend::Hip,
];

/// Why a program could not be built.
///
/// The message contains the error output of the compiler that failed, and often says what to do
/// next.
pub type Error = crate::error::Error<ErrorKind>;

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No Futhark compiler was found, or the selected one does not run or is too old; or a recording lacks this
    /// program, is damaged, or is one of other sources.
    NoCompiler,
    /// Vendored code ([`Build::vendored`](super::Build::vendored)) is missing, or its source or the options
    /// have changed.
    Vendored,
    /// The source file does not exist.
    NoSource,
    /// A build does not support the backend: it is not one of [`BACKENDS`].
    Backend,
    /// An option ([`Build::option`](super::Build::option)) that a build cannot use, or an unknown value of
    /// `FUTHARK_UNKNOWN_COMPILER`.
    Option,
    /// The Futhark compiler rejected the program. The message contains its output.
    Program,
    /// The Futhark compiler itself failed: it crashed, or reported an internal error or a known
    /// limitation.
    CompilerFailed,
    /// The manifest is invalid, or is for another backend.
    Manifest,
    /// The generated C is not in the form that this crate supports.
    Layout,
    /// No C compiler was found, or it or its archiver does not run.
    NoCCompiler,
    /// The raw module could not be generated: libclang is missing, or rejected the header.
    Bindings,
    /// A header of the backend is missing.
    NoHeader,
    /// The C compiler rejected the generated code (code and manifest disagree, or the C compiler is
    /// too old), or a library could not be linked or archived.
    C,
    /// A file could not be read or written, a tool could not be run, or a recording belongs to another version.
    Io,
}

impl Error {
    pub(super) fn io(doing: &str, path: impl AsRef<Path>, error: std::io::Error) -> Error {
        let message = format!("cannot {doing} {}", path.as_ref().display());
        Error::new(ErrorKind::Io, message).with(error)
    }

    pub(super) fn manifest(path: &Path, error: futhark_manifest::Error) -> Error {
        let message = format!("cannot use the manifest {}", path.display());
        Error::new(ErrorKind::Manifest, message).with(error)
    }

    /// The generated C is not in the expected form. `item` is the function or struct in it that
    /// our C file relies on.
    pub(super) fn unsupported(version: &Version, item: &str, why: &str) -> Error {
        let message = format!(
            "the C code that Futhark {version} generated is not supported: `{item}`: {why}"
        );
        Error::new(ErrorKind::Layout, message)
    }

    /// Adds what a user can do if the C that `version` generated cannot be used. `plain` says whether it can be used
    /// without the checks of a hardened build; `None` if that is not known.
    pub(super) fn with_ways_on(self, version: &Version, plain: Option<bool>) -> Error {
        let text = |(major, minor, patch)| format!("{major}.{minor}.{patch}");
        let (run, _): (Vec<_>, Vec<_>) = known::RUN.into_iter().unzip();
        let known: Vec<_> = known::TESTED.into_iter().chain(run).collect();
        let is_known = version.number.is_some_and(|own| known.contains(&own));
        let known = known.into_iter().map(text).collect::<Vec<_>>().join(", ");
        let other = match is_known {
            true => format!(
                "another version of {known}: this one, {version}, is among them, so this is a mistake of futhark-sys"
            ),
            false => format!(
                "a version that it was run with, {known} (executables: futhark-lang.org/releases), instead of {version}"
            ),
        };
        let plain = match plain {
            Some(false) => "",
            _ => {
                "\n- build with `hardened(false)`: then a size that overflows or is negative writes to other memory, and \
                 `i64.min / -1` ends the process (SAFETY.md)\n\
                 - set FUTHARK_UNKNOWN_COMPILER=allow: then each check of the runtime is added whose place is found, and warnings name \
                 the others"
            }
        };
        let message = format!(
            "{self:#}\nWays on:\n- use {other}{plain}\n- report this message and the program to the authors of futhark-rust, or add \
             support: see its UPGRADING.md"
        );
        Error::new(self.kind(), message)
    }

    pub(super) fn backend(backend: Backend) -> Error {
        let supported = BACKENDS.map(Backend::as_str).join(", ");
        let message = format!(
            "cannot compile for the backend {backend}: expected one of {supported}. \
             Instead of ispc, whose kernels run on the host without checks, use multicore"
        );
        Error::new(ErrorKind::Backend, message)
    }

    pub(super) fn vendored(why: impl fmt::Display) -> Error {
        let message = format!(
            "{why}.\nTo generate it, run `FUTHARK_VENDOR=update cargo build` where a Futhark compiler is installed. \
             If this is a package of others, get it again as it was published, or report it to its authors"
        );
        Error::new(ErrorKind::Vendored, message)
    }

    /// A source file or a compiler is replaced again and again.
    pub(super) fn changing(source: &Path) -> Error {
        let message = format!(
            "{}, a file that it imports, or a compiler changed while the program was compiled; compile it again",
            source.display()
        );
        Error::new(ErrorKind::Io, message)
    }

    pub(super) fn no_source(source: &Path) -> Error {
        let path = source.display();
        let message = format!("the Futhark source file {path} does not exist, or is not a file");
        Error::new(ErrorKind::NoSource, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Error {
        /// Asserts that it refuses generated code of version 0.26.1 in an unknown form, and says these words.
        pub(crate) fn refuses_a_form_of_0_26_1(&self, words: &[&str]) {
            assert_eq!(self.kind(), ErrorKind::Layout, "{self}");
            for word in [words, &["0.26.1"]].concat() {
                assert!(self.to_string().contains(word), "no `{word}` in: {self}");
            }
        }
    }

    #[test]
    fn a_refusal_names_the_ways_on() {
        let message = |version: &str, plain| {
            let version = Version::new(version);
            let error = Error::unsupported(&version, "n_1 = 2;", "unknown");
            error.with_ways_on(&version, plain).to_string()
        };
        let newer = message("9.0.0", Some(true));
        for word in [
            "`n_1 = 2;`: unknown",
            "0.25.32, 0.27.1 (",
            "FUTHARK_UNKNOWN_COMPILER=allow",
            "`hardened(false)`",
            "UPGRADING.md",
        ] {
            assert!(newer.contains(word), "no `{word}` in: {newer}");
        }
        let known = message("0.25.32", Some(false));
        assert!(
            known.contains("this one, 0.25.32, is among them"),
            "{known}"
        );
        assert!(!known.contains("hardened(false)"), "{known}");
    }
}
