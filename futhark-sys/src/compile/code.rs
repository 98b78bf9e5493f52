//! Where the C code of a program comes from.

use std::path::{Path, PathBuf};

use futhark_manifest::Version;

use super::build::Build;
use super::cache::Temporary;
use super::compiler::Compiler;
use super::error::{Error, ErrorKind};
use super::files::Files;
use super::paths::{read, write};
use super::recording::Recording;
use super::stored::{self, ATTRIBUTES, Stored, WARNINGS};
use super::toolchain::{Toolchain, Vendor};

pub(super) enum Code {
    /// An installed compiler generates it.
    Compiler(Compiler),
    /// A compiler generated it before.
    Stored(Stored),
}

impl Code {
    pub(super) fn version(&self) -> &Version {
        match self {
            Code::Compiler(compiler) => compiler.version(),
            Code::Stored(stored) => &stored.version,
        }
    }

    /// Writes `base.c`, `base.h` and `base.json`; returns the warnings of the compiler. A recorded library has no C code.
    pub(super) fn generate(&self, build: &Build, base: &Path) -> Result<String, Error> {
        match self {
            Code::Compiler(compiler) => {
                compiler.generate(build.source(), build.backend(), &build.options, base)
            }
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
            Code::Stored(stored) => stored.files.clone(),
        }
    }
}

/// The recorded build that is equal to `build`.
pub(super) fn recorded(from: &Recording, build: &Build, sources: &Files) -> Result<Stored, Error> {
    let fail = |why| {
        let message = format!("{why}.\nRecord it again, or install the compiler");
        Error::new(ErrorKind::NoCompiler, message)
    };
    let folder = from.build(&build.recorded_name()?);
    if !folder.is_dir() {
        return Err(fail(format!(
            "{} is not recorded for {} in {}, a recording of Futhark {}, or its text or its options have changed",
            build.source().display(),
            build.backend(),
            from.folder().display(),
            from.version()
        )));
    }
    Stored::open(&folder, build, sources, fail)
}

/// The code in `folder`, generated before as `FUTHARK_VENDOR` says.
pub(super) fn vendored(folder: &Path, build: &Build, sources: &Files) -> Result<Stored, Error> {
    let stored = || match folder.is_dir() {
        true => Stored::open(folder, build, sources, Error::vendored),
        false => Err(Error::vendored(format!(
            "found no generated code of {} in {}",
            build.source().display(),
            folder.display()
        ))),
    };
    match Toolchain::vendor()? {
        Vendor::Use => stored(),
        Vendor::Update => {
            let compiler = build.installed()?;
            if let Ok(kept) = stored()
                && kept.version.to_string() == compiler.version().to_string()
            {
                return Ok(kept);
            }
            let new = Temporary::beside(folder)?;
            generate(compiler, build, sources, new.path())?;
            new.become_folder(folder)?;
            stored()
        }
        Vendor::Check => {
            let kept = stored()?;
            let new = Temporary::beside(&build.folder()?.join("vendored"))?;
            generate(build.installed()?, build, sources, new.path())?;
            stored::must_be_equal(new.path(), folder)?;
            Ok(kept)
        }
    }
}

fn generate(
    compiler: Compiler,
    build: &Build,
    sources: &Files,
    folder: &Path,
) -> Result<(), Error> {
    let code = Code::Compiler(compiler);
    let warnings = code.generate(build, &folder.join(build.name()))?;
    if Files::of(build.source())? != *sources {
        return Err(Error::changing(build.source()));
    }
    write(&folder.join(WARNINGS), warnings)?;
    write(&folder.join(ATTRIBUTES), "* -text\n")?;
    stored::describe(folder, build, sources, code.version())
}
