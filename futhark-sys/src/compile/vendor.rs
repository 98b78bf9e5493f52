//! Uses vendored code in place of the Futhark compiler, and generates it.

use std::path::{Path, PathBuf};

use super::cache::Temporary;
use super::compiler::{Compiler, Wanted};
use super::error::Error;
use super::paths::write;
use super::stored::{self, Stored, WARNINGS};
use super::toolchain::{Toolchain, Vendor};

/// The code in `folder`, generated before as `FUTHARK_VENDOR` says.
///
/// # Errors
///
/// [`ErrorKind::Vendored`](super::ErrorKind::Vendored), or those of the compiler that generates the code again.
pub(super) fn open(
    folder: &Path,
    wanted: &Wanted<'_>,
    name: &str,
    compiler: impl Fn() -> Result<Compiler, Error>,
    results: impl Fn() -> Result<PathBuf, Error>,
) -> Result<Stored, Error> {
    let stored = || match folder.is_dir() {
        true => Stored::open(folder, wanted, Error::vendored),
        false => Err(Error::vendored(format!(
            "there is no generated code of {} in {}",
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
