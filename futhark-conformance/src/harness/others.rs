//! Builds of the same program for other backends and by other compilers. Each library is loaded
//! with a table of its own and shares nothing, so one process can compare several.

use super::build::{self, BuildLock};
use super::steps::{StepResult, Stop};
use crate::protocol::JobSpec;
use crate::toolchain::{self, Futhark, Seen};
use futhark_manifest::Backend;
use futhark_safe::compile::Error;
use futhark_safe::dynamic::Library;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Builds and loads other libraries of the program on first use. All jobs share one build folder,
/// so a library that another job has built is reused. Clones share the loaded libraries, also with other
/// threads.
#[derive(Clone, Debug, Default)]
pub struct Others {
    /// The program's source.
    pub source: PathBuf,
    /// The compiler under test.
    pub compiler: PathBuf,
    /// The other compilers of the run, oldest first.
    pub compilers: Vec<PathBuf>,
    /// The labels of all compilers in reports.
    pub labels: HashMap<PathBuf, String>,
    /// The compilers as the parent has found them.
    pub seen: Vec<Seen>,
    /// The backends that this process can run.
    pub at_hand: Vec<Backend>,
    /// The folder for compiled programs.
    pub build_dir: PathBuf,
    /// Whether the C compiler optimises, as for users.
    pub optimise: bool,
    loaded: Arc<Mutex<Vec<Loaded>>>,
}

/// A requested library, or why it is not available.
#[derive(Debug)]
struct Loaded {
    backend: Backend,
    compiler: PathBuf,
    library: Result<Library, String>,
}

impl Others {
    /// The other libraries of the program that a child process checks.
    #[must_use]
    pub fn of(program: &Path, spec: &JobSpec) -> Others {
        let compilers = spec.run.compilers.iter();
        let others = compilers.filter(|other| **other != spec.compiler);
        Others {
            source: program.to_owned(),
            compiler: spec.compiler.clone(),
            compilers: others.cloned().collect(),
            labels: (spec.run.compilers.iter().cloned())
                .zip(spec.run.labels.iter().cloned())
                .collect(),
            seen: spec.run.seen.clone(),
            at_hand: spec.run.at_hand.clone(),
            build_dir: spec.run.build_dir.clone(),
            optimise: spec.run.optimise,
            loaded: Arc::default(),
        }
    }

    /// The compiler's name in messages: its label, or its path.
    #[must_use]
    pub fn label(&self, compiler: &Path) -> String {
        let label = self.labels.get(compiler).cloned();
        label.unwrap_or_else(|| compiler.display().to_string())
    }

    /// The program for another backend, built by the compiler under test.
    ///
    /// # Errors
    /// As [`Others::by`].
    pub fn backend(&self, backend: Backend) -> StepResult<Library> {
        self.by(&self.compiler, backend)
    }

    /// The program for a backend, built by a compiler. Blocks while it is compiled, if it is not in
    /// the build folder.
    ///
    /// # Errors
    /// A skip with the reason: this machine cannot run the backend, or the program does not compile
    /// for it. The job of that backend and compiler reports the failure.
    pub fn by(&self, compiler: &Path, backend: Backend) -> StepResult<Library> {
        // The sequential backend runs on every machine.
        if backend != Backend::C && !self.at_hand.contains(&backend) {
            return Err(Stop::skip(format!("this machine cannot run {backend}")));
        }
        let found = self
            .loaded()
            .iter()
            .find(|loaded| loaded.backend == backend && loaded.compiler == compiler)
            .map(|loaded| loaded.library.clone());
        let library = found.unwrap_or_else(|| {
            let library = self.load(compiler, backend);
            self.loaded().push(Loaded {
                backend,
                compiler: compiler.to_owned(),
                library: library.clone(),
            });
            library
        });
        library.map_err(|reason| {
            Stop::skip(format!(
                "no library to compare with, for {backend} by {}: {reason}",
                compiler.display()
            ))
        })
    }

    fn loaded(&self) -> MutexGuard<'_, Vec<Loaded>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a compiler of the run.
    ///
    /// # Errors
    /// If it was replaced since the run began.
    pub fn open(&self, compiler: &Path) -> Result<Futhark, Error> {
        toolchain::open(compiler, &self.seen)
    }

    fn load(&self, compiler: &Path, backend: Backend) -> Result<Library, String> {
        let found = self.open(compiler).map_err(|error| format!("{error:#}"))?;
        let build = build::build(&self.source, backend, self.optimise).out_dir(&self.build_dir);
        let build = found.select(build);
        let _lock = BuildLock::take(&self.build_dir, &self.source, backend, compiler);
        Library::build(&build).map_err(|error| format!("{error:#}"))
    }
}
