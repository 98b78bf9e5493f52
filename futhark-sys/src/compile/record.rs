//! Records builds: writes the folders that [`recording`] describes.

use std::fs;
use std::path::Path;

use super::artifact::Artifact;
use super::build::Build;
use super::cache::Temporary;
use super::compiler::Compiler;
use super::error::Error;
use super::paths::{hash_of, write};
use super::recording::{self, LIBRARY, REFUSED};

/// The result of [`Build::record`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Recorded {
    /// The library.
    Library,
    /// The program does not compile. Building from the recording returns the same error.
    Refusal(Error),
}

impl Build {
    /// Compiles like [`Build::run`], and stores the result in the folder `recording`, which then
    /// replaces the Futhark and C compilers for this build on any machine that can load the library.
    ///
    /// Blocks like [`Build::run`]. Several processes may record into one folder at the same time.
    ///
    /// # Errors
    ///
    /// Errors that do not depend on the program: the source, a compiler or a header is missing,
    /// ISPC rejects the kernels, a file cannot be read or written, the folder is a recording of
    /// another version, or the build itself uses a recording.
    pub fn record(&self, recording: &Path) -> Result<Recorded, Error> {
        let futhark = self.futhark()?;
        recording::begin(recording, futhark.version())?;
        let folder = self.recorded_folder(recording)?;
        let temporary = Temporary::beside(&folder)?;
        let recorded = match self.run() {
            Ok(artifact) => {
                self.keep_library(&futhark, &artifact, temporary.path())?;
                Recorded::Library
            }
            Err(error) => {
                let Some(text) = recording::refused(&error) else {
                    return Err(error);
                };
                write(&temporary.path().join(REFUSED), text)?;
                Recorded::Refusal(error)
            }
        };
        temporary.become_folder(&folder)?;
        Ok(recorded)
    }

    fn keep_library(
        &self,
        futhark: &Compiler,
        artifact: &Artifact,
        folder: &Path,
    ) -> Result<(), Error> {
        let library = artifact.library();
        let header = artifact.header();
        let manifest = header.with_extension("json");
        let warnings = artifact.folder().join("warnings.txt");
        for file in [&library, &header, &manifest, &warnings] {
            let to = folder.join(file.file_name().unwrap_or_default());
            fs::copy(file, to).map_err(|error| Error::io("copy", file, error))?;
        }
        let mut text = format!(
            "symbol {}\nlibrary {}\n",
            artifact.symbol(),
            hash_of(&library)?
        );
        for (name, hash) in futhark.files_of(self.source())?.hashes() {
            if let Some(name) = name {
                text += &format!("{hash} {}\n", name.display());
            }
        }
        write(&folder.join(LIBRARY), text)
    }
}
