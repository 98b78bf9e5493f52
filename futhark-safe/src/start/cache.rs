//! Cache files of device code: damaged or stale ones are removed before a driver reads them.
//!
//! The runtime compares a cache file's size and program, but not its content, and passes it to
//! the driver, which may abort the process on a damaged file. It compares only some of the
//! settings that the code was compiled with: code for blocks of 32 threads is run with 256 and
//! computes wrong results. So a second file, the seal, holds a checksum of content, program and
//! settings. A cache file that does not match its seal is removed, and the runtime writes it again.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ffi::Quiet;
use crate::tuning::regular;
use futhark_sys::checksum::checksum;

/// Serializes the start of contexts that use a cache file: the runtime writes it in several steps, and
/// another thread would seal an incomplete file.
static START: Mutex<()> = Mutex::new(());

/// The cache file of a context that is starting.
pub(crate) struct CacheFile {
    path: PathBuf,
    /// The file with the checksum.
    seal: PathBuf,
    /// Program and settings that the device code depends on.
    compiled_with: String,
}

/// The file with the checksum of a file of device code.
pub(crate) fn seal_of(path: &Path) -> PathBuf {
    let mut seal = path.as_os_str().to_owned();
    seal.push(".sum");
    seal.into()
}

impl CacheFile {
    pub(crate) fn new(path: &Path, compiled_with: String) -> CacheFile {
        CacheFile {
            path: path.to_owned(),
            seal: seal_of(path),
            compiled_with,
        }
    }

    /// Removes the file unless it matches its seal. The caller has the [`Turn`].
    ///
    /// Errors are ignored: at worst the device code is compiled again.
    pub(crate) fn remove_if_stale(&self) {
        if let Some(sum) = self.sum()
            && self.sealed().as_deref() != Some(&sum)
        {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Seals the file after the context started, when it is complete.
    pub(crate) fn seal(&self) {
        if let Some(sum) = self.sum()
            && self.sealed().as_deref() != Some(&sum)
            && let Some(mut file) = regular(&self.seal, File::options().write(true).create(true))
        {
            let _ = file
                .set_len(0)
                .and_then(|()| file.write_all(sum.as_bytes()));
        }
    }

    /// The checksum of the cache file, if it is a regular file.
    fn sum(&self) -> Option<String> {
        let bytes = read(&self.path)?;
        let parts = [self.compiled_with.as_bytes(), &bytes];
        Some(format!("{:016x}\n", checksum(&parts)))
    }

    fn sealed(&self) -> Option<String> {
        String::from_utf8(read(&self.seal)?).ok()
    }
}

/// Exclusive use of files of device code, in this process and in others. Contexts start under it, so no text is
/// passed to writers of logs meanwhile: they could start contexts.
pub(crate) struct Turn {
    // Dropped in this order: files are unlocked before another thread can lock them.
    _locks: Vec<File>,
    _turn: MutexGuard<'static, ()>,
    _quiet: Quiet,
}

impl Turn {
    /// Takes the turn for files, by their paths; those to be written are created. Blocks while another thread or
    /// process has it.
    pub(crate) fn of(written: &[&Path], loaded: Option<&Path>) -> Turn {
        let quiet = Quiet::new();
        let turn = START.lock().unwrap_or_else(PoisonError::into_inner);
        let written = written.iter().map(|path| (seal_of(path), *path, true));
        let loaded = loaded.iter().map(|path| (seal_of(path), *path, false));
        let mut files: Vec<(PathBuf, &Path, bool)> = written.chain(loaded).collect();
        // In one order, so that processes do not wait for each other; each once.
        files.sort_by(|a, b| (&a.0, !a.2).cmp(&(&b.0, !b.2)));
        files.dedup_by(|a, b| a.0 == b.0);
        Turn {
            _locks: files
                .iter()
                .filter_map(|(seal, path, create)| lock(path, seal, *create))
                .collect(),
            _turn: turn,
            _quiet: quiet,
        }
    }
}

/// Locks the seal against other processes. `None` if it cannot be created: then a cache file is
/// never sealed, so it is compiled again each time.
fn lock(path: &Path, seal: &Path, create: bool) -> Option<File> {
    if std::fs::metadata(path).is_ok_and(|cache| !cache.is_file()) {
        return None;
    }
    let file = regular(seal, File::options().append(true).create(create))?;
    file.lock().ok()?;
    Some(file)
}

pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = regular(path, File::options().read(true))?;
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
