//! Vendored code: what the Futhark compiler generated for a program, stored beside its source. A build
//! from it needs a C compiler and no Futhark compiler, on any machine.
//!
//! ```text
//! DIR/NAME-BACKEND/futhark-vendored   the backend, the hash of the program, the options for the compiler, and
//!                                     the hashes of the source files and of the files beside it
//! DIR/NAME-BACKEND/NAME.c .h .json    as generated; also NAME.kernels.ispc on the backend ispc
//! DIR/NAME-BACKEND/warnings.txt       the warnings of the compiler
//! ```
//!
//! Such a folder takes the place of the compiler in a build. It is used only while all source files are
//! those that it was generated from, and only with the files that were generated: a merge can take one of them
//! from another version of the program.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use futhark_manifest::{Manifest, Version};

use super::build::Build;
use super::cache::Temporary;
use super::compiler::Compiler;
use super::error::Error;
use super::recording::{folder_of, hash_of, write};
use super::toolchain::Toolchain;

/// What a build does with vendored code; the variable `FUTHARK_VENDOR` selects it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Vendor {
    /// Uses the code. It is an error if a source file or the options have changed since. Needs no Futhark
    /// compiler.
    #[default]
    Use,
    /// `update`: generates the code if it is missing, or if a source file, the options, or the version of
    /// the compiler have changed.
    Update,
    /// `check`: it is an error if the compiler generates other code now.
    Check,
}

/// The code for one program and backend.
#[derive(Clone, Debug)]
pub(super) struct Vendored {
    folder: PathBuf,
    /// The source and its imports.
    pub sources: Vec<PathBuf>,
    /// The generated files.
    pub files: Vec<PathBuf>,
}

const DESCRIPTION: &str = "futhark-vendored";
const WARNINGS: &str = "warnings.txt";
const FIRST_LINE: &str = "Generated. To generate it again: FUTHARK_VENDOR=update cargo build";

