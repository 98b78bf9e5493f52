//! The Futhark compilers at hand.

use crate::record::CompilerInfo;
use std::collections::HashSet;
use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why a compiler that was named cannot be used.
#[derive(Debug)]
pub struct CompilerError {
    path: PathBuf,
    message: String,
}

impl fmt::Display for CompilerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "use {} as a Futhark compiler: {}",
            self.path.display(),
            self.message
        )
    }
}

impl std::error::Error for CompilerError {}

/// The compilers of a run: those that are named, or else every one that is
/// found, of each version the first. See [`candidates`] for where.
///
/// # Errors
/// If one that was named does not answer. One that was only found is passed
/// over.
pub fn compilers(named: &[PathBuf]) -> Result<Vec<CompilerInfo>, CompilerError> {
    let mut seen = HashSet::new();
    let mut compilers = Vec::new();
    if named.is_empty() {
        let found = candidates().into_iter().filter_map(|path| ask(&path).ok());
        compilers.extend(found.filter(|compiler| seen.insert(compiler.version.clone())));
    } else {
        for path in named {
            let compiler = ask(path)?;
            if seen.insert(compiler.path.clone()) {
                compilers.push(compiler);
            }
        }
    }
    Ok(compilers)
}

/// Where compilers may lie: `FUTHARK`, then `futhark` on the `PATH`, then
/// every `futhark-*` in `FUTHARK_TOOLCHAIN/bin`, or in `.toolchain/bin` here,
/// where set-up puts them.
#[must_use]
pub fn candidates() -> Vec<PathBuf> {
    let mut found = Vec::new();
    found.extend(
        env::var_os("FUTHARK")
            .filter(|value| !value.is_empty())
            .map(PathBuf::from),
    );
    let path = env::var_os("PATH").unwrap_or_default();
    found.extend(
        env::split_paths(&path)
            .map(|folder| folder.join("futhark"))
            .find(|file| file.is_file()),
    );
    let toolchain =
        env::var_os("FUTHARK_TOOLCHAIN").map_or(PathBuf::from(".toolchain"), PathBuf::from);
    let mut installed: Vec<PathBuf> = std::fs::read_dir(toolchain.join("bin"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("futhark-"))
        .map(|entry| entry.path())
        .collect();
    installed.sort();
    found.extend(installed);
    found
}

/// Asks a compiler for its version.
fn ask(path: &Path) -> Result<CompilerInfo, CompilerError> {
    let fail = |message: String| CompilerError {
        path: path.to_owned(),
        message,
    };
    // A bare name is looked up by the system, a path must hold when the child
    // processes use it.
    let program = if path.components().count() > 1 {
        path.canonicalize()
            .map_err(|error| fail(error.to_string()))?
    } else {
        path.to_owned()
    };
    let output = Command::new(&program)
        .arg("--version")
        .output()
        .map_err(|error| fail(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match version(&text) {
        Some(version) if output.status.success() => Ok(CompilerInfo {
            version: version.to_owned(),
            path: program.to_string_lossy().into_owned(),
        }),
        _ => {
            let said = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
            Err(fail(format!(
                "it did not tell its version, but: {}",
                said.trim()
            )))
        }
    }
}

/// The version in `Futhark 0.25.32.` and what follows it.
fn version(text: &str) -> Option<&str> {
    let line = text.lines().next()?.strip_prefix("Futhark ")?;
    let version = line.split_whitespace().next()?.trim_end_matches('.');
    version
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_first_number() {
        assert_eq!(version("Futhark 0.25.32.\nCopyright\n"), Some("0.25.32"));
        assert_eq!(version("Futhark 0.26.0 (prerelease)\n"), Some("0.26.0"));
        assert_eq!(version("gcc 12\n"), None);
        assert_eq!(version(""), None);
    }

    #[test]
    fn a_compiler_that_is_none_is_an_error() {
        let error = compilers(&[PathBuf::from("/nowhere/futhark")]).unwrap_err();
        assert!(error.to_string().contains("/nowhere/futhark"), "{error}");
        assert!(compilers(&[PathBuf::from("/bin/true")]).is_err());
    }
}
