//! Cache files of device code: damaged or stale ones are removed before a driver reads them.
//!
//! The runtime compares a cache file's size and program, but not its content, and passes it to
//! the driver, which may abort the process on a damaged file. It compares only some of the
//! settings that the code was compiled with: code for blocks of 32 threads is run with 256 and
//! computes wrong results. So a second file, the seal, holds a checksum of content, program and
//! settings. A cache file that does not match its seal is removed, and the runtime writes it again.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::checksum::checksum;

/// Serializes the start of contexts that use a cache file: the runtime writes it in several steps, and
/// another thread would seal an incomplete file.
static START: Mutex<()> = Mutex::new(());

/// The cache file of a context that is starting.
pub(crate) struct CacheFile {
    _turn: Turn,
    path: PathBuf,
    /// The file with the checksum.
    seal: PathBuf,
    /// Program and settings that the device code depends on.
    compiled_with: String,
}

impl CacheFile {
    /// Locks the cache file, and removes it unless it matches its seal.
    ///
    /// Errors are ignored: at worst the device code is compiled again. Blocks while another thread or
    /// process starts a context with the same file.
    pub(crate) fn lock(path: &Path, compiled_with: String) -> CacheFile {
        let mut seal = path.as_os_str().to_owned();
        seal.push(".sum");
        let seal = PathBuf::from(seal);
        let file = CacheFile {
            _turn: Turn::of(path, &seal),
            path: path.to_owned(),
            seal,
            compiled_with,
        };
        if let Some(sum) = file.sum()
            && file.sealed().as_deref() != Some(&sum)
        {
            let _ = std::fs::remove_file(&file.path);
        }
        file
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

/// Serializes the starts of contexts that write files of device code, in this process and in others that use the
/// same seal.
pub(crate) struct Turn {
    // Dropped in this order: the file is unlocked before another thread can lock it.
    _lock: Option<File>,
    _turn: MutexGuard<'static, ()>,
}

impl Turn {
    /// Blocks while another thread or process has it.
    pub(crate) fn of(path: &Path, seal: &Path) -> Turn {
        let turn = START.lock().unwrap_or_else(PoisonError::into_inner);
        Turn {
            _lock: lock(path, seal),
            _turn: turn,
        }
    }
}

/// Locks the seal against other processes. `None` if it cannot be created: then the cache file is
/// never sealed, so it is compiled again each time.
fn lock(path: &Path, seal: &Path) -> Option<File> {
    if std::fs::metadata(path).is_ok_and(|cache| !cache.is_file()) {
        return None;
    }
    let file = regular(seal, File::options().append(true).create(true))?;
    file.lock().ok()?;
    Some(file)
}

pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = regular(path, File::options().read(true))?;
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Opens a regular file; `None` if it cannot be opened. Other files can block forever when they are opened or read: a FIFO waits
/// for another process, and a device may be endless.
pub(crate) fn regular(path: &Path, options: &mut OpenOptions) -> Option<File> {
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return None;
    }
    // The file may be replaced after this check, so the open must not block either.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, NON_BLOCKING);
    let file = options.open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// `O_NONBLOCK` on most architectures. On the others, the flag of this value has no effect on
/// existing regular files.
#[cfg(any(target_os = "linux", target_os = "macos"))]
const NON_BLOCKING: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 4 };
