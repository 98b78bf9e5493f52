//! The executables that a build runs, and their part of the cache key.

use std::path::{Path, PathBuf};

use futhark_manifest::Backend;

use super::cc::CCompiler;
use super::code::Code;
use super::error::{Error, ErrorKind};
use super::facts;
use super::hash::Hash;
use super::ispc::Ispc;
use super::toolchain::Toolchain;

/// The tools of a build.
pub(super) struct Tools {
    pub code: Code,
    pub cc: CCompiler,
    /// Only on the backend `ispc`.
    pub ispc: Option<Ispc>,
    /// The folders with the headers of the backend.
    pub include: Vec<PathBuf>,
    /// The file of each executable, and the files of vendored code.
    pub files: Vec<PathBuf>,
}

impl Tools {
    /// Finds the tools for a build of `code` for `backend`, and keeps their versions in the folder `results`.
    pub(super) fn find(code: Code, backend: Backend, results: &Path) -> Result<Tools, Error> {
        let toolchain = Toolchain::from_env();
        let cc = CCompiler::find(&toolchain, Some(results))?;
        let ispc = match backend {
            Backend::Ispc if cc.is_cross() => {
                let message =
                    "the backend ispc cannot be compiled for another machine than this one";
                return Err(Error::new(ErrorKind::NoIspc, message));
            }
            Backend::Ispc => Some(Ispc::find(&toolchain, code.version(), results)?),
            _ => None,
        };
        let mut programs = code.made_by();
        programs.extend(cc.programs().map(Path::to_owned));
        programs.extend(ispc.as_ref().map(|ispc| ispc.program.clone()));
        let files = programs.iter().flat_map(|program| toolchain.files(program));
        Ok(Tools {
            files: files.collect(),
            include: toolchain.include_folders(backend),
            code,
            cc,
            ispc,
        })
    }

    /// Adds the versions of the compilers and the options from the environment (`CC`, `CFLAGS`).
    pub(super) fn describe(&self, hash: Hash) -> Hash {
        let mut hash = hash.with(&self.code.version().text).with(self.cc.version());
        for word in self.cc.command_line() {
            hash = hash.with(word.as_encoded_bytes());
        }
        if let Some(ispc) = &self.ispc {
            hash = hash.with(&ispc.version);
        }
        hash
    }

    /// Path, size and time of each file, so that replacing one invalidates the cache even if its version is the
    /// same.
    pub(super) fn stamp(&self) -> String {
        facts::stamp(&self.files)
    }
}
