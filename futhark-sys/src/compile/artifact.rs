//! The result of a build: a library, its manifest and its header.

use std::path::{Path, PathBuf};

use futhark_manifest::{FunctionList, Manifest, Program};

use super::build::{Build, Linkage};
use super::docs::Docs;
use super::error::Error;
use super::paths::{read, write};
use super::stored::WARNINGS;
use crate::table::Hardening;

/// The program of a manifest, with the comments in its source and the files that this imports.
pub(super) fn read_documented(
    file: &Path,
    text: &str,
    source: &Path,
    sources: &[PathBuf],
) -> Result<Program, Error> {
    let mut program = read_program(file, text)?;
    let docs = Docs::of(source, sources);
    program.add_docs(|keyword, name| docs.comment(keyword, name).map(str::to_owned));
    program.doc = docs.of_file;
    Ok(program)
}

pub(super) fn read_program(file: &Path, text: &str) -> Result<Program, Error> {
    Manifest::parse(text)
        .and_then(|manifest| manifest.resolve())
        .map_err(|error| Error::manifest(file, error))
}

#[derive(Clone, Debug)]
pub(super) struct Paths {
    pub folder: PathBuf,
    pub name: String,
    pub symbol: String,
    pub linkage: Linkage,
}

impl Paths {
    pub(super) fn in_folder(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    pub(super) fn manifest(&self) -> PathBuf {
        self.in_folder(&format!("{}.json", self.name))
    }

    pub(super) fn read(&self, extension: &str) -> Result<String, Error> {
        read(&self.in_folder(&format!("{}.{extension}", self.name)))
    }

    pub(super) fn write(&self, file: &str, text: &str) -> Result<(), Error> {
        write(&self.in_folder(file), text)
    }

    pub(super) fn library(&self) -> PathBuf {
        let extension = match self.linkage {
            Linkage::Shared => std::env::consts::DLL_EXTENSION,
            Linkage::Static => "a",
        };
        self.in_folder(&format!("lib{}.{extension}", self.symbol))
    }
}

/// The beginning of a warning of ours: a check that is missing.
pub(super) const UNCHECKED: &str = "unchecked: ";

/// A compiled program for one backend.
#[derive(Clone, Debug)]
pub struct Artifact {
    paths: Paths,
    manifest: String,
    program: Program,
    warnings: String,
    hardened: bool,
    programs: Vec<PathBuf>,
    sources: Vec<PathBuf>,
}

impl Artifact {
    pub(super) fn read(
        paths: Paths,
        programs: Vec<PathBuf>,
        build: &Build,
        sources: Vec<PathBuf>,
    ) -> Result<Artifact, Error> {
        let manifest = paths.read("json")?;
        let program = read_documented(&paths.manifest(), &manifest, build.source(), &sources)?;
        let warnings = read(&paths.in_folder(WARNINGS))?;
        Ok(Artifact {
            paths,
            manifest,
            program,
            hardened: build.hardened,
            warnings,
            programs,
            sources,
        })
    }

    /// The shared object or static library.
    #[must_use]
    pub fn library(&self) -> PathBuf {
        self.paths.library()
    }

    /// The folder with all generated files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.paths.folder
    }

    /// The C header that the Futhark compiler wrote.
    #[must_use]
    pub fn header(&self) -> PathBuf {
        self.paths.in_folder(&format!("{}.h", self.paths.name))
    }

    /// The name of the table, which is the library's only global symbol unless it was built `raw`.
    /// Shared objects also export the table as [`table::SYMBOL`](crate::table::SYMBOL).
    #[must_use]
    pub fn symbol(&self) -> &str {
        &self.paths.symbol
    }

    /// The manifest, as the Futhark compiler wrote it.
    #[must_use]
    pub fn manifest(&self) -> &str {
        &self.manifest
    }

    /// The manifest, resolved, with comments of the source as documentation.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The functions of the table.
    #[must_use]
    pub fn functions(&self) -> FunctionList {
        FunctionList::of(&self.program)
    }

    /// Which checks the library has.
    #[must_use]
    pub fn hardening(&self) -> Hardening {
        match (self.hardened, self.missing_checks().next()) {
            (false, _) => Hardening::Off,
            (true, Some(_)) => Hardening::Partial,
            (true, None) => Hardening::Full,
        }
    }

    /// The warnings about checks that are missing: see [`Build::allow_unknown_compiler`](super::Build::allow_unknown_compiler).
    pub fn missing_checks(&self) -> impl Iterator<Item = &str> {
        let lines = self.warnings.lines();
        lines.filter(|line| line.starts_with(UNCHECKED))
    }

    /// The warnings of the Futhark compiler, and about [missing checks](Self::missing_checks); empty if there were none.
    #[must_use]
    pub fn warnings(&self) -> &str {
        &self.warnings
    }

    /// The executables of this build, such as compilers. If one of them changes, [`Build::run`](super::Build::run)
    /// builds again. Empty for a recorded build.
    #[must_use]
    pub fn programs(&self) -> &[PathBuf] {
        &self.programs
    }

    /// The source file and its imports. If one of them changes, [`Build::run`](super::Build::run) builds again.
    #[must_use]
    pub fn sources(&self) -> &[PathBuf] {
        &self.sources
    }

    /// Loads the shared object.
    ///
    /// This is safe under the condition that only the user can write to the folder of the build:
    /// the file was created by this build or an earlier one in the same folder. A recorded library
    /// is trusted like a compiler, which can run code as well.
    ///
    /// # Errors
    /// The build was not [`Linkage::Shared`], or the library cannot be loaded.
    #[cfg(feature = "load")]
    pub fn open(&self) -> Result<&'static crate::table::Table, crate::load::Error> {
        // SAFETY: the file is a result of `Build::run`, which renames a folder to its final,
        // content-derived name only when everything in it is complete and on the disk, and compares
        // the sizes of its files when it finds it again; or it was recorded from such a folder,
        // `Stored::open` verified that its bytes are unchanged, and the user trusts the recording like a compiler.
        unsafe { crate::load::open(&self.library(), self.symbol()) }
    }
}
