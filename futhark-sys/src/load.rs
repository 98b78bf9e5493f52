//! Loads shared objects.
//!
//! A library is never unloaded. It can have threads and destructors of thread-local storage, so
//! unmapping it is never known to be safe.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::table::{self, Table};

/// Loads the shared object at `path` and validates its table.
///
/// `symbol` is the name of the table, as the build of the library reports it, or
/// [`table::SYMBOL`]. The library stays loaded until the process ends.
///
/// # Errors
///
/// The file cannot be loaded, has no such symbol, or its table belongs to another version of this
/// crate.
///
/// # Safety
///
/// Loading runs the initialisers of the library, and the content of the table is trusted: the file
/// must be an unchanged result of the feature `compile` of this crate.
pub unsafe fn open(path: &Path, symbol: &str) -> Result<&'static Table, LoadError> {
    let fail = |why: String| LoadError {
        path: path.to_path_buf(),
        why,
    };
    // The loader would block on a FIFO until another process writes to it.
    if std::fs::metadata(path).is_ok_and(|file| !file.is_file()) {
        return Err(fail("not a regular file".to_owned()));
    }
    // SAFETY: the caller promises that the file is a result of a build, whose initialisers are sound.
    let library =
        unsafe { libloading::Library::new(path) }.map_err(|error| fail(error.to_string()))?;
    // SAFETY: the type matches: the caller promises that the file exports a constant
    // `struct fut_table` under this name, and the address of a symbol is a pointer to it.
    let pointer = unsafe { library.get::<*const table::Raw>(symbol.as_bytes()) }
        .map(|symbol| *symbol)
        .map_err(|error| fail(error.to_string()))?;
    // References to the table are `'static`, so the library must stay loaded.
    std::mem::forget(library);
    // SAFETY: the symbol is the address of the table, and the library is never unloaded.
    unsafe { Table::from_raw(pointer) }.map_err(|error| fail(error.to_string()))
}

/// Why a shared object cannot be used.
pub struct LoadError {
    path: PathBuf,
    why: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot load {}: {}", self.path.display(), self.why)
    }
}

/// The same as `Display`: `unwrap` and a failing `main` print it.
impl fmt::Debug for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LoadError {}
