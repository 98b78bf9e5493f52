//! Libraries that were built earlier or elsewhere.

#![allow(unsafe_code, reason = "declares unsafe functions of the public API")]

use std::path::Path;

use futhark_sys::table::SYMBOL;

use super::library::Library;
use crate::error::{Error, ErrorKind, Result};

impl Library {
    /// Opens a library that was compiled earlier, on this machine or one of the same kind. Needs no
    /// compiler. `Artifact::library` of the module `compile` is the file of a build; it can be renamed and
    /// moved.
    ///
    /// The library stays loaded until the process ends. Blocks while it is read.
    ///
    /// ```no_run
    /// use futhark_safe::dynamic::Library;
    ///
    /// // SAFETY: the file was installed with this program, which built it.
    /// let library = unsafe { Library::open("/usr/lib/picture/libblur.so") }?;
    /// println!("{} for {}", library.program_id(), library.backend());
    /// # Ok::<(), futhark_safe::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Load`]: the file cannot be loaded, was not made by the module `compile` of this version, fails its self-test, or its table and its manifest disagree.
    ///
    /// # Safety
    ///
    /// The module `compile` made the file, and it was not changed: loading it runs code in it, and its
    /// table is trusted.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Library> {
        let path = path.as_ref();
        let operation = || format!("open of {}", path.display());
        // The loader would search the system's folders for a bare file name.
        let file = std::path::absolute(path).map_err(|error| {
            let message = "cannot make the path absolute";
            Error::new(ErrorKind::Load, operation(), message).with_source(error)
        })?;
        // SAFETY: the caller promises that `compile` made the file, so the symbol is its table.
        let table = unsafe { futhark_sys::load::open(&file, SYMBOL) };
        let table = table.map_err(|error| {
            let message = "expected a shared object that futhark-sys built";
            Error::new(ErrorKind::Load, operation(), message).with_source(error)
        })?;
        Library::of_table(table)
    }
}
