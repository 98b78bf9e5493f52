//! The fixed part of our C file: headers, in one folder for all builds of this version.

use std::path::{Path, PathBuf};

use super::error::Error;
use super::recording::{Temporary, write};
use super::unit::FIXED_FILES;

/// The folder with `assert.h`, which takes precedence over that of the system.
pub(super) const OVERRIDE: &str = "override";

/// The last file that is written.
const DONE: &str = "done";

/// The folder of the headers below the folder of results, written unless it exists.
///
/// # Errors
///
/// The folder or a file cannot be written.
pub(super) fn folder(results: &Path) -> Result<PathBuf, Error> {
    let sources = &env!("FUTHARK_SYS_SOURCES")[..16];
    let folder = results.join(format!("include-{sources}"));
    if folder.join(DONE).is_file() {
        return Ok(folder);
    }
    let new = Temporary::beside(&folder)?;
    let inner = new.path().join(OVERRIDE);
    std::fs::create_dir_all(&inner)
        .map_err(|error| Error::io("create the folder", inner, error))?;
    for (name, text) in FIXED_FILES {
        write(&new.path().join(name), text)?;
    }
    write(&new.path().join(DONE), "")?;
    new.complete(&folder, DONE)?;
    Ok(folder)
}
