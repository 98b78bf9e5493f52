//! Programs that are linked into the test binary, in place of compilers and the libraries that they make.

use std::path::{Path, PathBuf};

use futhark_safe::dynamic::Library;
use futhark_safe::{Backend, Context, Error};
use futhark_safe_typed_tests as programs;

/// The compiler that the build script used.
#[derive(Clone)]
pub struct Compiler;

impl Compiler {
    pub fn program(&self) -> &Path {
        Path::new("")
    }

    pub fn version(&self) -> &str {
        "linked"
    }
}

pub fn build(source: &Path, backend: Backend, _: &Compiler) -> (PathBuf, Backend) {
    (source.to_owned(), backend)
}

pub fn load(&(ref source, backend): &(PathBuf, Backend)) -> Result<Library, Error> {
    match source.file_stem().and_then(|name| name.to_str()) {
        Some("basics") => Context::<programs::basics::Program>::library(backend),
        Some("failures") => Context::<programs::failures::Program>::library(backend),
        Some("growing") => Context::<programs::growing::Program>::library(backend),
        Some("lost_constant") => Context::<programs::lost_constant::Program>::library(backend),
        Some("stored") => Context::<programs::stored::Program>::library(backend),
        name => panic!("{name:?} is not linked"),
    }
}
