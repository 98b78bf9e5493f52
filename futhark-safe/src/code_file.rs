//! Files of compiled device code: written by one start, loaded by others.
//!
//! A driver may crash on a damaged file, and code for another program or with other sizes corrupts
//! memory. So a second file, the seal, holds a checksum of code, program and settings, and the
//! device, whose limits determine sizes. Only a sealed file is loaded, unless the caller promises more.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::cache::{read, regular};
use crate::checksum::checksum;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::Core;

/// A file of device code that a context loads or writes.
pub(crate) struct CodeFile<'a> {
    path: &'a Path,
    seal: PathBuf,
    /// Program and settings that the code depends on.
    compiled_with: String,
}

impl<'a> CodeFile<'a> {
    pub(crate) fn new(path: &'a Path, compiled_with: String) -> CodeFile<'a> {
        let mut seal = path.as_os_str().to_owned();
        seal.push(".sum");
        CodeFile {
            path,
            seal: seal.into(),
            compiled_with,
        }
    }

    /// Seals the file that `core` wrote when it started.
    pub(crate) fn seal(&self, core: &Core) -> Result<()> {
        use std::io::Write as _;
        let code = read(self.path).unwrap_or_default();
        let device = core.device()?.unwrap_or_default();
        let text = format!("{}\n{device}", self.sum(&code, &device));
        let file = regular(&self.seal, File::options().write(true).create(true));
        let written = file.and_then(|mut file| {
            file.set_len(0).ok()?;
            file.write_all(text.as_bytes()).ok()
        });
        written.ok_or_else(|| self.fail(&format!("cannot write {}", self.seal.display())))
    }

    /// Checks the file before the driver reads it. Returns the device that it was compiled for.
    pub(crate) fn check(&self) -> Result<String> {
        let code = read(self.path).ok_or_else(|| self.fail("cannot read it as a regular file"))?;
        let seal = read(&self.seal).and_then(|seal| String::from_utf8(seal).ok());
        let seal = seal.ok_or_else(|| {
            let why = format!(
                "its checksum {} is missing; use both files that Config::dump_device_code wrote",
                self.seal.display()
            );
            self.fail(&why)
        })?;
        let (sum, device) = seal.split_once('\n').unwrap_or((&seal, ""));
        if code.is_empty() || sum != self.sum(&code, device) {
            return Err(self.fail(
                "it is damaged, or was written by another program or with other settings; \
                 write it again with Config::dump_device_code",
            ));
        }
        Ok(device.to_owned())
    }

    /// Checks that `core` runs on the device that the code was compiled for.
    pub(crate) fn check_device(&self, core: &Core, expected: &str) -> Result<()> {
        let device = core.device()?.unwrap_or_default();
        if device == expected {
            return Ok(());
        }
        let name = |text: &str| text.lines().nth(2).unwrap_or("unknown").to_owned();
        let why = format!(
            "it was written for device {} with another driver or memory, but the context uses {}; \
             write it again with Config::dump_device_code",
            name(expected),
            name(&device)
        );
        Err(self.fail(&why))
    }

    fn sum(&self, code: &[u8], device: &str) -> String {
        let parts = [self.compiled_with.as_bytes(), device.as_bytes(), code];
        format!("{:016x}", checksum(&parts))
    }

    fn fail(&self, why: &str) -> Error {
        let operation = format!("device code in {}", self.path.display());
        Error::new(ErrorKind::Load, operation, why.to_owned())
    }
}
