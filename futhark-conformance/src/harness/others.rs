//! The same program, compiled otherwise: for another backend, by another
//! compiler. Libraries are objects that were loaded, each with its own table
//! and nothing shared, so several can live in this process and be compared.

use super::build::{self, BuildLock};
use super::steps::{StepResult, Stop};
use crate::protocol::JobSpec;
use futhark_manifest::Backend;
use futhark_safe::compile::Compiler;
use futhark_safe::dynamic::Library;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// Builds and loads other libraries of the program, each when it is first
/// asked for. What another job has built is found again: libraries are kept by
/// content, in a folder that all jobs share.
#[derive(Debug, Default)]
pub struct Others {
    /// The program's source.
    pub source: PathBuf,
    /// The compiler under test.
    pub compiler: PathBuf,
    /// The other compilers of the run, oldest first.
    pub compilers: Vec<PathBuf>,
    /// The backends that this process can run.
    pub at_hand: Vec<Backend>,
    /// Where compiled programs are kept.
    pub build_dir: PathBuf,
    /// Whether to compile as for users.
    pub optimise: bool,
    loaded: RefCell<Vec<Loaded>>,
}

/// A library that was asked for, or why there is none.
#[derive(Debug)]
struct Loaded {
    backend: Backend,
    compiler: PathBuf,
    library: Result<Library, String>,
}

impl Others {
    /// Those of the program that this process checks.
    #[must_use]
    pub fn of(program: &Path, spec: &JobSpec) -> Others {
        let compilers = spec.run.compilers.iter();
        let others = compilers.filter(|other| **other != spec.compiler);
        Others {
            source: program.to_owned(),
            compiler: spec.compiler.clone(),
            compilers: others.cloned().collect(),
            at_hand: spec.run.at_hand.clone(),
            build_dir: spec.run.build_dir.clone(),
            optimise: spec.run.optimise,
            loaded: RefCell::default(),
        }
    }

    /// The program for a backend, by the compiler under test.
    ///
    /// # Errors
    /// As [`Others::by`].
    pub fn backend(&self, backend: Backend) -> StepResult<Library> {
        self.by(&self.compiler, backend)
    }

    /// The program for a backend, by a compiler. Blocks for as long as the
    /// compilers take, if nobody has compiled it before.
    ///
    /// # Errors
    /// A skip, with the reason: this machine cannot run the backend, or the
    /// program does not compile for it. That is a finding, but one of the job
    /// that is about this library.
    pub fn by(&self, compiler: &Path, backend: Backend) -> StepResult<Library> {
        // The sequential backend runs wherever the others do, asked for or not.
        if backend != Backend::C && !self.at_hand.contains(&backend) {
            return Err(Stop::skip(format!("this machine cannot run {backend}")));
        }
        let found = self
            .loaded
            .borrow()
            .iter()
            .find(|loaded| loaded.backend == backend && loaded.compiler == compiler)
            .map(|loaded| loaded.library.clone());
        let library = found.unwrap_or_else(|| {
            let library = self.load(compiler, backend);
            self.loaded.borrow_mut().push(Loaded {
                backend,
                compiler: compiler.to_owned(),
                library: library.clone(),
            });
            library
        });
        library.map_err(|reason| {
            Stop::skip(format!(
                "there is nothing to compare with: for {backend}, by {}: {reason}",
                compiler.display()
            ))
        })
    }

    fn load(&self, compiler: &Path, backend: Backend) -> Result<Library, String> {
        let found = Compiler::at(compiler).map_err(|error| error.to_string())?;
        let build = build::build(&self.source, backend, self.optimise)
            .compiler(found)
            .out_dir(&self.build_dir);
        let _lock = BuildLock::take(&self.build_dir, &self.source, backend, compiler);
        Library::build(&build).map_err(|error| error.to_string())
    }
}
