//! Uses vendored code in place of the Futhark compiler, and generates it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::artifact::Wanted;
use super::cache::Temporary;
use super::compiler::Compiler;
use super::error::Error;
use super::paths::{hash_of, write};
use super::toolchain::{Toolchain, Vendor};
use super::vendored::{self, DESCRIPTION, FIRST_LINE, WARNINGS, entries};

/// The vendored code for a build, in place of a compiler.
///
/// # Errors
///
/// [`ErrorKind::Vendored`](super::ErrorKind::Vendored), or those of the compiler that generates the code again.
pub(super) fn compiler(
    wanted: &Wanted<'_>,
    folder: &Path,
    installed: impl Fn() -> Result<Compiler, Error>,
    results: impl Fn() -> Result<PathBuf, Error>,
) -> Result<Compiler, Error> {
    let folder = folder.join(format!("{}-{}", wanted.name, wanted.backend));
    let open = || Compiler::vendored(vendored::open(&folder, wanted)?, wanted.options);
    match Toolchain::vendor()? {
        Vendor::Use => open(),
        Vendor::Update => {
            let futhark = installed()?;
            if let Ok(kept) = open()
                && kept.version() == futhark.version()
            {
                return Ok(kept);
            }
            let new = Temporary::beside(&folder)?;
            generate(wanted, &futhark, new.path())?;
            new.become_folder(&folder)?;
            open()
        }
        Vendor::Check => {
            let kept = open()?;
            let new = Temporary::beside(&results()?.join("vendored"))?;
            generate(wanted, &installed()?, new.path())?;
            match difference(&folder, new.path())? {
                None => Ok(kept),
                Some(file) => Err(Error::vendored(format!(
                    "the compiler generates another file {} now than the one in {}",
                    file.display(),
                    folder.display()
                ))),
            }
        }
    }
}

/// Generates the code into an empty folder.
fn generate(wanted: &Wanted<'_>, futhark: &Compiler, folder: &Path) -> Result<(), Error> {
    let source = wanted.source;
    let files = futhark.files_of(source)?;
    let warnings = futhark.generate(wanted.backend, source, &folder.join(&wanted.name))?;
    if futhark.files_of(source)? != files {
        return Err(Error::changing(source));
    }
    write(&folder.join(WARNINGS), warnings)?;
    let mut text = format!(
        "{FIRST_LINE}\nbackend {}\nprogram {}\n",
        wanted.backend,
        futhark.identity(&files)
    );
    let own = Path::new(source.file_name().unwrap_or_default());
    for (name, hash) in files.hashes() {
        let name = name.unwrap_or(own);
        text += &format!("source {hash} {}\n", name.display());
    }
    for name in entries(folder)? {
        let hash = hash_of(&folder.join(&name))?;
        text += &format!("generated {hash} {}\n", name.display());
    }
    write(&folder.join(DESCRIPTION), text)
}

/// The name of a file that differs between two folders.
fn difference(one: &Path, other: &Path) -> Result<Option<OsString>, Error> {
    let mut names = entries(one)?;
    names.extend(entries(other)?);
    let content = |folder: &Path, name: &OsString| fs::read(folder.join(name)).ok();
    let differs = |name: &OsString| content(one, name) != content(other, name);
    Ok(names.into_iter().find(differs))
}
