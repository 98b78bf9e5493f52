//! Reading files and standard input.

use std::convert::Infallible;
use std::fmt;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use futhark_manifest::{Manifest, Printable, Program};

use crate::{Failure, say};

/// A file named on the command line.
#[derive(Clone)]
pub(crate) enum File {
    Stdin,
    Path(PathBuf),
}

impl FromStr for File {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<File, Infallible> {
        Ok(match name {
            "-" => File::Stdin,
            path => File::Path(path.into()),
        })
    }
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            File::Stdin => f.write_str("standard input"),
            File::Path(path) => Printable(&path.to_string_lossy()).fmt(f),
        }
    }
}

impl File {
    /// Returns an error if standard input is named more than once.
    pub(crate) fn once<'a>(files: impl IntoIterator<Item = &'a File>) -> Result<(), Failure> {
        let stdin = files.into_iter().filter(|file| matches!(file, File::Stdin));
        match stdin.count() {
            0 | 1 => Ok(()),
            _ => Err(Failure::Usage(
                "standard input (-) can be used for one file only",
            )),
        }
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            File::Stdin => None,
            File::Path(path) => Some(path),
        }
    }

    /// The whole file.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Failure> {
        let read = match self {
            File::Stdin => {
                if io::stdin().is_terminal() {
                    say::note("reading the manifest from standard input; see --help");
                }
                let mut bytes = Vec::new();
                io::stdin().read_to_end(&mut bytes).map(|_| bytes)
            }
            File::Path(path) => std::fs::read(path),
        };
        read.map_err(|error| Failure::Io(format!("cannot read {self}: {error}")))
    }
}

/// The content of a manifest file.
pub(crate) struct Text {
    pub(crate) file: File,
    pub(crate) bytes: Vec<u8>,
}

impl Text {
    pub(crate) fn read(file: &File) -> Result<Text, Failure> {
        let bytes = file.read()?;
        let file = file.clone();
        Ok(Text { file, bytes })
    }

    /// The text, for excerpts in diagnostics.
    pub(crate) fn as_str(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// Resolves the manifest; writes errors and warnings to standard error.
    pub(crate) fn program(&self) -> Result<Program, Failure> {
        let manifest = Manifest::parse_bytes(&self.bytes);
        let resolved =
            manifest.and_then(|manifest| Ok((manifest.warnings(), manifest.into_program()?)));
        let text = self.as_str();
        let mut errors = say::Findings::new(&self.file, &text);
        match resolved {
            Ok((warnings, program)) => {
                errors.write_all(&mut anstream::stderr(), &warnings)?;
                Ok(program)
            }
            Err(error) => {
                errors.write_all(&mut anstream::stderr(), error.findings())?;
                Err(Failure::Unusable)
            }
        }
    }
}
