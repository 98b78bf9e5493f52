//! Runs ISPC, which compiles the kernels of the backend `ispc`, the only part of a program that is
//! not C. Its object is linked into ours, so that all symbols except the table can be hidden.

use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_manifest::Version;

use super::error::{Error, ErrorKind};
use super::facts;
use super::process;
use super::toolchain::Toolchain;

/// An executable ISPC.
pub(super) struct Ispc {
    pub program: PathBuf,
    /// The version that it reports, a part of the cache key.
    pub version: String,
}

/// The arguments that `futhark ispc` uses, and `--pic` for shared libraries.
const ARGUMENTS: [&str; 3] = ["--addressing=64", "--woff", "--pic"];

impl Ispc {
    /// Finds the ISPC that `ISPC` names, or the one of the Futhark compiler, or the one on `PATH`.
    pub(super) fn find(futhark: &Version, results: &Path) -> Result<Ispc, Error> {
        let program = Toolchain::ispc(futhark)
            .ok_or_else(|| no_ispc("found none on PATH, by ISPC or by FUTHARK_TOOLCHAIN"))?;
        let version = facts::version(Some(results), &program, || {
            let output = process::query(Command::new(&program).arg("--version"))
                .map_err(|error| no_ispc(&format!("{}: {error}", program.display())))?;
            let text = output.stdout().trim().to_owned();
            match output.status.success() && !text.is_empty() {
                true => Ok(text),
                false => Err(no_ispc(&format!(
                    "{} --version: {}",
                    program.display(),
                    output.status
                ))),
            }
        })?;
        Ok(Ispc { program, version })
    }

    /// Compiles `kernels` to `object`.
    pub(super) fn compile(&self, kernels: &Path, object: &Path, level: u8) -> Result<(), Error> {
        let mut command = Command::new(&self.program);
        command.args(ARGUMENTS).arg(format!("-O{level}"));
        command.arg(kernels).arg("-o").arg(object);
        let output = process::run(&mut command)
            .map_err(|error| no_ispc(&format!("{}: {error}", self.program.display())))?;
        if output.status.success() {
            return Ok(());
        }
        let text = output.stderr();
        Err(Error::new(
            ErrorKind::Ispc,
            format!(
                "{} rejected the kernels {}. Each Futhark version needs a matching ISPC \
                 (0.25.27: 1.26, 0.25.32: 1.28); this is {}. Set ISPC to another one.\n{}",
                self.program.display(),
                kernels.display(),
                self.version,
                text.trim_end()
            ),
        ))
    }
}

fn no_ispc(why: &str) -> Error {
    Error::new(
        ErrorKind::NoIspc,
        format!(
            "cannot run ISPC ({why}).\n\
             The backend ispc needs it: install ispc (Debian: apt-get install ispc; or \
             ci/setup --only ispc), or set ISPC"
        ),
    )
}
