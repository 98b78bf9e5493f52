//! The check `plain`: the generated C by itself, in a C program that is written
//! from the manifest. Here nothing stands between the question and the library.

mod source;

use crate::blocks::TestBlocks;
use crate::harness::steps::{StepResult, Stop};
use crate::record::Cause;
use futhark_safe::compile::Artifact;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the program says of everything that is not as promised.
const WRONG: &str = "wrong: ";

/// Writes the program, compiles it together with the generated C, runs it, and
/// reads what it says.
pub fn check(artifact: &Artifact, blocks: &TestBlocks) -> StepResult {
    let header = artifact.header();
    let generated = header.with_extension("c");
    if !generated.is_file() {
        return Err(Stop::skip(
            "a recording keeps libraries, and no generated C",
        ));
    }
    let name = header.file_name().unwrap_or_default().to_string_lossy();
    let text = source::write(artifact.program(), blocks, &name)?;
    let executable = compile(artifact.folder(), &generated, &text)?;
    let failed = |error: std::io::Error| Stop::error(error.to_string());
    let output = Command::new(&executable).output().map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix(WRONG))
        .collect();
    if !wrong.is_empty() {
        return Err(Stop::mismatch(wrong.join("\n")));
    }
    if !output.status.success() || !said.lines().any(|line| line == "done") {
        if blocks.tags.iter().any(|tag| tag == "kills") {
            return Err(Stop::skip("tagged kills, and it does end a plain process"));
        }
        return Err(Stop::Fail {
            cause: Cause::Crash,
            message: format!(
                "the C program ended with {}, after saying:\n{}{}",
                output.status,
                said,
                String::from_utf8_lossy(&output.stderr)
            ),
        });
    }
    Ok(())
}

/// Compiles into the folder of the generated C, unless the same program lies
/// there already.
fn compile(folder: &Path, generated: &Path, text: &str) -> StepResult<PathBuf> {
    let failed = |error: std::io::Error| Stop::error(error.to_string());
    let (source, executable) = (folder.join("plain.c"), folder.join("plain"));
    let same = std::fs::read_to_string(&source).is_ok_and(|before| before == text);
    if same && executable.is_file() {
        return Ok(executable);
    }
    // Another process may do the same: each file is put into place whole.
    let work = tempfile::tempdir_in(folder).map_err(failed)?;
    let (new_source, new) = (work.path().join("plain.c"), work.path().join("plain"));
    std::fs::write(&new_source, text).map_err(failed)?;
    let cc = std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc"));
    // In quotes only: a program may be called like a header of the system.
    let mut include = OsString::from("-iquote");
    include.push(folder);
    let output = Command::new(&cc)
        .args(["-std=c99", "-O0", "-w"])
        .arg(include)
        .args([generated, &new_source])
        .arg("-o")
        .arg(&new)
        .args(["-lm", "-lpthread"])
        .output()
        .map_err(|error| Stop::skip(format!("{} does not run: {error}", cc.display())))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Stop::mismatch(format!(
            "a C program that follows the reference does not compile:\n{said}"
        )));
    }
    std::fs::rename(new, &executable).map_err(failed)?;
    std::fs::rename(new_source, &source).map_err(failed)?;
    Ok(executable)
}
