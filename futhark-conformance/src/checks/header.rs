//! The check `header`: the header declares the functions that follow from the manifest and the
//! functions that manifests do not list, with the right types.

use crate::harness::steps::{StepResult, Stop, error, skip};
use futhark_safe::compile::process;
use futhark_safe::compile::{Artifact, Toolchain};
use std::path::Path;
use std::process::Command;

/// Compiles the assertions about the header, in a folder of their own: others may read that of the build.
pub fn check(artifact: &Artifact) -> StepResult {
    let header = artifact.header();
    if !header.is_file() {
        error!("the build has no header");
    }
    let program = artifact.program();
    let name = header.file_name().unwrap_or_default().to_string_lossy();
    let work = tempfile::tempdir()?;
    let source = work.path().join("assertions.c");
    std::fs::write(&source, program.assertions(&name))?;

    let mut command = c_compiler(artifact.folder());
    command.args(["-std=c11", "-fsyntax-only", "-w", "-D__HIP_PLATFORM_AMD__"]);
    for folder in Toolchain::include_folders(program.backend) {
        command.arg("-isystem").arg(folder);
    }
    let output = run(command.arg(&source))?;
    if output.status.success() {
        return Ok(());
    }
    let said = output.stderr();
    // Without the name of the file, which is temporary. Each message names a function.
    let errors = said.lines().filter_map(|line| line.split_once(" error: "));
    let errors: Vec<&str> = errors.map(|(_, error)| error).collect();
    // A bundle has the headers that kernels include, but not the driver's, as `cuda.h`.
    let is_missing = |error: &&&str| {
        error.ends_with("No such file or directory") || error.ends_with("file not found")
    };
    if let Some(missing) = errors.iter().find(is_missing) {
        skip!("the header includes another one: {missing}");
    }
    Err(Stop::mismatch(match errors[..] {
        [] => said.to_string(),
        _ => errors.join("\n"),
    }))
}

/// The C compiler, for sources that include files of a folder.
pub(super) fn c_compiler(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    // Only for `#include "…"`, because a program may have the name of a system header.
    command.arg("-iquote").arg(folder);
    command
}

/// Runs the C compiler.
///
/// # Errors
/// A skip if it cannot be started.
pub(super) fn run(command: &mut Command) -> StepResult<process::Output> {
    process::run(command).map_err(|error| {
        let cc = command.get_program().display();
        Stop::skip(format!("failed to run {cc}: {error}"))
    })
}
