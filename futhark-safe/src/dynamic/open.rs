//! Libraries from elsewhere.

#![allow(
    unsafe_code,
    reason = "declares what is unsafe for users; every contract is passed on"
)]

use std::path::Path;

use futhark_sys::table::SYMBOL;

use super::library::Library;
use crate::error::{Error, Kind, Result};

impl Library {
    /// Opens a library that was compiled before, here or on another machine of this kind: no
    /// compiler is needed. [`Artifact::library`](crate::compile::Artifact::library) names the
    /// file of a build; it can be renamed and moved.
    ///
    /// It stays loaded until the process ends. Blocks while it is read.
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
    /// [`Kind::Load`]: the file cannot be loaded, was not made by [`compile`](crate::compile), or by
    /// another version of it; its traps do not work; its table and its manifest disagree.
    ///
    /// # Safety
    ///
    /// The file is as [`compile`](crate::compile) made it: loading it runs code in it, and what
    /// its table says is believed.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Library> {
        let path = path.as_ref();
        let operation = || format!("open of {}", path.display());
        // A name alone would be looked for in the system's folders.
        let file = std::path::absolute(path).map_err(|error| {
            Error::new(Kind::Load, operation(), error.to_string()).with_source(error)
        })?;
        // SAFETY: the caller vouches for the file, in which the table has this name.
        let table = unsafe { futhark_sys::load::open(&file, SYMBOL) };
        let table = table.map_err(|error| {
            let message = format!("{error}; wanted is a shared object that futhark-sys built");
            Error::new(Kind::Load, operation(), message).with_source(error)
        })?;
        Library::of_table(table)
    }
}
