//! The programs that a build runs, and what identifies them.

use std::path::{Path, PathBuf};

use futhark_manifest::Backend;

use super::cc::CCompiler;
use super::compiler::Compiler;
use super::error::Error;
use super::hash::Hash;
use super::ispc::Ispc;
use super::toolchain::Toolchain;

/// The compilers of a build.
pub(super) struct Tools {
    pub futhark: Compiler,
    pub cc: CCompiler,
    /// On the backend `ispc`.
    pub ispc: Option<Ispc>,
    /// Headers of the backend.
    pub include: Vec<PathBuf>,
    /// The file of each program that is run.
    files: Vec<PathBuf>,
}

impl Tools {
    /// The tools for a build with `futhark` for `backend`.
    pub(super) fn find(futhark: Compiler, backend: Backend) -> Result<Tools, Error> {
        let toolchain = Toolchain::from_env();
        let cc = CCompiler::find(&toolchain)?;
        let ispc = match backend {
            Backend::Ispc => Some(Ispc::find(&toolchain, &futhark)?),
            _ => None,
        };
        let mut programs = vec![futhark.program()];
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

    /// What the compilers say of themselves, and with which options they are run by the
    /// environment (`CC`, `CFLAGS`).
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

    /// Adds place, size and time of each program's file, so that a program that is replaced is
    /// another one even if its version is the same.
    pub(super) fn identify(&self, mut hash: Hash) -> Hash {
        for file in &self.files {
            hash = hash.with(stamp(file));
        }
        hash
    }

    /// The file of each program that is run.
    pub(super) fn into_files(self) -> Vec<PathBuf> {
        self.files
    }
}

fn stamp(file: &Path) -> String {
    // Links are resolved: a link that leads elsewhere now is another program. What is not
    // there fails when it is run.
    let place = file.canonicalize().ok();
    let data = file.metadata().ok();
    let changed = data.as_ref().and_then(|data| data.modified().ok());
    format!("{place:?} {:?} {changed:?}", data.map(|data| data.len()))
}
