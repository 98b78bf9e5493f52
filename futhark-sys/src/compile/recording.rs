//! Recordings: folders with the build results of some programs, for machines without compilers.
//!
//! ```text
//! DIR/futhark-recording            the version of the Futhark compiler
//! DIR/builds/NAME-BACKEND-KEY/     one build: the library, NAME.h, NAME.json, warnings.txt, and
//!                                  `library`, which describes its inputs; or only `refused`, the
//!                                  error of a program that does not compile
//! DIR/datasets/TYPE                a value of a type
//! ```
//!
//! Such a folder can be used in place of a compiler ([`Compiler::at`]). It must be trusted like a
//! compiler, because both can run code. A build is looked up by its inputs (source text, name,
//! backend, options) without running a tool. A changed import or a changed library is an error.

use std::fs;
use std::path::{Path, PathBuf};

use super::build::{Artifact, Build};
use super::cache::Temporary;
use super::compiler::Compiler;
use super::error::{Error, ErrorKind};
use super::hash::Hash;
use futhark_manifest::Version;

/// The result of [`Build::record`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Recorded {
    /// The library.
    Library,
    /// The program does not compile. Building from the recording returns the same error.
    Refusal(Error),
}

impl Build {
    /// Compiles like [`Build::run`], and stores the result in the folder `recording`, which then
    /// replaces the Futhark and C compilers for this build on any machine that can load the library.
    ///
    /// Blocks like [`Build::run`]. Several processes may record into one folder at the same time.
    ///
    /// # Errors
    ///
    /// Errors that do not depend on the program: the source, a compiler or a header is missing,
    /// ISPC rejects the kernels, a file cannot be read or written, the folder is a recording of
    /// another version, or the build itself uses a recording.
    pub fn record(&self, recording: &Path) -> Result<Recorded, Error> {
        let futhark = self.futhark()?;
        begin(recording, &futhark)?;
        let folder = self.recorded_folder(recording)?;
        let temporary = Temporary::beside(&folder)?;
        let recorded = match self.run() {
            Ok(artifact) => {
                self.keep_library(&futhark, &artifact, temporary.path())?;
                Recorded::Library
            }
            Err(error) => {
                let Some(kind) = name_of(error.kind()) else {
                    return Err(error);
                };
                write(
                    &temporary.path().join("refused"),
                    format!("{kind}\n{error:#}"),
                )?;
                Recorded::Refusal(error)
            }
        };
        temporary.become_folder(&folder)?;
        Ok(recorded)
    }

    /// Looks up this build in `recording`.
    pub(super) fn recall(&self, recording: &Path, version: &Version) -> Result<Artifact, Error> {
        let folder = self.recorded_folder(recording)?;
        if let Ok(text) = fs::read_to_string(folder.join("refused")) {
            return Err(refusal(&text));
        }
        let Ok(text) = fs::read_to_string(folder.join("library")) else {
            let message = format!(
                "{} is not recorded for {} in {}, a recording of Futhark {version}, or its text or its \
                 options have changed; record it again, or install the compiler",
                self.source().display(),
                self.backend(),
                recording.display()
            );
            return Err(Error::new(ErrorKind::NoCompiler, message));
        };
        let damaged = |what: &str| {
            let message = format!(
                "the recorded build {} is damaged ({what}); unpack or record it again",
                folder.display()
            );
            Error::new(ErrorKind::Io, message)
        };
        let mut sources = vec![self.source().to_owned()];
        let mut lines = text.lines().map(|line| line.split_once(' '));
        let (Some(Some(("symbol", symbol))), Some(Some(("library", hash)))) =
            (lines.next(), lines.next())
        else {
            return Err(damaged("its description"));
        };
        for import in lines {
            let (hash, file) = import.ok_or_else(|| damaged("its description"))?;
            let path = folder_of(self.source()).join(file);
            if hash_of(&path)? != hash {
                let message = format!(
                    "{}, which {} imports, has changed since the build was recorded",
                    path.display(),
                    self.source().display()
                );
                return Err(Error::new(ErrorKind::NoCompiler, message));
            }
            sources.push(path);
        }
        let paths = self.paths(folder.clone(), symbol.to_owned());
        if hash_of(&paths.library())? != hash {
            return Err(damaged("its library"));
        }
        Artifact::read(paths, Vec::new(), sources)
    }

    /// The folder of this build in a recording.
    fn recorded_folder(&self, recording: &Path) -> Result<PathBuf, Error> {
        let text = self.source_text()?;
        let mut key = Hash::new()
            .with(env!("CARGO_PKG_VERSION"))
            .with(&text)
            .with(self.backend().as_str());
        for option in self.options_of_user() {
            key = key.with(option);
        }
        let key = &key.hex()[..16];
        let name = format!("{}-{}-{key}", self.name(), self.backend());
        Ok(recording.join("builds").join(name))
    }

