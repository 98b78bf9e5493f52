//! The fixed part of our C file: headers, in one folder for all builds of this version.

use std::path::{Path, PathBuf};

use super::cache::{Temporary, is_complete};
use super::error::Error;
use super::paths::write;
use super::unit::FIXED_FILES;

/// The folder with `assert.h`, which takes precedence over that of the system.
pub(super) const OVERRIDE: &str = "override";

/// The folder of the headers below the folder of results, written unless it exists.
///
/// # Errors
///
/// The folder or a file cannot be written.
pub(super) fn folder(results: &Path) -> Result<PathBuf, Error> {
    let sources = &env!("FUTHARK_SYS_SOURCES")[..16];
    let folder = results.join(format!("include-{sources}"));
    if is_complete(&folder) {
        return Ok(folder);
    }
    let new = Temporary::beside(&folder)?;
    let inner = new.path().join(OVERRIDE);
    std::fs::create_dir_all(&inner)
        .map_err(|error| Error::io("create the folder", inner, error))?;
    for (name, text) in FIXED_FILES {
        write(&new.path().join(name), text)?;
    }
    new.complete(&folder)?;
    Ok(folder)
}
