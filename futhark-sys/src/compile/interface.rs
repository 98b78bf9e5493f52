//! The interface of a program, without compiling its C code.

use std::path::PathBuf;

use futhark_manifest::{FunctionList, Program};

use super::artifact::{Artifact, read_program};
use super::build::Build;
use super::cache::Temporary;
use super::error::{Error, ErrorKind};
use super::paths::read;
use super::toolchain::{Toolchain, Vendor};

/// What code that uses a program must know to be compiled, but not to be linked.
#[derive(Clone, Debug)]
pub struct Interface {
    program: Program,
    sources: Vec<PathBuf>,
}

impl Interface {
    /// The manifest, resolved.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The functions of the table.
    #[must_use]
    pub fn functions(&self) -> FunctionList {
        FunctionList::of(&self.program)
    }

    /// The source file and its imports.
    #[must_use]
    pub fn sources(&self) -> &[PathBuf] {
        &self.sources
    }
}

impl Build {
    /// Reads the interface of the program. Needs no C compiler, and with vendored code no Futhark
    /// compiler either.
    ///
    /// If a source file has changed since the code was vendored, an installed compiler is used. Blocks
    /// while the Futhark compiler runs.
    ///
    /// # Errors
    ///
    /// As [`Build::run`], except for those of the C compiler.
    pub fn interface(&self) -> Result<Interface, Error> {
        let futhark = match self.futhark() {
            Err(error)
                if error.kind() == ErrorKind::Vendored
                    && matches!(Toolchain::vendor(), Ok(Vendor::Use)) =>
            {
                self.installed().map_err(|_| error)?
            }
            found => found?,
        };
        if let Some(recording) = futhark.recording() {
            let artifact = self.recall(recording, &futhark)?;
            return Ok(of_artifact(&artifact));
        }
        let folder = Temporary::beside(&self.folder()?.join("interface"))?;
        let base = folder.path().join(self.name());
        futhark.generate(self.backend(), self.source(), &base)?;
        let manifest = folder.path().join(format!("{}.json", self.name()));
        Ok(Interface {
            program: read_program(&manifest, &read(&manifest)?)?,
            sources: futhark.imports(self.source())?,
        })
    }
}

fn of_artifact(artifact: &Artifact) -> Interface {
    Interface {
        program: artifact.program().clone(),
        sources: artifact.sources().to_vec(),
    }
}