    fn source_text(&self) -> Result<Vec<u8>, Error> {
        fs::read(self.source()).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::no_source(self.source()),
            _ => Error::io("read", self.source(), error),
        })
    }

    fn keep_library(
        &self,
        futhark: &Compiler,
        artifact: &Artifact,
        folder: &Path,
    ) -> Result<(), Error> {
        let library = artifact.library();
        let header = artifact.header();
        let manifest = header.with_extension("json");
        let warnings = artifact.folder().join("warnings.txt");
        for file in [&library, &header, &manifest, &warnings] {
            let to = folder.join(file.file_name().unwrap_or_default());
            fs::copy(file, to).map_err(|error| Error::io("copy", file, error))?;
        }
        let mut text = format!(
            "symbol {}\nlibrary {}\n",
            artifact.symbol(),
            hash_of(&library)?
        );
        for (name, hash) in futhark.files_of(self.source())?.hashes() {
            if let Some(name) = name {
                text += &format!("{hash} {}\n", name.display());
            }
        }
        write(&folder.join("library"), text)
    }
}

/// The file with a value of a type.
pub(super) fn dataset(recording: &Path, ty: &str) -> PathBuf {
    recording.join("datasets").join(ty)
}

/// The version of the recorded compiler, if the folder is a recording.
pub(super) fn version(folder: &Path) -> Option<Version> {
    let text = fs::read_to_string(folder.join(MARK)).ok()?;
    Some(Version::new(&text))
}

/// Initialises a recording of this compiler, unless it exists.
pub(super) fn begin(recording: &Path, futhark: &Compiler) -> Result<(), Error> {
    let own = &futhark.version().text;
    match version(recording) {
        Some(found) if &found.text == own => return Ok(()),
        Some(found) => {
            let message = format!(
                "expected a recording of Futhark {}, got one of {found}: {}",
                futhark.version(),
                recording.display()
            );
            return Err(Error::new(ErrorKind::Io, message));
        }
        None => {}
    }
    for folder in ["builds", "datasets"] {
        let folder = recording.join(folder);
        fs::create_dir_all(&folder)
            .map_err(|error| Error::io("create the folder", folder, error))?;
    }
    write(&recording.join(MARK), own)
}

const MARK: &str = "futhark-recording";

/// The failures that depend on the program and not on the machine.
const REFUSALS: [(ErrorKind, &str); 5] = [
    (ErrorKind::Program, "program"),
    (ErrorKind::CompilerFailed, "compiler"),
    (ErrorKind::Manifest, "manifest"),
    (ErrorKind::Layout, "layout"),
    (ErrorKind::C, "c"),
];

fn name_of(kind: ErrorKind) -> Option<&'static str> {
    let found = REFUSALS.into_iter().find(|(other, _)| *other == kind);
    found.map(|(_, name)| name)
}

fn refusal(text: &str) -> Error {
    let (name, message) = text.split_once('\n').unwrap_or((text, ""));
    let found = REFUSALS.into_iter().find(|(_, other)| *other == name);
    Error::new(found.map_or(ErrorKind::Io, |(kind, _)| kind), message)
}

pub(super) fn folder_of(source: &Path) -> &Path {
    match source.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

pub(super) fn canonical(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize()
        .map_err(|error| Error::io("find", path, error))
}

/// `path` relative to the folder `home`, both without links.
pub(super) fn relative(path: &Path, home: &Path) -> PathBuf {
    let common = home.ancestors().find(|folder| path.starts_with(folder));
    let Some((up, rest)) = common.and_then(|folder| {
        let up = home.strip_prefix(folder).ok()?.components().count();
        Some((up, path.strip_prefix(folder).ok()?))
    }) else {
        return path.to_owned();
    };
    let mut relative: PathBuf = std::iter::repeat_n("..", up).collect();
    relative.push(rest);
    relative
}

pub(super) fn hash_of(file: &Path) -> Result<String, Error> {
    let bytes = fs::read(file).map_err(|error| Error::io("read", file, error))?;
    Ok(Hash::new().with(&bytes).hex())
}

pub(super) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Error> {
    fs::write(path, contents).map_err(|error| Error::io("write", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_folder_of_the_source() {
        let seen = |path: &str, home: &str| relative(Path::new(path), Path::new(home));
        assert_eq!(seen("/a/b/c.fut", "/a/b"), Path::new("c.fut"));
        assert_eq!(seen("/a/c.fut", "/a/b/d"), Path::new("../../c.fut"));
        assert_eq!(seen("/x/c.fut", "/a"), Path::new("../x/c.fut"));
    }

    #[test]
    fn a_refusal_keeps_its_kind_and_message() {
        for (kind, name) in REFUSALS {
            assert_eq!(name_of(kind), Some(name));
            let error = refusal(&format!("{name}\ntwo\nlines"));
            assert_eq!(
                (error.kind(), error.to_string()),
                (kind, "two\nlines".to_owned())
            );
        }
        assert_eq!(name_of(ErrorKind::NoHeader), None);
    }
}
