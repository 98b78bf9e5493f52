//! The environment that the checks of one program share.

use super::costs::Costs;
use super::others::Others;
use crate::blocks::TestBlocks;
use crate::devices::Device;
use crate::harness::steps::{Ran, Remark, StepResult, Steps, Stop};
use crate::inputs::Settings;
use crate::values::{data, found};
use futhark_manifest::Program;
use futhark_safe::dynamic::{Context, Library};
use futhark_safe::{Config, Tuning};
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// The least time limit on a device whose first call may compile kernels, or interprets them.
const COSTLY_LIMIT: Duration = Duration::from_secs(30);

/// A compiled program, its test blocks, and a context that is replaced after a failure.
pub struct Env<'a> {
    /// The library under test.
    pub library: &'a Library,
    /// The test blocks.
    pub blocks: &'a TestBlocks,
    /// The device.
    pub device: &'a Device,
    /// The seed of generated values.
    pub seed: u64,
    /// The cache file for compiled kernels. The first context of this process writes it, and later
    /// contexts read it.
    pub cache: Option<PathBuf>,
    /// The settings of generated inputs.
    pub inputs: Settings,
    /// The same program, built for other backends and by other compilers.
    pub others: Others,
    /// The architectures to compile kernels for.
    pub architectures: &'a [String],
    /// The tuning file beside the program, if there is one, or why it cannot be used.
    pub tuning: Result<Tuning, String>,
    /// The folders with files for test blocks, besides that of the program; any folder if there is none.
    pub data_folders: Option<&'a [PathBuf]>,
    /// Where the program turns off checks with `#[unsafe]`, if it does.
    pub unchecked: Option<String>,
    /// What calls cost, as far as it was measured.
    pub costs: Costs,
    /// The remark on the step that runs.
    pub remark: Remark,
    context: RefCell<Option<Rc<Context>>>,
}

/// The parts of an [`Env`] that another thread can use; see [`Env::twin`].
#[derive(Clone, Debug)]
pub struct Twin<'a> {
    library: &'a Library,
    blocks: &'a TestBlocks,
    device: &'a Device,
    seed: u64,
    others: Others,
    tuning: Result<Tuning, String>,
    data_folders: Option<&'a [PathBuf]>,
    unchecked: Option<String>,
    costs: Costs,
}

impl<'a> Twin<'a> {
    /// An environment for the same program, which gives the same arguments.
    #[must_use]
    pub fn env(&self) -> Env<'a> {
        let mut env = Env::new(self.library, self.blocks, self.device, self.seed);
        env.tuning.clone_from(&self.tuning);
        env.others.clone_from(&self.others);
        env.data_folders = self.data_folders;
        env.unchecked.clone_from(&self.unchecked);
        env.costs.clone_from(&self.costs);
        env
    }
}

