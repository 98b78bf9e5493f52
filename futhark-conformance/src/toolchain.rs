//! The Futhark compilers of a run.

use crate::record::CompilerInfo;
use futhark_safe::compile::{Compiler, Error};
use std::path::PathBuf;

/// The compilers of a run: the named ones, or else all of this machine, one of each version.
///
/// # Errors
/// If a named compiler cannot be used. Others are ignored.
pub fn compilers(named: &[PathBuf]) -> Result<Vec<CompilerInfo>, Error> {
    if named.is_empty() {
        return Ok(Compiler::all().iter().map(describe).collect());
    }
    let mut compilers: Vec<CompilerInfo> = Vec::new();
    for path in named {
        // A bare name is looked up on PATH; a path must be valid for child processes too.
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        let compiler = describe(&Compiler::at(path)?);
        if compilers.iter().all(|other| other.path != compiler.path) {
            compilers.push(compiler);
        }
    }
    Ok(compilers)
}

fn describe(compiler: &Compiler) -> CompilerInfo {
    let version = compiler.version();
    let version = match version.number {
        Some((major, minor, patch)) => format!("{major}.{minor}.{patch}"),
        None => version
            .text
            .lines()
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned(),
    };
    CompilerInfo {
        version,
        path: compiler.program().to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_a_compiler_is_an_error() {
        let error = compilers(&[PathBuf::from("/nowhere/futhark")]).unwrap_err();
        assert!(error.to_string().contains("/nowhere/futhark"), "{error}");
        assert!(compilers(&[PathBuf::from("/bin/true")]).is_err());
    }
}
