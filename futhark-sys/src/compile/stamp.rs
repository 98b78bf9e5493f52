//! Tells whether a file was replaced or written, without reading it.

use std::fmt::Write as _;
use std::path::Path;

/// The real path, size and time of a file. Equal for a copy that keeps them, such as an unpacked archive
/// at the same path.
pub(super) fn of(file: &Path) -> String {
    // Links are resolved, because the target of a link can change. A missing file causes an error
    // when it is run.
    let place = file.canonicalize().ok();
    let data = file.metadata().ok();
    let changed = data.as_ref().and_then(|data| data.modified().ok());
    format!("{place:?} {:?} {changed:?}", data.map(|data| data.len()))
}

/// As [`of`], but another file at the same path is different, too. The same after changes that leave the
/// content as it is, such as new links and permissions.
pub(super) fn of_file(file: &Path) -> String {
    let mut stamp = of(file);
    #[cfg(unix)]
    if let Ok(data) = file.metadata() {
        use std::os::unix::fs::MetadataExt;
        let _ = write!(stamp, " {:?}", (data.dev(), data.ino()));
    }
    stamp
}

/// As [`of_file`], but different after every change. A program can set the time of a file at which its
/// content changed, but not that at which the system noticed it.
pub(super) fn exact(file: &Path) -> String {
    let mut stamp = of_file(file);
    #[cfg(unix)]
    if let Ok(data) = file.metadata() {
        use std::os::unix::fs::MetadataExt;
        let _ = write!(stamp, " {}.{}", data.ctime(), data.ctime_nsec());
    }
    stamp
}
