//! Libraries that are compiled by this process (feature `compile`).

use futhark_sys::compile::Build;

use super::library::Library;
use crate::error::{Error, ErrorKind, Result};

impl Library {
    /// Compiles a program and loads it (feature `compile`). An earlier build of the same program in the
    /// same folder is reused.
    ///
    /// Blocks while the compilers run. Anyone who can write to the folder of the build can run
    /// code in this process.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Compile`]: [`Build::run`] failed; the source is its error.
    /// [`ErrorKind::Load`]: the library cannot be loaded, or its table and its manifest disagree.
    pub fn build(build: &Build) -> Result<Library> {
        let operation = || format!("build of {}", build.source().display());
        let artifact = build.run().map_err(|error| {
            let message = "cannot compile the program";
            Error::new(ErrorKind::Compile, operation(), message).with_source(error)
        })?;
        let table = artifact.open().map_err(|error| {
            let message = "cannot load the library";
            Error::new(ErrorKind::Load, operation(), message).with_source(error)
        })?;
        Library::of_table(table)
    }
}
