//! What the checks of one program share.

use super::others::Others;
use crate::blocks::TestBlocks;
use crate::devices::Device;
use crate::harness::steps::{Ran, StepResult, Steps};
use crate::inputs::Settings;
use futhark_manifest::Program;
use futhark_safe::Config;
use futhark_safe::dynamic::{Context, Library};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A compiled program, its test blocks, and a context that lasts until
/// something goes wrong in it.
pub struct Env<'a> {
    /// The library under test.
    pub library: &'a Library,
    /// The test blocks.
    pub blocks: &'a TestBlocks,
    /// The device.
    pub device: &'a Device,
    /// Where generated values begin.
    pub seed: u64,
    /// Where devices may keep what they compile: the first context of this
    /// process writes it, the others are faster for it.
    pub cache: Option<PathBuf>,
    /// How much is generated, and where it is kept.
    pub inputs: Settings,
    /// The same program for other backends and by other compilers.
    pub others: Others,
    /// The architectures that kernels are to be compiled for.
    pub architectures: &'a [String],
    context: RefCell<Option<Rc<Context>>>,
}

/// See [`Env::twin`].
#[derive(Clone, Debug)]
pub struct Twin<'a> {
    library: &'a Library,
    blocks: &'a TestBlocks,
    device: &'a Device,
    seed: u64,
    source: PathBuf,
    compiler: PathBuf,
}

impl<'a> Twin<'a> {
    /// An environment that gives the same arguments.
    #[must_use]
    pub fn env(&self) -> Env<'a> {
        let mut env = Env::new(self.library, self.blocks, self.device, self.seed);
        env.others.source.clone_from(&self.source);
        env.others.compiler.clone_from(&self.compiler);
        env
    }
}

impl<'a> Env<'a> {
    /// Without a context yet.
    #[must_use]
    pub fn new(
        library: &'a Library,
        blocks: &'a TestBlocks,
        device: &'a Device,
        seed: u64,
    ) -> Env<'a> {
        Env {
            library,
            blocks,
            device,
            seed,
            cache: None,
            others: Others::default(),
            inputs: Settings::default(),
            architectures: &[],
            context: RefCell::new(None),
        }
    }

    /// What another thread makes an environment of its own from: the same program, without
    /// the shared context.
    #[must_use]
    pub fn twin(&self) -> Twin<'a> {
        Twin {
            library: self.library,
            blocks: self.blocks,
            device: self.device,
            seed: self.seed,
            source: self.others.source.clone(),
            compiler: self.others.compiler.clone(),
        }
    }

    /// The program, as its manifest describes it.
    #[must_use]
    pub fn program(&self) -> &'a Program {
        self.library.program()
    }

    /// The folder of the source.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.others.source.parent().unwrap_or(Path::new("."))
    }

    /// A line of the source, for messages.
    #[must_use]
    pub fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.others.source.display())
    }

    /// The settings of every context of this process.
    pub fn config(&self) -> Config {
        match &self.cache {
            Some(file) => self.device.config().cache_file(file),
            None => self.device.config(),
        }
    }

    /// A context of its own.
    ///
    /// # Errors
    /// What the library says.
    pub fn new_context(&self) -> Result<Context, futhark_safe::Error> {
        Context::new(self.library, &self.config())
    }

    /// A context of another library, for another backend or by another
    /// compiler: see [`Env::others`].
    ///
    /// # Errors
    /// What the library says.
    pub fn context_of(&self, library: &Library) -> Result<Context, futhark_safe::Error> {
        let config = match library.backend() == self.library.backend() {
            true => self.device.config(),
            false => Config::new(),
        };
        Context::new(library, &config)
    }

    /// The shared context; a new one if there is none.
    ///
    /// # Errors
    /// If none can be made.
    pub fn context(&self) -> StepResult<Rc<Context>> {
        if let Some(context) = &*self.context.borrow() {
            return Ok(Rc::clone(context));
        }
        let context = Rc::new(self.new_context()?);
        *self.context.borrow_mut() = Some(Rc::clone(&context));
        Ok(context)
    }

    /// Takes a context that works as the shared one.
    pub fn keep_context(&self, context: Context) {
        *self.context.borrow_mut() = Some(Rc::new(context));
    }

    /// Lets the shared context go, so that the next step begins with another.
    pub fn forget_context(&self) {
        self.context.take();
    }

    /// Runs a step in the shared context, which does not outlive a failure: the
    /// next step shall not suffer for this one.
    pub fn step(
        &self,
        steps: &mut Steps<'_>,
        check: &str,
        case: &str,
        body: impl FnOnce(&Context) -> StepResult,
    ) {
        let ran = steps.run(check, case, || {
            let context = self.context()?;
            body(&context)
        });
        if ran == Ran::Failed {
            self.forget_context();
        }
    }
}
