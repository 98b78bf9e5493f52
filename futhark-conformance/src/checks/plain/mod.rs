//! The check `plain`: a C program, written from the manifest, calls the generated C directly,
//! without futhark-sys and futhark-safe.

mod source;

use crate::blocks::TestBlocks;
use crate::harness::steps::{StepResult, Stop};
use crate::record::Cause;
use futhark_safe::compile::Artifact;
use futhark_safe::compile::process::{self, Limits};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the check.
pub const NAME: &str = "plain";

/// The prefix of the program's output lines that report a failure.
const WRONG: &str = "wrong: ";

/// Writes the program, compiles it with the generated C, runs it, and reads its output.
pub fn check(artifact: &Artifact, blocks: &TestBlocks) -> StepResult {
    let header = artifact.header();
    let generated = header.with_extension("c");
    if !generated.is_file() {
        return Err(Stop::skip(
            "a recording contains libraries, but no generated C",
        ));
    }
    let name = header.file_name().unwrap_or_default().to_string_lossy();
    let text = source::write(artifact.program(), blocks, &name)?;
    let executable = compile(artifact.folder(), &generated, &text)?;
    let failed = |error: std::io::Error| Stop::error(error.to_string());
    let output = process::run(&mut Command::new(&executable), Limits::WORK).map_err(failed)?;
    let said = output.stdout();
    let wrong: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix(WRONG))
        .collect();
    if !wrong.is_empty() {
        return Err(Stop::mismatch(wrong.join("\n")));
    }
    if !output.status.success() || !said.lines().any(|line| line == "done") {
        if blocks.tags.iter().any(|tag| tag == "kills") {
            return Err(Stop::skip("tagged kills: the program ends a plain process"));
        }
        return Err(Stop::Fail {
            cause: Cause::Crash,
            message: format!(
                "the C program ended with {}; its output was:\n{}{}",
                output.status,
                said,
                output.stderr()
            ),
        });
    }
    Ok(())
}

/// Compiles the program into the folder of the generated C, unless it is already there.
fn compile(folder: &Path, generated: &Path, text: &str) -> StepResult<PathBuf> {
    let failed = |error: std::io::Error| Stop::error(error.to_string());
    let (source, executable) = (folder.join("plain.c"), folder.join("plain"));
    let same = std::fs::read_to_string(&source).is_ok_and(|before| before == text);
    if same && executable.is_file() {
        return Ok(executable);
    }
    // Another process may do the same, so the files are renamed into place.
    // In the build folder, where the next run finds it if this one is killed.
    let work = tempfile::tempdir_in(folder.parent().unwrap_or(folder)).map_err(failed)?;
    let (new_source, new) = (work.path().join("plain.c"), work.path().join("plain"));
    std::fs::write(&new_source, text).map_err(failed)?;
    let cc = std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc"));
    // Only for `#include "…"`, because a program may have the name of a system header.
    let mut include = OsString::from("-iquote");
    include.push(folder);
    let mut command = Command::new(&cc);
    command.args(["-std=c99", "-O0", "-w"]).arg(include);
    command.args([generated, &new_source]).arg("-o").arg(&new);
    command.args(["-lm", "-lpthread"]);
    let output = process::run(&mut command, Limits::WORK)
        .map_err(|error| Stop::skip(format!("failed to run {}: {error}", cc.display())))?;
    if !output.status.success() {
        let said = output.stderr();
        return Err(Stop::mismatch(format!(
            "a C program that follows the C API reference does not compile:\n{said}"
        )));
    }
    std::fs::rename(new, &executable).map_err(failed)?;
    std::fs::rename(new_source, &source).map_err(failed)?;
    Ok(executable)
}
