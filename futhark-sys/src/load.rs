//! Shared objects: open one, find its table, keep it for ever.
//!
//! A loaded library is never closed. Its code runs destructors of thread-local
//! storage and may have threads; no moment is known at which unmapping it is safe.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::table::{self, Table};

/// Opens the shared object at `path` and gives its table, checked.
///
/// `symbol` is the name of the table: as the build that made the library reports it, or
/// [`table::SYMBOL`], which every library of ours has. The library stays loaded until the
/// process ends.
///
/// # Errors
///
/// The file cannot be loaded, has no such symbol, or its table does not belong to
/// this version of the crate.
///
/// # Safety
///
/// Loading runs the library's initialisers, and the table is believed: the file
/// must be one that [`crate::compile`] made, unchanged.
pub unsafe fn open(path: &Path, symbol: &str) -> Result<&'static Table, LoadError> {
    let fail = |why: String| LoadError {
        path: path.to_path_buf(),
        why,
    };
    // The loader would wait for somebody who writes into a FIFO.
    if std::fs::metadata(path).is_ok_and(|file| !file.is_file()) {
        return Err(fail("not a regular file".to_owned()));
    }
    // SAFETY: the caller vouches for the file, so its initialisers may run.
    let library =
        unsafe { libloading::Library::new(path) }.map_err(|error| fail(error.to_string()))?;
    // SAFETY: the type matches: the file exports a constant `struct fut_table` under
    // this name (the caller vouches), and the address of a symbol is a pointer to it.
    let pointer = unsafe { library.get::<*const table::Raw>(symbol.as_bytes()) }
        .map(|symbol| *symbol)
        .map_err(|error| fail(error.to_string()))?;
    // The table and all that it points to must outlive every user.
    std::mem::forget(library);
    // SAFETY: the symbol is the table's address and the library is never closed.
    unsafe { Table::from_raw(pointer) }.map_err(|error| fail(error.to_string()))
}

/// Why a shared object could not be used.
pub struct LoadError {
    path: PathBuf,
    why: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot load {}: {}", self.path.display(), self.why)
    }
}

/// The text of `Display`: this is what `unwrap` and a failing `main` print.
impl fmt::Debug for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LoadError {}
