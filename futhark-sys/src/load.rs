//! Loads shared objects.
//!
//! A library is never unloaded. It can have threads and destructors of thread-local storage, so
//! unmapping it is never known to be safe.

use std::path::Path;

use crate::elf::is_cut_short;
use crate::table::{self, Table};

/// Loads the shared object at `path` and validates its table.
///
/// `symbol` is the name of the table, as the build of the library reports it, or
/// [`table::SYMBOL`]. The library stays loaded until the process ends.
///
/// # Errors
/// [`ErrorKind::File`]: the file cannot be loaded. [`ErrorKind::Symbol`]: it has no such symbol.
/// [`ErrorKind::Table`]: its table belongs to another version of this crate, or has an invalid text.
///
/// # Safety
/// Loading runs the initialisers of the library, and the content of the table is trusted: the file
/// must be an unchanged result of the feature `compile` of this crate.
pub unsafe fn open(path: &Path, symbol: &str) -> Result<&'static Table, Error> {
    let fail = |kind, message: &str| {
        let message = format!("cannot load {}: {message}", path.display());
        Error::new(kind, message)
    };
    // The loader would block on a FIFO until another process writes to it.
    if std::fs::metadata(path).is_ok_and(|file| !file.is_file()) {
        return Err(fail(ErrorKind::File, "not a regular file"));
    }
    if is_cut_short(path).unwrap_or(false) {
        return Err(fail(ErrorKind::File, "its end is missing; copy it again"));
    }
    // SAFETY: the caller promises that the file is a result of a build, whose initialisers are sound.
    let library = unsafe { libloading::Library::new(path) }
        .map_err(|error| fail(ErrorKind::File, "the loader rejects it").with(error))?;
    // SAFETY: the type matches: the caller promises that the file exports a constant
    // `struct fut_table` under this name, and the address of a symbol is a pointer to it.
    let pointer = unsafe { library.get::<*const table::Raw>(symbol.as_bytes()) }
        .map(|symbol| *symbol)
        .map_err(|error| fail(ErrorKind::Symbol, "it has no table").with(error))?;
    // References to the table are `'static`, so the library must stay loaded.
    std::mem::forget(library);
    // SAFETY: the symbol is the address of the table, and the library is never unloaded.
    unsafe { Table::from_raw(pointer) }
        .map_err(|error| fail(ErrorKind::Table, "its table cannot be used").with(error))
}

/// Why a shared object cannot be used.
pub type Error = crate::error::Error<ErrorKind>;

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file does not exist, or the loader of the system rejects it.
    File,
    /// The file has no table of the given name.
    Symbol,
    /// The table cannot be used; the source is a [`table::Error`].
    Table,
}
