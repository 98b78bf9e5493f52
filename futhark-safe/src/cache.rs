//! Cache files of device code, kept from drivers when they are damaged or not meant.
//!
//! The runtime compares size and program of such a file, not its content, and hands it
//! to the driver, which may end the process over a damaged one. Of what the code was compiled
//! with it compares a part: code for blocks of 32 threads is run with 256 and computes
//! something else. So a second file beside it holds a checksum over content, program and
//! settings, and a cache file that disagrees is removed, to be written anew.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::checksum::checksum;

/// Contexts that use a cache file start one after the other: the runtime writes it in
/// several steps, and whoever looks meanwhile would vouch for a part of it.
static TURN: Mutex<()> = Mutex::new(());

/// The cache file that a context is about to use.
pub(crate) struct CacheFile {
    // In this order: another process goes on before another thread of this one.
    _lock: Option<File>,
    _turn: MutexGuard<'static, ()>,
    path: PathBuf,
    /// Where its checksum is.
    seal: PathBuf,
    /// What the code in it depends on.
    compiled_with: String,
}

impl CacheFile {
    /// Makes sure that what is there was written in full, for the same program and settings, and
    /// never changed. Failing to do so is no failure: it costs the time of compiling again.
    pub(crate) fn check(path: &Path, compiled_with: String) -> CacheFile {
        let mut seal = path.as_os_str().to_owned();
        seal.push(".sum");
        let seal = PathBuf::from(seal);
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let file = CacheFile {
            _lock: lock(path, &seal),
            _turn: turn,
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

    /// After a context has started: what is there now is good.
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

/// Other processes that use the same cache file wait for this one, as other threads do. There
/// is no lock where the file cannot be made: then it cannot vouch for anything either.
fn lock(path: &Path, seal: &Path) -> Option<File> {
    if std::fs::metadata(path).is_ok_and(|cache| !cache.is_file()) {
        return None;
    }
    let file = regular(seal, File::options().append(true).create(true))?;
    file.lock().ok()?;
    Some(file)
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = regular(path, File::options().read(true))?;
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Opens a regular file. Anything else can block for ever, when it is opened or read: a FIFO
/// waits for another process, and a device may have no end.
fn regular(path: &Path, options: &mut OpenOptions) -> Option<File> {
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return None;
    }
    // It may be replaced between the two.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, NON_BLOCKING);
    let file = options.open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// `O_NONBLOCK`, on all processors but a few, where the flag of this value changes nothing
/// about regular files that exist.
#[cfg(any(target_os = "linux", target_os = "macos"))]
const NON_BLOCKING: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 4 };
