//! The files of a run: their names in the build folder, their replacement, its folder for temporary files, and
//! the removal of what runs that were killed left.
//!
//! Child processes, and the compilers that they start, use the folder for temporary files through `TMPDIR`, so
//! nothing of them outlives it. A run that is killed cannot remove its folder. A later run does, if the folder has
//! not changed for a day, and no process holds the lock of a file in it, which the kernel releases.

use hmac_sha256::Hash;
use regex::Regex;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;
use tempfile::{NamedTempFile, TempDir};

/// The beginning of the names of folders for temporary files.
const PREFIX: &str = "futhark-conformance-";

/// The file in such a folder that its run locks.
const LOCK: &str = "lock";

/// The time without a change after which a file can be of an ended run: longer than any compiler runs.
const QUIET: Duration = Duration::from_secs(24 * 60 * 60);

/// The first 16 hexadecimal digits of a SHA-256 hash over several parts and their lengths.
#[must_use]
pub fn key(parts: &[&[u8]]) -> String {
    let mut hash = Hash::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize()[..8])
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The folder for temporary files of a run. It is removed when the value is dropped. Other users cannot access it.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: TempDir,
    _lock: File,
}

impl TemporaryFolder {
    /// Creates a folder in `root`, and removes those of ended runs.
    pub fn new(root: &Path) -> io::Result<TemporaryFolder> {
        remove_old(root, |entry, data| {
            data.is_dir() && is_of_run(&entry.file_name()) && is_unlocked(&entry.path())
        });
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?;
        let lock = File::create(folder.path().join(LOCK))?;
        // Without locks, the folder's age protects it.
        let _ = lock.try_lock();
        Ok(TemporaryFolder {
            folder,
            _lock: lock,
        })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Whether the name of a folder is that of a temporary one: of the crate tempfile, with six characters.
fn is_of_run(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    rest.is_some_and(|rest| {
        rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Whether no run holds the lock of a folder, or it has none: then its run was killed at once.
fn is_unlocked(folder: &Path) -> bool {
    match File::open(folder.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Removes the temporary files and folders of killed processes from the build folder.
pub fn clean_builds(build_dir: &Path) {
    remove_old(build_dir, |entry, _| {
        entry.file_name().to_str().is_some_and(is_temporary)
    });
}

/// Writes a file, in one step: other processes read either its old content or the new one, and after an error it has
/// its old one. Creates its folder.
pub fn replace_file(file: &Path, content: &[u8]) -> io::Result<()> {
    replace_file_by(file, |out| out.write_all(content))
}

/// As [`replace_file`], with content that need not be in memory.
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

/// Removes the entries of this user in a folder that have not changed for [`QUIET`]. What cannot be removed stays.
fn remove_old(folder: &Path, is_meant: impl Fn(&DirEntry, &Metadata) -> bool) {
    let entries = fs::read_dir(folder).into_iter().flatten();
    for entry in entries.filter_map(Result::ok) {
        // Of a link itself, which is removed and not followed.
        let Ok(data) = entry.metadata() else { continue };
        let age = data.modified().ok().and_then(|time| time.elapsed().ok());
        let is_old = age.is_some_and(|age| age > QUIET) && data.uid() == geteuid().as_raw();
        if is_old && is_meant(&entry, &data) {
            let _ = match data.is_dir() {
                true => fs::remove_dir_all(entry.path()),
                false => fs::remove_file(entry.path()),
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
    fn keys_depend_on_the_boundaries_of_parts() {
        assert_ne!(key(&[b"ab", b"c"]), key(&[b"a", b"bc"]));
        // The names must not change: files of older versions use them.
        assert_eq!(key(&[]), "e3b0c44298fc1c14");
    }

    #[test]
    fn old_folders_of_runs_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let made = |name: &str, is_old: bool| -> PathBuf {
            let folder = root.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("leftover"), "").unwrap();
            age(&folder, if is_old { QUIET } else { Duration::ZERO });
            folder
        };
        let old = made("futhark-conformance-Ab1234", true);
        let fresh = made("futhark-conformance-Ab1235", false);
        let other = made("futhark-conformance-notes", true);
        let running = made("futhark-conformance-Ab1236", true);
        let lock = File::create(running.join(LOCK)).unwrap();
        lock.try_lock().unwrap();
        age(&running, QUIET);
        let report = root.path().join("futhark-conformance-Ab1237");
        fs::write(&report, "").unwrap();
        age(&report, QUIET);
        let path = {
            let folder = TemporaryFolder::new(root.path()).unwrap();
            assert!(!old.exists());
            for kept in [&fresh, &other, &running, &report, folder.path()] {
                assert!(kept.exists(), "{kept:?}");
            }
            folder.path().to_owned()
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
            age(&at(name), QUIET);
        };
        temporary.into_iter().chain(others).for_each(make);
        fs::create_dir(at("new.tmp1-1-f")).unwrap();
        clean_builds(root.path());
        let exists = |name: &&str| at(name).exists();
        assert_eq!(temporary.iter().filter(|name| exists(name)).count(), 0);
        assert!(others.iter().all(exists) && exists(&"new.tmp1-1-f"));
    }
}
