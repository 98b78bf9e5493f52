//! The default folder for build results. It is private to the user, because libraries from it are
//! loaded into the process.

use std::path::{Path, PathBuf};

use super::error::{Error, ErrorKind};

/// Returns the folder `name` in the user's cache folder (`XDG_CACHE_HOME`, or `.cache` in `HOME`),
/// created if it does not exist.
///
/// On Unix it is owned by the user of this process, and no other user can read or write it.
///
/// # Errors
///
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
    std::fs::create_dir_all(&cache)
        .map_err(|error| Error::io("create the folder", cache, error))?;
    make_private(&folder)?;
    Ok(folder)
}

#[cfg(unix)]
fn make_private(folder: &Path) -> Result<(), Error> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};

    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(Error::io("create the folder", folder, error));
        }
        _ => {}
    }
    // The owner of a link could redirect it to another folder, so links are refused.
    let found = std::fs::symlink_metadata(folder)
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

/// The effective user of this process.
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
    std::fs::create_dir_all(folder).map_err(|error| Error::io("create the folder", folder, error))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
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
