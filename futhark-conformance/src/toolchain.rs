//! The Futhark compilers of a run.

use crate::files::hex;
use crate::protocol::RunSpec;
use crate::record::CompilerInfo;
use anyhow::{Context as _, bail};
use futhark_manifest::Version;
use futhark_safe::compile::{Build, Compiler, Error, Recording};
use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};
use std::env;
use std::path::{Path, PathBuf};

/// A compiler, or a recording, which replaces one for the recorded programs.
#[derive(Debug)]
pub enum Futhark {
    Compiler(Compiler),
    Recording(Recording),
}

impl Futhark {
    /// Opens the recording at a path, or the compiler that `compiler` opens.
    fn at(
        path: &Path,
        compiler: impl FnOnce() -> Result<Compiler, Error>,
    ) -> Result<Futhark, Error> {
        match Recording::open(path) {
            Some(recording) => Ok(Futhark::Recording(recording)),
            None => compiler().map(Futhark::Compiler),
        }
    }

    /// The path of the executable or the recording.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Futhark::Compiler(compiler) => compiler.program(),
            Futhark::Recording(recording) => recording.folder(),
        }
    }

    #[must_use]
    pub fn version(&self) -> &Version {
        match self {
            Futhark::Compiler(compiler) => compiler.version(),
            Futhark::Recording(recording) => recording.version(),
        }
    }

    /// The build with this compiler or recording.
    #[must_use]
    pub fn select(self, build: Build) -> Build {
        match self {
            Futhark::Compiler(compiler) => build.compiler(compiler),
            Futhark::Recording(recording) => build.recording(recording),
        }
    }

    /// The compiler; an error if this is a recording.
    pub fn compiler(&self) -> Result<&Compiler, String> {
        match self {
            Futhark::Compiler(compiler) => Ok(compiler),
            Futhark::Recording(recording) => Err(format!(
                "{} is a recording of Futhark {}, which supports only the recorded programs; for \
                 other programs install the compiler",
                recording.folder().display(),
                recording.version()
            )),
        }
    }

    /// A value of a type: see [`Compiler::dataset`]; an error if the recording has none.
    pub fn dataset(&self, ty: &str) -> Result<Vec<u8>, Error> {
        match self {
            Futhark::Compiler(compiler) => compiler.dataset(ty),
            Futhark::Recording(recording) => recording.dataset(ty),
        }
    }
}

/// A compiler as the parent has found it. Child processes use it without running it for its version, and
/// notice if it was replaced during the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    pub path: PathBuf,
    /// The whole text of its version.
    pub version: String,
    /// [`Compiler::stamp`].
    pub stamp: String,
}

/// The compilers of a run: the named ones, or else all of this machine, one of each version. A compiler that is named
/// twice, also by a link, is one compiler. Adds them to those that the run has seen. A named compiler that cannot be
/// used, or two of one version, are an error; others are ignored.
pub fn compilers(named: &[PathBuf], run: &mut RunSpec) -> anyhow::Result<Vec<CompilerInfo>> {
    let mut found: Vec<Futhark> = Vec::new();
    if named.is_empty() {
        // The build folder keeps their versions, so that the next run need not ask them again.
        let all = Compiler::all_kept(Some(&run.build_dir)).into_iter();
        found.extend(all.map(Futhark::Compiler));
    }
    for path in named {
        // The path of a file becomes absolute. Any other name is left as it is, to be looked up on PATH.
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        let compiler = || Compiler::at_kept(&path, Some(&run.build_dir));
        found.push(Futhark::at(&path, compiler)?);
    }
    let mut compilers: Vec<CompilerInfo> = Vec::new();
    for futhark in &found {
        let compiler = describe(futhark)?;
        if compilers.iter().any(|one| one.path == compiler.path) {
            continue;
        }
        // Records name a compiler by its version.
        if let Some(other) = compilers.iter().find(|one| one.version == compiler.version) {
            bail!(
                "{} and {} are both Futhark {}; check them in two runs, and compare these with `diff`",
                other.path,
                compiler.path,
                compiler.version
            );
        }
        compilers.push(compiler);
        if let Futhark::Compiler(compiler) = futhark {
            run.seen.push(Seen {
                path: compiler.program().to_owned(),
                version: compiler.version().text.clone(),
                stamp: compiler.stamp(),
            });
        }
    }
    Ok(compilers)
}

/// Opens a compiler or a recording in a child process. A compiler that was replaced since the run began is an error.
pub fn open(compiler: &CompilerInfo, seen: &[Seen]) -> Result<Futhark, Error> {
    let path = Path::new(&compiler.path);
    let seen = seen.iter().find(|seen| seen.path == path);
    Futhark::at(path, || match seen {
        Some(seen) => Compiler::as_seen(path, &seen.version, &seen.stamp),
        None => Compiler::at(path),
    })
}

fn describe(futhark: &Futhark) -> anyhow::Result<CompilerInfo> {
    let program = futhark.path();
    let shown = program.display();
    let path = program
        .to_str()
        .with_context(|| format!("the path of a compiler must be UTF-8: {shown}"))?;
    let file = file_of(program).unwrap_or_else(|| program.to_owned());
    // The file may be one that can only be executed, or a recording. Versions and paths distinguish compilers, too.
    let content = std::fs::read(file).ok();
    let hash = content.map(|content| hex(&Hash::hash(&content)));
    Ok(CompilerInfo {
        hash: hash.unwrap_or_default(),
        ..CompilerInfo::new(futhark.version().to_string(), path)
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
