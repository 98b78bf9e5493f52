//! Where the C code of a program comes from.

use std::path::{Path, PathBuf};

use futhark_manifest::Version;

use super::cache::Temporary;
use super::compiler::{Compiler, Wanted};
use super::error::Error;
use super::files::Files;
use super::paths::{read, write};
use super::stored::{self, Stored, WARNINGS};
use super::toolchain::{Toolchain, Vendor};

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

/// The code in `folder`, generated before as `FUTHARK_VENDOR` says.
///
/// # Errors
///
/// [`ErrorKind::Vendored`](super::ErrorKind::Vendored), or those of the compiler that generates the code again.
pub(super) fn vendored(
    folder: &Path,
    wanted: &Wanted<'_>,
    name: &str,
    compiler: impl Fn() -> Result<Compiler, Error>,
    results: impl Fn() -> Result<PathBuf, Error>,
) -> Result<Stored, Error> {
    let stored = || match folder.is_dir() {
        true => Stored::open(folder, wanted, Error::vendored),
        false => Err(Error::vendored(format!(
            "found no generated code of {} in {}",
            wanted.source.display(),
            folder.display()
        ))),
    };
    let generate = |compiler: &Compiler, folder: &Path| {
        let source = wanted.source;
        let files = compiler.files_of(source)?;
        let base = folder.join(name);
        let warnings = compiler.generate(wanted, &base)?;
        if compiler.files_of(source)? != files {
            return Err(Error::changing(source));
        }
        write(&folder.join(WARNINGS), warnings)?;
        stored::describe(folder, wanted, compiler.version(), Some(&files), "")
    };
    match Toolchain::vendor()? {
        Vendor::Use => stored(),
        Vendor::Update => {
            let compiler = compiler()?;
            if let Ok(kept) = stored()
                && kept.version.to_string() == compiler.version().to_string()
            {
                return Ok(kept);
            }
            let new = Temporary::beside(folder)?;
            generate(&compiler, new.path())?;
            new.become_folder(folder)?;
            stored()
        }
        Vendor::Check => {
            let kept = stored()?;
            let new = Temporary::beside(&results()?.join("vendored"))?;
            generate(&compiler()?, new.path())?;
            match stored::difference(new.path(), folder)? {
                None => Ok(kept),
                Some(line) => Err(Error::vendored(format!(
                    "the compiler generates other code now than that in {}: `{line}` differs",
                    folder.display()
                ))),
            }
        }
    }
}