impl<'a> Env<'a> {
    /// An environment without a context.
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
            tuning: Ok(Tuning::default()),
            data_folders: Some(&[]),
            unchecked: None,
            costs: Costs::default(),
            remark: Remark::default(),
            context: RefCell::new(None),
        }
    }

    /// The parts of this environment that another thread can build its own environment from. The
    /// shared context is not among them.
    #[must_use]
    pub fn twin(&self) -> Twin<'a> {
        Twin {
            library: self.library,
            blocks: self.blocks,
            device: self.device,
            seed: self.seed,
            others: self.others.clone(),
            tuning: self.tuning.clone(),
            data_folders: self.data_folders,
            unchecked: self.unchecked.clone(),
            costs: self.costs.clone(),
        }
    }

    /// The time limit of a step that calls entry points of the library under test with generated
    /// inputs.
    #[must_use]
    pub fn limit(&self) -> Duration {
        let limit = self.inputs.limit();
        match self.device.has_costly_contexts() {
            true => limit.max(COSTLY_LIMIT),
            false => limit,
        }
    }

    /// Why a failure with a generated input is no finding, if the program uses `#[unsafe]`.
    #[must_use]
    pub fn excuse(&self) -> Option<String> {
        let place = self.unchecked.as_ref()?;
        Some(format!(
            "possible by the program's own word (`#[unsafe]` in {place}), with a generated input"
        ))
    }

    /// A skip for a program with `#[unsafe]`, which is only called with arguments that its test
    /// blocks show.
    ///
    /// # Errors
    /// The skip.
    pub fn may_generate(&self, what: &str) -> StepResult {
        match &self.unchecked {
            None => Ok(()),
            Some(place) => Err(Stop::skip(format!(
                "the program uses `#[unsafe]` ({place}), and no test block shows arguments of {what}"
            ))),
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

    /// The location of a line of the source, for messages.
    #[must_use]
    pub fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.others.source.display())
    }

    /// The settings of each context of the library under test.
    pub fn config(&self) -> Config {
        let config = self.tuned(self.device.config(), self.library);
        match &self.cache {
            Some(file) => config.cache_file(file),
            None => config,
        }
    }

    /// Reads `PROGRAM.fut.tuning`, if it exists, for all contexts.
    pub fn read_tuning(&mut self) {
        let file = tuning_file(&self.others.source);
        let name = Path::new(file.file_name().unwrap_or_default());
        match data::locate(&self.others.source, name, self.data_folders) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => {
                self.tuning = Err(format!("failed to read {}: {error}", file.display()));
                return;
            }
            Ok(_) => {}
        }
        self.tuning = Tuning::read(&file).map_err(|error| error.to_string());
        let values = self.tuning.iter().flat_map(Tuning::values);
        let unknown = values
            .map(|(name, _)| name)
            .find(|name| !has(self.library, name));
        if let Some(name) = unknown {
            let (file, backend) = (file.display(), self.library.backend());
            self.tuning = Err(format!(
                "{file}: {backend} has no tuning parameter {}",
                found(name)
            ));
        }
    }

    /// Fails if the tuning file cannot be used, as every test case does in `futhark test`.
    ///
    /// # Errors
    /// The reason.
    pub fn fitting_tuning(&self) -> StepResult {
        let error = self.tuning.as_ref().err();
        error.map_or(Ok(()), |error| Err(Stop::error(error.clone())))
    }

    /// The settings with the tuning file's values for a library of the program.
    fn tuned(&self, config: Config, library: &Library) -> Config {
        let values = self.tuning.iter().flat_map(Tuning::values);
        values
            .filter(|(name, _)| has(library, name))
            .fold(config, |config, (name, value)| {
                config.tuning_param(name, value)
            })
    }

    /// Creates a context that is not shared.
    ///
    /// # Errors
    /// If the library cannot create a context.
    pub fn new_context(&self) -> Result<Context, futhark_safe::Error> {
        Context::new(self.library, &self.config())
    }

    /// Creates a context of another library from [`Env::others`].
    ///
    /// # Errors
    /// If the library cannot create a context.
    pub fn context_of(&self, library: &Library) -> Result<Context, futhark_safe::Error> {
        let config = match library.backend() == self.library.backend() {
            true => self.device.config(),
            false => Config::new(),
        };
        Context::new(library, &self.tuned(config, library))
    }

    /// The shared context. Creates it if there is none.
    ///
    /// # Errors
    /// If the library cannot create a context.
    pub fn context(&self) -> StepResult<Rc<Context>> {
        if let Some(context) = &*self.context.borrow() {
            return Ok(Rc::clone(context));
        }
        let context = Rc::new(self.new_context()?);
        *self.context.borrow_mut() = Some(Rc::clone(&context));
        Ok(context)
    }

    /// Makes a context the shared one.
    pub fn keep_context(&self, context: Context) {
        *self.context.borrow_mut() = Some(Rc::new(context));
    }

    /// Drops the shared context, so that the next step creates another one.
    pub fn forget_context(&self) {
        self.context.take();
    }

    /// Runs a step with generated inputs in the shared context, as [`Env::step`]. If it takes longer
    /// than `limit`, the parent reports it as skipped.
    pub fn step_within(
        &self,
        steps: &mut Steps<'_>,
        limit: Duration,
        (check, case): (&str, &str),
        body: impl FnOnce(&Context) -> StepResult,
    ) {
        let ran = steps.run_within(check, case, limit, || {
            let context = self.context()?;
            body(&context)
        });
        if ran == Ran::Failed {
            self.forget_context();
        }
    }

    /// Runs a step in the shared context. If it fails, the next step gets a new context, so that a
    /// context that no longer works does not fail it too.
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

/// The tuning file of a program, which need not exist.
#[must_use]
pub fn tuning_file(program: &Path) -> PathBuf {
    let mut file = program.to_owned().into_os_string();
    file.push(".tuning");
    file.into()
}

/// Whether a library has a tuning parameter, or its backend a default of this name.
fn has(library: &Library, name: &str) -> bool {
    let is_default = library.backend().is_gpu() && name.starts_with("default_");
    is_default
        || library
            .tuning_params()
            .iter()
            .any(|param| param.name() == name)
}
