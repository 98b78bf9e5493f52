//! Opens files that a user names.

use std::fs::{File, OpenOptions};
use std::io::{Error, Result};
use std::path::Path;

/// Opens a regular file. Other files can block forever when they are opened or read: a FIFO waits
/// for another process, and a device may be endless.
pub(crate) fn open_regular(path: &Path, options: &mut OpenOptions) -> Result<File> {
    let other = || Err(Error::other("not a regular file"));
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return other();
    }
    // The file may be replaced after this check, so the open must not block either.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, NON_BLOCKING);
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => other(),
    }
}

/// `O_NONBLOCK` on most architectures. On the others, the flag of this value has no effect on
/// existing regular files.
#[cfg(any(target_os = "linux", target_os = "macos"))]
const NON_BLOCKING: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 4 };
