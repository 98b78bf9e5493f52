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

use futhark_manifest::Version;

use super::artifact::{Artifact, Paths, Wanted};
use super::error::{Error, ErrorKind};
use super::paths::{folder_of, hash_of, write};

/// The description of a library.
pub(super) const LIBRARY: &str = "library";

/// The error of a program that does not compile.
pub(super) const REFUSED: &str = "refused";

/// Looks up a build, whose folder in a recording of the compiler `version` is `folder`.
pub(super) fn recall(
    wanted: &Wanted<'_>,
    recording: &Path,
    folder: &Path,
    version: &Version,
) -> Result<Artifact, Error> {
    let source = wanted.source;
    if let Ok(text) = fs::read_to_string(folder.join(REFUSED)) {
        return Err(refusal(&text));
    }
    let Ok(text) = fs::read_to_string(folder.join(LIBRARY)) else {
        let message = format!(
            "{} is not recorded for {} in {}, a recording of Futhark {version}, or its text or its \
             options have changed; record it again, or install the compiler",
            source.display(),
            wanted.backend,
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
    let mut sources = vec![source.to_owned()];
    let mut lines = text.lines().map(|line| line.split_once(' '));
    let (Some(Some(("symbol", symbol))), Some(Some(("library", hash)))) =
        (lines.next(), lines.next())
    else {
        return Err(damaged("its description"));
    };
    for import in lines {
        let (hash, file) = import.ok_or_else(|| damaged("its description"))?;
        let path = folder_of(source).join(file);
        if hash_of(&path)? != hash {
            let message = format!(
                "{}, which {} imports, has changed since the build was recorded",
                path.display(),
                source.display()
            );
            return Err(Error::new(ErrorKind::NoCompiler, message));
        }
        sources.push(path);
    }
    let paths = Paths {
        folder: folder.to_owned(),
        name: wanted.name.clone(),
        symbol: symbol.to_owned(),
        linkage: wanted.linkage,
    };
    if hash_of(&paths.library())? != hash {
        return Err(damaged("its library"));
    }
    Artifact::read(paths, Vec::new(), sources)
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
pub(super) fn begin(recording: &Path, futhark: &Version) -> Result<(), Error> {
    let own = &futhark.text;
    match version(recording) {
        Some(found) if &found.text == own => return Ok(()),
        Some(found) => {
            let message = format!(
                "expected a recording of Futhark {}, got one of {found}: {}",
                futhark,
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

/// The text of a refusal; `None` if the failure does not depend on the program.
pub(super) fn refused(error: &Error) -> Option<String> {
    let found = REFUSALS.into_iter().find(|(kind, _)| *kind == error.kind());
    found.map(|(_, name)| format!("{name}\n{error:#}"))
}

fn refusal(text: &str) -> Error {
    let (name, message) = text.split_once('\n').unwrap_or((text, ""));
    let found = REFUSALS.into_iter().find(|(_, other)| *other == name);
    Error::new(found.map_or(ErrorKind::Io, |(kind, _)| kind), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_keeps_its_kind_and_message() {
        for (kind, _) in REFUSALS {
            let text = refused(&Error::new(kind, "two\nlines")).unwrap();
            let error = refusal(&text);
            assert_eq!(
                (error.kind(), error.to_string()),
                (kind, "two\nlines".to_owned())
            );
        }
        assert_eq!(refused(&Error::new(ErrorKind::NoHeader, "")), None);
    }
}
