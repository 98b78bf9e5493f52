//! The executables that a build runs, and their part of the cache key.

use std::path::{Path, PathBuf};

use futhark_manifest::Backend;

use super::cc::CCompiler;
use super::compiler::Compiler;
use super::error::{Error, ErrorKind};
use super::hash::Hash;
use super::ispc::Ispc;
use super::toolchain::Toolchain;

/// The tools of a build.
pub(super) struct Tools {
    pub futhark: Compiler,
    pub cc: CCompiler,
    /// Only on the backend `ispc`.
    pub ispc: Option<Ispc>,
    /// The folders with the headers of the backend.
    pub include: Vec<PathBuf>,
    /// The file of each executable, and the files of vendored code.
    files: Vec<PathBuf>,
}

impl Tools {
    /// Finds the tools for a build with `futhark` for `backend`.
    pub(super) fn find(futhark: Compiler, backend: Backend) -> Result<Tools, Error> {
        let toolchain = Toolchain::from_env();
        let cc = CCompiler::find(&toolchain)?;
        let ispc = match backend {
            Backend::Ispc if cc.is_cross() => {
                let message =
                    "the backend ispc cannot be compiled for another machine than this one";
                return Err(Error::new(ErrorKind::NoIspc, message));
            }
            Backend::Ispc => Some(Ispc::find(&toolchain, &futhark)?),
            _ => None,
        };
        let mut programs = futhark.files();
        programs.extend(cc.programs());
        programs.extend(ispc.as_ref().map(Ispc::program));
        let files = programs.into_iter().map(|program| toolchain.file(program));
        Ok(Tools {
            files: files.collect(),
            include: toolchain.include_folders(backend),
            futhark,
            cc,
            ispc,
        })
    }

    /// Adds the versions of the compilers and the options from the environment (`CC`, `CFLAGS`).
    pub(super) fn describe(&self, hash: Hash) -> Result<Hash, Error> {
        let mut hash = hash
            .with(&self.futhark.version().text)
            .with(self.cc.version()?);
        for word in self.cc.command_line() {
            hash = hash.with(word.as_encoded_bytes());
        }
        if let Some(ispc) = &self.ispc {
            hash = hash.with(ispc.version());
        }
        Ok(hash)
    }

    /// Adds path, size and time of each executable, so that replacing one invalidates the cache even
    /// if its version is the same.
    pub(super) fn identify(&self, mut hash: Hash) -> Hash {
        for file in &self.files {
            hash = hash.with(stamp(file));
        }
        hash
    }

    /// The file of each executable, and the files of vendored code.
    pub(super) fn into_files(self) -> Vec<PathBuf> {
        self.files
    }
}

fn stamp(file: &Path) -> String {
    // Links are resolved, because the target of a link can change. A missing file causes an error
    // when it is run.
    let place = file.canonicalize().ok();
    let data = file.metadata().ok();
    let changed = data.as_ref().and_then(|data| data.modified().ok());
    format!("{place:?} {:?} {changed:?}", data.map(|data| data.len()))
}