/// The vendored code for a build, in place of a compiler.
///
/// # Errors
///
/// [`ErrorKind::Vendored`](super::ErrorKind::Vendored), or those of the compiler that generates the code again.
pub(super) fn compiler(build: &Build, folder: &Path) -> Result<Compiler, Error> {
    let folder = folder.join(format!("{}-{}", build.name(), build.backend()));
    match Toolchain::vendor()? {
        Vendor::Use => open(&folder, build),
        Vendor::Update => {
            let futhark = build.installed()?;
            if let Ok(kept) = open(&folder, build)
                && kept.version() == futhark.version()
            {
                return Ok(kept);
            }
            let new = Temporary::beside(&folder)?;
            generate(build, &futhark, new.path())?;
            new.become_folder(&folder)?;
            open(&folder, build)
        }
        Vendor::Check => {
            let kept = open(&folder, build)?;
            let new = Temporary::beside(&build.folder()?.join("vendored"))?;
            generate(build, &build.installed()?, new.path())?;
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

/// Opens the code for a build.
fn open(folder: &Path, build: &Build) -> Result<Compiler, Error> {
    let source = build.source();
    if !source.is_file() {
        return Err(Error::no_source(source));
    }
    let file = folder.join(DESCRIPTION);
    let Ok(text) = must_be_regular(&file)
        .and_then(|()| fs::read_to_string(&file).map_err(|error| Error::io("read", &file, error)))
    else {
        let message = format!(
            "there is no generated code of {} in {}",
            source.display(),
            folder.display()
        );
        return Err(Error::vendored(message));
    };
    let mut vendored = Vendored {
        folder: folder.to_owned(),
        sources: Vec::new(),
        files: Vec::new(),
    };
    let mut options = None;
    let mut backend = None;
    let mut expected = entries(folder)?;
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        match words[..] {
            ["program", _, ..] => options = Some(line.split(' ').skip(2)),
            ["backend", name] => backend = Some(name),
            ["generated", hash, name] => {
                let path = folder.join(name);
                if !expected.remove(OsStr::new(name)) {
                    return Err(Error::vendored(format!("{} is missing", path.display())));
                }
                must_be_regular(&path)?;
                if hash_of(&path).ok().as_deref() != Some(hash) {
                    return Err(Error::vendored(format!(
                        "{} is not the file that the Futhark compiler generated for this program",
                        path.display()
                    )));
                }
                if name != WARNINGS {
                    vendored.files.push(path);
                }
            }
            ["source", hash, path] => {
                let path = folder_of(source).join(path);
                must_be_current(&path, hash, folder)?;
                vendored.sources.push(path);
            }
            _ => {
                let message = format!("{} has the unknown line `{line}`", file.display());
                return Err(Error::vendored(message));
            }
        }
    }
    expected.remove(OsStr::new(DESCRIPTION));
    let is_complete = !vendored.sources.is_empty() && !vendored.files.is_empty();
    let Some(options) = options.filter(|_| is_complete) else {
        return Err(Error::vendored(format!("{} is incomplete", file.display())));
    };
    if let Some(name) = expected.first() {
        return Err(Error::vendored(format!(
            "{} is not a file that the Futhark compiler generated for this program",
            folder.join(name).display()
        )));
    }
    if backend != Some(&*build.backend().to_string()) {
        return Err(Error::vendored(format!(
            "the code in {} was generated for another backend",
            folder.display()
        )));
    }
    if !options.eq(build.options()) {
        return Err(Error::vendored(format!(
            "the code in {} was generated with other options for the Futhark compiler",
            folder.display()
        )));
    }
    let version = version(folder, &build.name())?;
    Ok(Compiler::vendored(file, version, vendored)?.with_options(build.options()))
}

/// Fails if the source file is not the one from which the code in `folder` was generated.
fn must_be_current(source: &Path, hash: &str, folder: &Path) -> Result<(), Error> {
    let now = hash_of(source).ok();
    if now.as_deref() == Some(hash) {
        return Ok(());
    }
    Err(Error::vendored(format!(
        "{} {}, from which the code in {} was generated",
        source.display(),
        if now.is_some() {
            "has changed"
        } else {
            "is missing"
        },
        folder.display()
    )))
}

/// The version of the compiler that generated the code.
fn version(folder: &Path, name: &str) -> Result<Version, Error> {
    let file = folder.join(format!("{name}.json"));
    let text = fs::read_to_string(&file).map_err(|error| Error::io("read", &file, error))?;
    let manifest = Manifest::parse(&text).map_err(|error| Error::manifest(&file, error))?;
    Ok(Version::new(
        manifest.version.as_deref().unwrap_or_default(),
    ))
}

/// Generates the code into an empty folder.
fn generate(build: &Build, futhark: &Compiler, folder: &Path) -> Result<(), Error> {
    let source = build.source();
    let files = futhark.files_of(source)?;
    let warnings = futhark.generate(build.backend(), source, &folder.join(build.name()))?;
    if futhark.files_of(source)? != files {
        return Err(Error::changing(source));
    }
    write(&folder.join(WARNINGS), warnings)?;
    let mut text = format!(
        "{FIRST_LINE}\nbackend {}\nprogram {}\n",
        build.backend(),
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

/// Larger files are not read.
const LARGEST: u64 = 256 << 20;

/// Fails for a link, a folder, a FIFO or a device, which could block, and for a file that is too large.
fn must_be_regular(path: &Path) -> Result<(), Error> {
    let about = fs::symlink_metadata(path).map_err(|error| Error::io("read", path, error))?;
    match about.is_file() && about.len() <= LARGEST {
        true => Ok(()),
        false => Err(Error::vendored(format!(
            "{} is not a regular file of at most {LARGEST} bytes",
            path.display()
        ))),
    }
}

/// The names in a folder.
fn entries(folder: &Path) -> Result<BTreeSet<OsString>, Error> {
    let failed = |error| Error::io("read", folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let names = entries.map(|entry| Ok(entry.map_err(failed)?.file_name()));
    names.collect()
}

/// The name of a file that differs between two folders.
fn difference(one: &Path, other: &Path) -> Result<Option<OsString>, Error> {
    let mut names = entries(one)?;
    names.extend(entries(other)?);
    let content = |folder: &Path, name: &OsString| fs::read(folder.join(name)).ok();
    let differs = |name: &OsString| content(one, name) != content(other, name);
    Ok(names.into_iter().find(differs))
}

impl Vendored {
    /// Copies the generated files to the folder of `base`, as the compiler would write them there.
    /// Returns the warnings.
    pub(super) fn copy(&self, base: &Path) -> Result<String, Error> {
        let to = base.parent().unwrap_or(Path::new("."));
        let failed = |error| Error::io("copy the generated code in", &self.folder, error);
        for file in &self.files {
            let name = file.file_name().unwrap_or_default();
            fs::copy(file, to.join(name)).map_err(failed)?;
        }
        fs::read_to_string(self.folder.join(WARNINGS)).map_err(failed)
    }
}
