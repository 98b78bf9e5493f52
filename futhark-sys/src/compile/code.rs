//! Where the C code of a program comes from.

use std::path::{Path, PathBuf};

use futhark_manifest::Version;

use super::compiler::{Compiler, Wanted};
use super::error::Error;
use super::files::Files;
use super::paths::read;
use super::stored::{Stored, WARNINGS};

/// Where the C code of a program comes from.
pub(super) enum Code {
    /// An installed compiler generates it.
    Compiler(Compiler),
    /// A compiler generated it before.
    Stored(Stored),
}

impl Code {
    /// The version of the compiler.
    pub(super) fn version(&self) -> &Version {
        match self {
            Code::Compiler(compiler) => compiler.version(),
            Code::Stored(stored) => &stored.version,
        }
    }

    /// The source files of the program, as they are now.
    pub(super) fn files_of(&self, source: &Path) -> Result<Files, Error> {
        match self {
            Code::Compiler(compiler) => compiler.files_of(source),
            Code::Stored(stored) => Files::listed(source, &stored.sources),
        }
    }

    /// Writes `base.c`, `base.h` and `base.json`, and other files of the program beside them; returns the
    /// warnings of the compiler. A recorded library has no C code.
    pub(super) fn generate(&self, wanted: &Wanted<'_>, base: &Path) -> Result<String, Error> {
        match self {
            Code::Compiler(compiler) => compiler.generate(wanted, base),
            Code::Stored(stored) => {
                stored.copy(base.parent().unwrap_or(Path::new(".")))?;
                read(&stored.folder.join(WARNINGS))
            }
        }
    }

    /// The files, besides the sources, that determine what [`generate`](Self::generate) writes: an executable, or the
    /// stored code.
    pub(super) fn made_by(&self) -> Vec<PathBuf> {
        match self {
            Code::Compiler(compiler) => vec![compiler.program().to_owned()],
            Code::Stored(stored) => stored.files(),
        }
    }
}
