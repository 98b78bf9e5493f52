//! Files of compiled device code: written by one start, loaded by others.
//!
//! A driver may crash on a damaged file, and code for another program or with other sizes corrupts
//! memory. So a second file, the seal, holds a checksum of code, program and settings, and the
//! device, whose limits determine sizes. Only a sealed file is loaded, unless the caller promises more.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::cache::{read, seal_of};
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::Core;
use crate::observe::Device;
use crate::tuning::regular;
use futhark_sys::checksum::checksum;

/// A file of device code that a context loads or writes.
pub(crate) struct CodeFile<'a> {
    path: &'a Path,
    seal: PathBuf,
    /// Program and settings that the code depends on.
    compiled_with: String,
}

impl<'a> CodeFile<'a> {
    pub(crate) fn new(path: &'a Path, compiled_with: String) -> CodeFile<'a> {
        CodeFile {
            path,
            seal: seal_of(path),
            compiled_with,
        }
    }

    /// Seals the file that `core` wrote when it started.
    pub(crate) fn seal(&self, core: &Core) -> Result<()> {
        use std::io::Write as _;
        let code = read(self.path).ok_or_else(|| self.fail("cannot read it"))?;
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
    pub(crate) fn check(&self) -> Result<Option<Device>> {
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
        Ok(Device::parse(device).pop())
    }

    /// The error for code of another device.
    pub(crate) fn wrong_device(&self, expected: Option<&Device>, device: &Device) -> Error {
        let expected = expected.map_or("another device".to_owned(), Device::to_string);
        let why = format!(
            "it was written for {expected}, but the context may use {device}; choose a device with \
             Config::device, or write it again with Config::dump_device_code"
        );
        self.fail(&why)
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
