//! ISPC, which compiles the kernels of the backend `ispc`: the one part of a program that
//! is not C. Its object and ours become one, so that all but the table's symbol can be hidden.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::compiler::Compiler;
use super::error::{Error, ErrorKind};
use super::toolchain::Toolchain;

/// An ISPC that can be started.
pub(super) struct Ispc {
    program: PathBuf,
    version: String,
}

/// What `futhark ispc` itself says, and what a shared library needs.
const ARGUMENTS: [&str; 3] = ["--addressing=64", "--woff", "--pic"];

impl Ispc {
    /// The one that is named, or that came with the Futhark compiler, or that is on `PATH`.
    pub(super) fn find(toolchain: &Toolchain, futhark: &Compiler) -> Result<Ispc, Error> {
        let program = toolchain.ispc(futhark).ok_or_else(|| {
            no_ispc("there is no ispc on PATH, and neither ISPC nor FUTHARK_TOOLCHAIN leads to one")
        })?;
        let output = command(&program)
            .arg("--version")
            .output()
            .map_err(|error| no_ispc(&format!("{}: {error}", program.display())))?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || text.is_empty() {
            let why = format!("{} --version: {}", program.display(), output.status);
            return Err(no_ispc(&why));
        }
        Ok(Ispc {
            program,
            version: text,
        })
    }

    /// What is run.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// What it says of itself, part of what identifies a build.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Compiles `kernels` to `object`.
    pub(super) fn compile(&self, kernels: &Path, object: &Path, level: u8) -> Result<(), Error> {
        let output = command(&self.program)
            .args(ARGUMENTS)
            .arg(format!("-O{level}"))
            .arg(kernels)
            .arg("-o")
            .arg(object)
            .output()
            .map_err(|error| no_ispc(&format!("{}: {error}", self.program.display())))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        Err(Error::new(
            ErrorKind::Ispc,
            format!(
                "{} refuses the kernels {}. Each Futhark compiler writes for the ISPC of its time \
                 (0.25.27: 1.26, 0.25.32: 1.28); this is {}. Name another one in ISPC.\n{}",
                self.program.display(),
                kernels.display(),
                self.version,
                text.trim_end()
            ),
        ))
    }
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}

fn no_ispc(why: &str) -> Error {
    Error::new(
        ErrorKind::NoIspc,
        format!(
            "no ISPC can be run ({why}).\n\
             The backend ispc needs it for the code that Futhark generates: install ispc (Debian: \
             apt-get install ispc; or ci/setup --only ispc), or name it in the variable ISPC"
        ),
    )
}
