//! The folders of build results: the default one, which is private to the user, because libraries from it
//! are loaded into the process; and the folders in it, each of which has its final name only when it is
//! complete.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::error::{Error, ErrorKind};
use super::paths::{create_folder, entries, folder_of, write};

/// The list of the files of a complete folder, one per line: size and name.
const LIST: &str = "done";

/// The last line of the list.
const END: &str = "end\n";

/// Returns the folder `name` in the user's cache folder (`XDG_CACHE_HOME`, or `.cache` in `HOME`),
/// created if it does not exist.
///
/// On Unix it is owned by the user of this process, and no other user can read or write it.
///
/// # Errors
/// [`ErrorKind::Io`]: neither variable is an absolute path, the folder cannot be created, or it is
/// a link, belongs to another user, or other users can access it.
pub fn cache_folder(name: &str) -> Result<PathBuf, Error> {
    let variable = |name| {
        let value = std::env::var_os(name).map(PathBuf::from);
        value.filter(|value| value.is_absolute())
    };
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let Some(cache) = cache else {
        return Err(Error::new(
            ErrorKind::Io,
            "no cache folder for build results: neither XDG_CACHE_HOME nor HOME is an absolute path. \
             Set one of them, or select a folder (Build::out_dir)",
        ));
    };
    let folder = cache.join(name);
    create_folder(&cache)?;
    make_private(&folder)?;
    Ok(folder)
}

#[cfg(unix)]
fn make_private(folder: &Path) -> Result<(), Error> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};

    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(Error::io("create the folder", folder, error));
        }
        _ => {}
    }
    // The owner of a link could redirect it to another folder, so links are refused.
    let found = fs::symlink_metadata(folder)
        .map_err(|error| Error::io("inspect the folder", folder, error))?;
    let (user, mode) = (user(), found.mode() & 0o777);
    if found.is_dir() && found.uid() == user && mode & 0o077 == 0 {
        return Ok(());
    }
    let message = format!(
        "{} must be a folder that only this user can access, since libraries in it are loaded: \
         expected user {user} and mode 700, got user {} and mode {mode:o}{}. Remove it, or select another folder (Build::out_dir)",
        folder.display(),
        found.uid(),
        if found.is_dir() { "" } else { ", not a folder" },
    );
    Err(Error::new(ErrorKind::Io, message))
}

#[cfg(unix)]
fn user() -> u32 {
    unsafe extern "C" {
        fn geteuid() -> u32;
    }
    // SAFETY: POSIX: takes nothing, cannot fail, and any thread may call it; `uid_t` is 32 bits
    // wide and unsigned on every Unix that Rust's standard library knows.
    unsafe { geteuid() }
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> Result<(), Error> {
    create_folder(folder)
}

/// A path beside `path` that nothing else uses. The time distinguishes processes of equal numbers on two
/// machines, or in two containers, that share the folder.
pub(super) fn temporary(path: &Path) -> PathBuf {
    /// Distinguishes threads of this process.
    static NUMBER: AtomicUsize = AtomicUsize::new(0);

    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    path.with_extension(format!(
        "tmp{}-{}-{:x}",
        std::process::id(),
        NUMBER.fetch_add(1, Ordering::Relaxed),
        now.unwrap_or_default().as_nanos()
    ))
}

/// A folder that is renamed when it is complete, and otherwise removed.
pub(super) struct Temporary(PathBuf);

impl Temporary {
    pub(super) fn beside(folder: &Path) -> Result<Temporary, Error> {
        let temporary = temporary(folder);
        create_folder(folder_of(&temporary))?;
        // A folder that exists is not ours, and would be removed.
        let created = fs::create_dir(&temporary);
        created.map_err(|error| Error::io("create the folder", &temporary, error))?;
        Ok(Temporary(temporary))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Renames the folder when its files are on the disk, unless another process was first.
    pub(super) fn complete(self, folder: &Path) -> Result<(), Error> {
        list_files(&self.0)?;
        self.rename(folder, is_complete)
    }

    /// Replaces `folder`, unless another process does at the same time.
    pub(super) fn become_folder(self, folder: &Path) -> Result<(), Error> {
        let _ = fs::remove_dir_all(folder);
        self.rename(folder, Path::is_dir)
    }

    /// Renames the folder, or replaces what is not `good`. Another process can do the same meanwhile.
    fn rename(self, folder: &Path, good: fn(&Path) -> bool) -> Result<(), Error> {
        for _ in 0..2 {
            match fs::rename(&self.0, folder) {
                Err(_) if !good(folder) => drop(fs::remove_dir_all(folder)),
                _ => return Ok(()),
            }
        }
        let renamed = fs::rename(&self.0, folder);
        renamed.map_err(|error| Error::io("rename", &self.0, error))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes the list of the files in a folder. Each file is on the disk before: after a crash, a renamed folder can
/// contain files without their content otherwise.
fn list_files(folder: &Path) -> Result<(), Error> {
    let mut list = String::new();
    for path in entries(folder)? {
        // Only debuggers read the folders in it.
        if path.is_file() {
            let size = store(&path)?;
            let name = path.file_name().unwrap_or_default();
            list += &format!("{size} {}\n", name.display());
        }
    }
    let path = folder.join(LIST);
    write(&path, list + END)?;
    store(&path).map(drop)
}

/// Waits until a file is on the disk, and returns its size.
fn store(path: &Path) -> Result<u64, Error> {
    let stored = File::open(path).and_then(|file| {
        file.sync_all()?;
        Ok(file.metadata()?.len())
    });
    stored.map_err(|error| Error::io("store", path, error))
}

/// Whether a folder was renamed by [`Temporary::complete`], and every file is still there in its size: a part of it can be
/// removed, or copied by a tool that was interrupted.
pub(super) fn is_complete(folder: &Path) -> bool {
    let list = fs::read_to_string(folder.join(LIST)).unwrap_or_default();
    let is_kept = |line: &str| {
        line.split_once(' ').is_some_and(|(size, name)| {
            let file = fs::metadata(folder.join(name));
            file.is_ok_and(|file| file.is_file() && file.len().to_string() == size)
        })
    };
    list.strip_suffix(END)
        .is_some_and(|list| list.lines().all(is_kept))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    #[test]
    fn folders_that_others_can_access_are_refused() {
        let base = std::env::temp_dir().join(format!("futhark-sys-cache-{}", std::process::id()));
        fs::create_dir(&base).unwrap();
        let folder = base.join("private");
        make_private(&folder).unwrap();
        assert_eq!(
            fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
            0o700
        );
        make_private(&folder).expect("an existing private folder is accepted");
        let refused = |folder: &Path, why: &str| {
            let error = make_private(folder).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        };

        symlink(&folder, base.join("link")).unwrap();
        refused(&base.join("link"), "not a folder");
        for mode in [0o777, 0o770, 0o750] {
            fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            refused(&folder, &format!("got user {} and mode {mode:o}", user()));
        }
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        // Only root can change the owner of a folder; other users test a folder of root.
        let other = match user() {
            0 => chown(&folder, Some(65_534), None).map(|()| folder).unwrap(),
            _ => PathBuf::from("/"),
        };
        refused(&other, "expected user");
        fs::remove_dir_all(&base).unwrap();
    }
}
