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

use super::artifact::Wanted;
use super::error::Error;
use super::paths::{folder_of, hash_of, read};

/// The code for one program and backend.
#[derive(Clone, Debug)]
pub(super) struct Vendored {
    folder: PathBuf,
    pub description: PathBuf,
    /// The version of the compiler that generated the code.
    pub version: Version,
    /// The source and its imports.
    pub sources: Vec<PathBuf>,
    /// The generated files.
    pub files: Vec<PathBuf>,
}

pub(super) const DESCRIPTION: &str = "futhark-vendored";
pub(super) const WARNINGS: &str = "warnings.txt";
pub(super) const FIRST_LINE: &str =
    "Generated. To generate it again: FUTHARK_VENDOR=update cargo build";

/// Opens the code for a build.
pub(super) fn open(folder: &Path, wanted: &Wanted<'_>) -> Result<Vendored, Error> {
    let source = wanted.source;
    if !source.is_file() {
        return Err(Error::no_source(source));
    }
    let file = folder.join(DESCRIPTION);
    let Ok(text) = must_be_regular(&file).and_then(|()| read(&file)) else {
        let message = format!(
            "there is no generated code of {} in {}",
            source.display(),
            folder.display()
        );
        return Err(Error::vendored(message));
    };
    let (mut sources, mut files) = (Vec::new(), Vec::new());
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
                    files.push(path);
                }
            }
            ["source", hash, path] => {
                let path = folder_of(source).join(path);
                must_be_current(&path, hash, folder)?;
                sources.push(path);
            }
            _ => {
                let message = format!("{} has the unknown line `{line}`", file.display());
                return Err(Error::vendored(message));
            }
        }
    }
    expected.remove(OsStr::new(DESCRIPTION));
    let is_complete = !sources.is_empty() && !files.is_empty();
    let Some(options) = options.filter(|_| is_complete) else {
        return Err(Error::vendored(format!("{} is incomplete", file.display())));
    };
    if let Some(name) = expected.first() {
        return Err(Error::vendored(format!(
            "{} is not a file that the Futhark compiler generated for this program",
            folder.join(name).display()
        )));
    }
    if backend != Some(&*wanted.backend.to_string()) {
        return Err(Error::vendored(format!(
            "the code in {} was generated for another backend",
            folder.display()
        )));
    }
    if !options.eq(wanted.options) {
        return Err(Error::vendored(format!(
            "the code in {} was generated with other options for the Futhark compiler",
            folder.display()
        )));
    }
    Ok(Vendored {
        version: version(folder, &wanted.name)?,
        folder: folder.to_owned(),
        description: file,
        sources,
        files,
    })
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
    let text = read(&file)?;
    let manifest = Manifest::parse(&text).map_err(|error| Error::manifest(&file, error))?;
    Ok(Version::new(
        manifest.version.as_deref().unwrap_or_default(),
    ))
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
pub(super) fn entries(folder: &Path) -> Result<BTreeSet<OsString>, Error> {
    let failed = |error| Error::io("read", folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let names = entries.map(|entry| Ok(entry.map_err(failed)?.file_name()));
    names.collect()
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
