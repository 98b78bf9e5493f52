//! Compiles the server program.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::key::key;
use futhark_safe::compile::Compiler;
use futhark_safe::compile::process::{self, Limits};

/// The server program of a source, compiled unless it is in the build folder.
///
/// # Errors
/// The message of the compiler.
pub fn server(
    source: &Path,
    compiler: &Compiler,
    build_dir: &Path,
    optimise: bool,
) -> Result<PathBuf, String> {
    let hash = compiler
        .hash(source)
        .map_err(|error| format!("{error:#}"))?;
    // The Futhark compiler runs the C compiler in `CC`.
    let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let key = key(&[
        hash.as_bytes(),
        source.as_os_str().as_encoded_bytes(),
        compiler.version().text.as_bytes(),
        // Another compiler can report the same version.
        compiler.program().as_os_str().as_encoded_bytes(),
        compiler.stamp().as_bytes(),
        cc.as_encoded_bytes(),
        &[u8::from(optimise)],
    ]);
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let folder = build_dir.join("servers");
    let program = folder.join(format!("{stem}-{key}"));
    if program.is_file() {
        return Ok(program);
    }
    let failed = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(&folder).map_err(failed)?;
    // A rename puts the program into place, so the work folder must be in the same file system.
    let work = tempfile::tempdir_in(&folder).map_err(failed)?;
    let made = work.path().join("server");
    let level = if optimise { "-O3" } else { "-O0" };
    let mut command = Command::new(compiler.program());
    command.args(["c", "--server", "-o"]).args([&made, source]);
    command.env("CFLAGS", format!("{level} -std=c99 -ffp-contract=off"));
    let output = process::run(&mut command, Limits::WORK).map_err(failed)?;
    if !output.status.success() {
        return Err(output.stderr().trim().to_owned());
    }
    std::fs::rename(&made, &program).map_err(failed)?;
    Ok(program)
}
