//! The folder for temporary files of a run, and the removal of what runs that were killed left.
//!
//! Child processes, and the compilers that they start, use the folder through `TMPDIR`, so nothing of
//! them outlives it. A run that is killed cannot remove its folder. The next run does, if the lock of
//! the folder is free, which the kernel releases when the process ends, and if the folder has not
//! changed for some time, because not every file system has locks.

use regex::Regex;
use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;
use tempfile::{NamedTempFile, TempDir};

/// The beginning of the names of these folders.
const PREFIX: &str = "futhark-conformance-";

/// The file in the folder that its run locks.
const LOCK: &str = "lock";

/// The time without a change after which a folder can be of an ended run.
const QUIET: Duration = Duration::from_secs(60 * 60);

/// The same for files in the build folder, which have no lock: longer than any compiler runs.
const QUIET_BUILD: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder for temporary files, which is removed when this value is dropped. Other users cannot
/// access it.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    // Closing the file releases the lock.
    _lock: File,
}

impl Scratch {
    /// Creates a folder in `root`, and removes those of ended runs.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new(root: &Path) -> io::Result<Scratch> {
        remove_ended(root);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?;
        let lock = File::create(folder.path().join(LOCK))?;
        // Without locks, the folder's age protects it.
        let _ = flock(&lock, FlockOperation::NonBlockingLockExclusive);
        Ok(Scratch {
            folder,
            _lock: lock,
        })
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders of ended runs. What cannot be removed stays.
fn remove_ended(root: &Path) {
    let is_ended = |folder: &Path| match File::open(folder.join(LOCK)) {
        Ok(lock) => flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok(),
        // Its run was killed before it created the lock.
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    remove(root, QUIET, |name, data, path| {
        name.starts_with(PREFIX) && data.is_dir() && is_ended(path)
    });
}

/// Removes the temporary files and folders of killed processes from the build folder.
pub fn clean_builds(build_dir: &Path) {
    remove(build_dir, QUIET_BUILD, |name, _, _| is_temporary(name));
}

/// Writes a file, in one step: other processes read either its old content or the new one. Creates its folder.
///
/// # Errors
/// If the folder or the file cannot be written; then the file is as it was.
pub fn replace_file(file: &Path, content: &[u8]) -> io::Result<()> {
    replace_file_by(file, |out| out.write_all(content))
}

/// As [`replace_file`], with content that need not be in memory.
///
/// # Errors
/// As [`replace_file`].
pub fn replace_file_by(
    file: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let new = new_beside(file)?;
    let mut out = BufWriter::new(new);
    content(&mut out)?;
    out.into_inner()?.persist(file)?;
    Ok(())
}

/// A temporary file in the folder of a file, which it creates.
///
/// # Errors
/// If the folder or the file cannot be written.
pub fn new_beside(file: &Path) -> io::Result<NamedTempFile> {
    let folder = file.parent().filter(|f| !f.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // By default, only this user could read it. The umask of the process applies.
    tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

/// Whether a name in the build folder is one of futhark-sys, `NAME.tmpPROCESS-NUMBER-TIME`, or of the
/// crate tempfile, `.tmp` and six characters.
fn is_temporary(name: &str) -> bool {
    static TEMPORARY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(.+\.tmp[0-9]+-[0-9]+-[0-9A-Za-z]*|\.tmp[0-9A-Za-z]{6})$")
            .expect("a valid expression")
    });
    TEMPORARY.is_match(name)
}

/// Removes the entries of this user in a folder that have not changed for this time.
fn remove(folder: &Path, quiet: Duration, is_meant: impl Fn(&str, &Metadata, &Path) -> bool) {
    let entries = fs::read_dir(folder).into_iter().flatten();
    for entry in entries.filter_map(Result::ok) {
        let (name, path) = (entry.file_name(), entry.path());
        let Some(name) = name
            .to_str()
            .filter(|name| name.contains("tmp") || name.starts_with(PREFIX))
        else {
            continue;
        };
        // Of a link itself, which is removed and not followed.
        let Ok(data) = fs::symlink_metadata(&path) else {
            continue;
        };
        let age = data.modified().ok().and_then(|time| time.elapsed().ok());
        let is_old = age.is_some_and(|age| age > quiet) && data.uid() == geteuid().as_raw();
        if is_old && is_meant(name, &data, &path) {
            let _ = match data.is_dir() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::time::SystemTime;

    fn age(path: &Path, age: Duration) {
        let time = SystemTime::now() - age - Duration::from_secs(1);
        File::open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn folders_of_ended_runs_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let running = Scratch::new(root.path()).unwrap();
        age(running.path(), QUIET);
        let ended = |name: &str, has_lock: bool, is_old: bool| -> PathBuf {
            let folder = at(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("leftover"), "").unwrap();
            if has_lock {
                fs::write(folder.join(LOCK), "").unwrap();
            }
            age(&folder, if is_old { QUIET } else { Duration::ZERO });
            folder
        };
        let old = [
            ended("futhark-conformance-1", true, true),
            ended("futhark-conformance-2", false, true),
        ];
        let fresh = ended("futhark-conformance-3", true, false);
        let other = ended("other", true, true);
        std::os::unix::fs::symlink(&other, at("futhark-conformance-link")).unwrap();
        let path = {
            let scratch = Scratch::new(root.path()).unwrap();
            assert!(old.iter().all(|folder| !folder.exists()));
            for kept in [running.path(), &fresh, &other, scratch.path()] {
                assert!(kept.is_dir(), "{kept:?}");
            }
            scratch.path().to_owned()
        };
        assert!(!path.exists());
    }

    #[test]
    fn temporary_files_in_the_build_folder_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let temporary = ["a-c-0123.tmp77-0-18eb296a7c28e4b2", ".tmpAb3dEf"];
        let others = [
            "a-c-0123",
            "a.tmp",
            ".tmpfiles",
            "a.tmpx-1-2",
            "b.tmp123456",
            "sub/.tmp123456",
        ];
        let make = |name: &str| {
            fs::create_dir_all(at(name)).unwrap();
            fs::write(at(name).join("file"), "").unwrap();
            age(&at(name), QUIET_BUILD);
        };
        temporary.into_iter().chain(others).for_each(make);
        fs::create_dir(at("new.tmp1-1-f")).unwrap();
        clean_builds(root.path());
        let exists = |name: &&str| at(name).exists();
        assert_eq!(temporary.iter().filter(|name| exists(name)).count(), 0);
        assert!(others.iter().all(exists) && exists(&"new.tmp1-1-f"));
    }
}
