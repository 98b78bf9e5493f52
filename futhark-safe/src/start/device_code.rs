//! Files of compiled device code: the cache file, and files that one start writes and others load.
//!
//! The runtime compares a cache file's size and program, but not its content, and passes it to
//! the driver, which may abort the process on a damaged file. It compares only some of the
//! settings that the code was compiled with: code for blocks of 32 threads is run with 256 and
//! computes wrong results. Code for another program or with other sizes corrupts memory.
//!
//! So a second file, the seal, holds a checksum of code, program and settings. A cache file that does not match its
//! seal is removed, and the runtime writes it again. The seal of a file to be loaded also has the device, whose limits
//! determine sizes. Only a sealed file is loaded, unless the caller promises more.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futhark_sys::checksum::checksum;

use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{Core, Quiet};
use crate::observe::Device;
use crate::regular_file::open_regular;

/// Serializes the start of contexts that use a cache file: the runtime writes it in several steps, and
/// another thread would seal an incomplete file.
static START: Mutex<()> = Mutex::new(());

pub(crate) struct CodeFile<'a> {
    path: &'a Path,
    /// The file with the checksum.
    seal: PathBuf,
    /// Program and settings that the code depends on.
    compiled_with: String,
}

fn seal_of(path: &Path) -> PathBuf {
    let mut seal = path.as_os_str().to_owned();
    seal.push(".sum");
    seal.into()
}

impl<'a> CodeFile<'a> {
    pub(crate) fn new(path: &'a Path, compiled_with: String) -> CodeFile<'a> {
        CodeFile {
            path,
            seal: seal_of(path),
            compiled_with,
        }
    }

    /// Removes a cache file unless it matches its seal. The caller has the [`Turn`].
    ///
    /// Errors are ignored: at worst the device code is compiled again.
    pub(crate) fn remove_if_stale(&self) {
        if self.lacks_seal().is_some() {
            let _ = std::fs::remove_file(self.path);
        }
    }

    /// Seals a cache file after the context started, when it is complete.
    pub(crate) fn seal_cache(&self) {
        if let Some(seal) = self.lacks_seal() {
            self.write_seal(&seal);
        }
    }

    /// The expected seal of a cache file whose seal is missing or differs; `None` if it matches, or the file is not a regular one.
    fn lacks_seal(&self) -> Option<String> {
        let seal = self.seal_for(&read(self.path)?, "");
        (self.sealed().as_ref() != Some(&seal)).then_some(seal)
    }

    pub(crate) fn seal(&self, core: &Core) -> Result<()> {
        let code = read(self.path).ok_or_else(|| self.fail("cannot read it"))?;
        let device = core.device()?.unwrap_or_default();
        self.write_seal(&self.seal_for(&code, &device))
            .ok_or_else(|| self.fail(format!("cannot write {}", self.seal.display())))
    }

    /// Checks the file before the driver reads it. Returns the device that it was compiled for.
    pub(crate) fn check(&self) -> Result<Device> {
        let code = read(self.path).ok_or_else(|| self.fail("cannot read it as a regular file"))?;
        let seal = self.sealed().ok_or_else(|| {
            self.fail(format!(
                "its checksum {} is missing; use both files that Config::dump_device_code wrote",
                self.seal.display()
            ))
        })?;
        let (_, device) = seal.split_once('\n').unwrap_or((&seal, ""));
        match Device::parse(device).pop() {
            Some(expected) if !code.is_empty() && seal == self.seal_for(&code, device) => {
                Ok(expected)
            }
            _ => Err(self.fail(
                "it is damaged, or was written by another program or with other settings; \
                 write it again with Config::dump_device_code",
            )),
        }
    }

    pub(crate) fn wrong_device(&self, expected: &Device, device: &Device) -> Error {
        self.fail(format!(
            "it was written for {expected}, but the context may use {device}; choose a device with \
             Config::device, or write it again with Config::dump_device_code"
        ))
    }

    /// The content of the seal: the checksum, and a line per line of `device`.
    fn seal_for(&self, code: &[u8], device: &str) -> String {
        let parts = [self.compiled_with.as_bytes(), device.as_bytes(), code];
        format!("{:016x}\n{device}", checksum(&parts))
    }

    fn sealed(&self) -> Option<String> {
        String::from_utf8(read(&self.seal)?).ok()
    }

    fn write_seal(&self, seal: &str) -> Option<()> {
        let mut file = open_regular(&self.seal, File::options().write(true).create(true)).ok()?;
        file.set_len(0).ok()?;
        file.write_all(seal.as_bytes()).ok()
    }

    fn fail(&self, why: impl Into<Cow<'static, str>>) -> Error {
        let operation = format!("device code in {}", self.path.display());
        Error::new(ErrorKind::Load, operation, why)
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
    /// Takes the turn for files, each with whether it will be written. Blocks while another thread or process has it.
    pub(crate) fn wait_for(files: &[(&Path, bool)]) -> Turn {
        let quiet = Quiet::new();
        let turn = START.lock().unwrap_or_else(PoisonError::into_inner);
        let files = files.iter();
        let mut seals: Vec<_> = files
            .filter_map(|&(path, written)| open_seal(path, written))
            .collect();
        // In one order, so that processes do not wait for each other; each once, since a second lock of a file would
        // wait for the first.
        seals.sort_by(|a, b| a.0.cmp(&b.0));
        seals.dedup_by(|a, b| a.0 == b.0);
        let locks = seals.into_iter().map(|(_, seal)| seal);
        Turn {
            _locks: locks.filter(|seal| seal.lock().is_ok()).collect(),
            _turn: turn,
            _quiet: quiet,
        }
    }
}

/// Opens the seal, which is locked against other processes, and returns what tells it from other files by any path.
/// `None` if it cannot be created, which only a file to be written needs: then a cache file is never sealed, so it is
/// compiled again each time.
fn open_seal(path: &Path, create: bool) -> Option<(impl Ord + use<>, File)> {
    if std::fs::metadata(path).is_ok_and(|cache| !cache.is_file()) {
        return None;
    }
    let seal = seal_of(path);
    let file = open_regular(&seal, File::options().append(true).create(create)).ok()?;
    #[cfg(unix)]
    let identity = {
        use std::os::unix::fs::MetadataExt as _;
        let seal = file.metadata().ok()?;
        (seal.dev(), seal.ino())
    };
    #[cfg(not(unix))]
    let identity = seal.canonicalize().unwrap_or(seal);
    Some((identity, file))
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = open_regular(path, File::options().read(true)).ok()?;
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(all(test, feature = "dynamic", unix))]
mod tests {
    use super::*;
    use crate::fake_tests::in_time;

    /// A configuration can name one file as the cache and as the dump, in two ways.
    #[test]
    fn a_file_with_two_paths_is_locked_once() {
        in_time(|| {
            let folder = std::env::temp_dir().join(format!("futhark-turn-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let path = folder.join("code");
            let paths = ["./code", "link", "hard"].map(|name| folder.join(name));
            std::fs::write(seal_of(&path), "").unwrap();
            std::os::unix::fs::symlink(seal_of(&path), seal_of(&paths[1])).unwrap();
            std::fs::hard_link(seal_of(&path), seal_of(&paths[2])).unwrap();
            let files: Vec<_> = paths.iter().map(|path| (&**path, true)).collect();
            assert_eq!(Turn::wait_for(&files)._locks.len(), 1);
            std::fs::remove_dir_all(&folder).unwrap();
        });
    }
}
