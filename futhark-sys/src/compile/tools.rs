//! The executables that a build runs, and their part of the cache key.

use std::path::PathBuf;

use futhark_manifest::Backend;

use super::cc::CCompiler;
use super::compiler::Compiler;
use super::error::{Error, ErrorKind};
use super::facts::Facts;
use super::hash::Hash;
use super::ispc::Ispc;
use super::stamp;
use super::toolchain::{self, Toolchain};

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
    pub(super) fn find(
        futhark: Compiler,
        backend: Backend,
        facts: Facts<'_>,
    ) -> Result<Tools, Error> {
        let toolchain = Toolchain::from_env();
        let cc = CCompiler::find(&toolchain, Some(facts))?;
        let ispc = match backend {
            Backend::Ispc if cc.is_cross() => {
                let message =
                    "the backend ispc cannot be compiled for another machine than this one";
                return Err(Error::new(ErrorKind::NoIspc, message));
            }
            Backend::Ispc => Some(Ispc::find(&toolchain, futhark.version(), facts)?),
            _ => None,
        };
        let mut programs = futhark.files();
        programs.extend(cc.programs());
        programs.extend(ispc.as_ref().map(Ispc::program));
        let files = programs.into_iter().flat_map(|program| {
            let file = toolchain.file(program);
            let behind = toolchain::behind(&file);
            std::iter::once(file).chain(behind)
        });
        Ok(Tools {
            files: files.collect(),
            include: toolchain.include_folders(backend),
            futhark,
            cc,
            ispc,
        })
    }

    /// Adds the versions of the compilers and the options from the environment (`CC`, `CFLAGS`).
    pub(super) fn describe(&self, hash: Hash) -> Hash {
        let mut hash = hash
            .with(&self.futhark.version().text)
            .with(self.cc.version());
        for word in self.cc.command_line() {
            hash = hash.with(word.as_encoded_bytes());
        }
        if let Some(ispc) = &self.ispc {
            hash = hash.with(ispc.version());
        }
        hash
    }

    /// Adds path, size and time of each executable, so that replacing one invalidates the cache even
    /// if its version is the same.
    pub(super) fn identify(&self, mut hash: Hash) -> Hash {
        for file in &self.files {
            hash = hash.with(stamp::of(file));
        }
        hash
    }

    /// Tells whether an executable was replaced.
    pub(super) fn stamps(&self) -> Vec<String> {
        self.files.iter().map(|file| stamp::of_file(file)).collect()
    }

    /// The file of each executable, and the files of vendored code.
    pub(super) fn into_files(self) -> Vec<PathBuf> {
        self.files
    }
}
