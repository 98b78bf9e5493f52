//! The Futhark compilers of a run.

use crate::identity;
use crate::protocol::RunSpec;
use crate::record::CompilerInfo;
use crate::report::shown;
use crate::say::errln;
use anyhow::Context as _;
use futhark_safe::compile::{Compiler, Error};
use serde::{Deserialize, Serialize};
use std::env;
use std::path::{Path, PathBuf};

/// A compiler as the parent has found it. Child processes use it without running it for its version, and
/// notice if it was replaced during the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The path.
    pub path: PathBuf,
    /// The whole text of its version.
    pub version: String,
    /// [`Compiler::stamp`].
    pub stamp: String,
}

impl Seen {
    fn new(compiler: &Compiler) -> Seen {
        Seen {
            path: compiler.program().to_owned(),
            version: compiler.version().text.clone(),
            stamp: compiler.stamp(),
        }
    }
}

/// The compilers of a run: the named ones, or else all of this machine, one of each version. A
/// compiler that is named twice, by one path or by paths of equal files, is one compiler. Adds them to
/// those that the run has seen.
///
/// # Errors
/// If a named compiler cannot be used. Others are ignored.
pub fn compilers(named: &[PathBuf], run: &mut RunSpec) -> anyhow::Result<Vec<CompilerInfo>> {
    let mut compilers: Vec<CompilerInfo> = Vec::new();
    if named.is_empty() {
        for compiler in Compiler::all_kept(&run.build_dir) {
            compilers.push(describe(&compiler)?);
            run.seen.push(Seen::new(&compiler));
        }
    }
    for path in named {
        // A bare name is looked up on PATH; a path must be valid for child processes too.
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        let compiler = Compiler::at_kept(path, &run.build_dir)?;
        add(&mut compilers, describe(&compiler)?);
        run.seen.push(Seen::new(&compiler));
    }
    label(&mut compilers, &mut []);
    Ok(compilers)
}

/// Opens a compiler in a child process.
///
/// # Errors
/// If it was replaced since the run began, or it is none of `seen` and cannot be used.
pub fn open(path: &Path, seen: &[Seen], build_dir: &Path) -> Result<Compiler, Error> {
    match seen.iter().find(|seen| seen.path == path) {
        Some(seen) => Compiler::as_seen(path, &seen.version, &*seen.stamp),
        None => Compiler::at_kept(path, build_dir),
    }
}

/// The compilers in `named` that are not among `compilers`, to compare results with; labels both.
///
/// # Errors
/// If a compiler cannot be used.
pub fn others(
    named: &[PathBuf],
    compilers: &mut [CompilerInfo],
    run: &mut RunSpec,
) -> anyhow::Result<Vec<CompilerInfo>> {
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let mut others = self::compilers(named, run)?;
    others.retain(|other| !compilers.iter().any(|one| identity::is_same(one, other)));
    label(compilers, &mut others);
    Ok(others)
}

fn label(compilers: &mut [CompilerInfo], others: &mut [CompilerInfo]) {
    let mut all: Vec<&mut CompilerInfo> = compilers.iter_mut().chain(others).collect();
    identity::label(&mut all);
}

fn add(compilers: &mut Vec<CompilerInfo>, compiler: CompilerInfo) {
    let Some(same) = compilers
        .iter()
        .find(|one| identity::is_same(one, &compiler))
    else {
        compilers.push(compiler);
        return;
    };
    if same.path != compiler.path {
        let text = format!("{} is the same compiler as {}", compiler.path, same.path);
        errln!("note: {}; it runs once", shown(&text));
    }
}

fn describe(compiler: &Compiler) -> anyhow::Result<CompilerInfo> {
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
    let program = compiler.program();
    let path = program.to_str().with_context(|| {
        format!(
            "the path of a compiler must be UTF-8: {}",
            program.display()
        )
    })?;
    let file = file_of(program).unwrap_or_else(|| program.to_owned());
    Ok(CompilerInfo {
        // Without it, versions and paths still distinguish compilers.
        hash: identity::hash_of(&file).unwrap_or_default(),
        ..CompilerInfo::new(version, path)
    })
}

/// The file of a bare name, which is looked up on `PATH`.
fn file_of(program: &Path) -> Option<PathBuf> {
    if program.components().count() != 1 || program.exists() {
        return None;
    }
    let path = env::var_os("PATH")?;
    let mut files = env::split_paths(&path).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_a_compiler_is_an_error() {
        let mut run = RunSpec::new("/nowhere".into());
        let error = compilers(&[PathBuf::from("/nowhere/futhark")], &mut run).unwrap_err();
        assert!(error.to_string().contains("/nowhere/futhark"), "{error}");
        assert!(compilers(&[PathBuf::from("/bin/true")], &mut run).is_err());
    }

    #[test]
    fn bare_names_are_found_on_the_path() {
        let file = file_of(Path::new("sh")).unwrap();
        assert!(file.is_absolute() && file.ends_with("sh"), "{file:?}");
        assert_eq!(file_of(Path::new("/bin/sh")), None);
        assert_eq!(file_of(Path::new("no-such-program-on-any-path")), None);
    }
}
