//! Recordings: folders with the build results of some programs, for machines without compilers.
//!
//! ```text
//! DIR/futhark-recording            the version of the Futhark compiler
//! DIR/builds/NAME-BACKEND-KEY/     one build, as `stored.rs` describes
//! DIR/datasets/TYPE                a value of a type
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use futhark_manifest::Version;

use super::compiler::Compiler;
use super::error::{Error, ErrorKind};
use super::paths::{create_folder, write};

const MARK: &str = "futhark-recording";

/// A folder with build results of some programs by one Futhark compiler
/// ([`Build::record`](super::Build::record)).
///
/// It replaces the Futhark and C compilers for these programs ([`Build::recording`](super::Build::recording)) on any
/// machine that can load the libraries. It must be trusted like a compiler, because both can run code. A build is
/// looked up by its inputs (source text, name, backend, options) without running a tool. A changed import or a
/// changed library is an error.
#[derive(Clone, Debug)]
pub struct Recording {
    folder: PathBuf,
    version: Version,
}

impl Recording {
    /// Opens a recording; `None` if the folder is not one.
    #[must_use]
    pub fn open(folder: impl Into<PathBuf>) -> Option<Recording> {
        let folder = folder.into();
        let text = fs::read_to_string(folder.join(MARK)).ok()?;
        // The disk was full.
        let text = Some(text).filter(|text| !text.is_empty())?;
        let version = Version::new(&text);
        Some(Recording { folder, version })
    }

    /// Creates a recording of a compiler, or opens it to add to it.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]: the folder cannot be written, or is a recording of another version.
    pub fn create(folder: impl Into<PathBuf>, compiler: &Compiler) -> Result<Recording, Error> {
        let folder = folder.into();
        let version = compiler.version().clone();
        if let Some(found) = Recording::open(&*folder) {
            return match found.version.text == version.text {
                true => Ok(found),
                false => Err(Error::new(
                    ErrorKind::Io,
                    format!(
                        "expected a recording of Futhark {version}, got one of {}: {}",
                        found.version,
                        folder.display()
                    ),
                )),
            };
        }
        create_folder(&folder.join("datasets"))?;
        write(&folder.join(MARK), &version.text)?;
        Ok(Recording { folder, version })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The version of the compiler.
    #[must_use]
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// As [`Compiler::dataset`]; [`ErrorKind::Io`] if the recording has no value of the type.
    pub fn dataset(&self, ty: &str) -> Result<Vec<u8>, Error> {
        let file = self.folder.join("datasets").join(ty);
        fs::read(&file).map_err(|error| Error::io("read", file, error))
    }

    /// Adds a value of a type, which [`Compiler::dataset`] returned.
    pub fn add_dataset(&self, ty: &str, value: &[u8]) -> Result<(), Error> {
        write(&self.folder.join("datasets").join(ty), value)
    }

    /// The folder of a build.
    pub(super) fn build(&self, name: &str) -> PathBuf {
        self.folder.join("builds").join(name)
    }
}
