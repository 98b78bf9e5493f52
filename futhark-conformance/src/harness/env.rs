//! The environment that the checks of one program share.

use super::answers::Costs;
use super::build::{self, BuildLock};
use super::cases::{CheckResult, Remark, Stop};
use crate::blocks::TestBlocks;
use crate::devices::Device;
use crate::inputs::{self, Random, Store};
use crate::protocol::JobSpec;
use crate::record::CompilerInfo;
use crate::toolchain::{self, Futhark};
use crate::values::{data, found};
use futhark_manifest::{Backend, EntryPoint, Program};
use futhark_safe::compile::lexer::{self, Token};
use futhark_safe::compile::{self, Artifact};
use futhark_safe::dynamic::{Context, Library};
use futhark_safe::{Config, Tuning};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A compiled program, its test blocks, and a context that is replaced after a failure. Threads can share
/// it.
pub struct Env<'a> {
    pub source: &'a Path,
    pub spec: &'a JobSpec,
    /// The build of the library under test.
    pub artifact: &'a Artifact,
    /// The library under test.
    pub library: &'a Library,
    pub blocks: &'a TestBlocks,
    /// The cache file for compiled kernels. The first context of this process writes it, and later
    /// contexts read it.
    pub cache: Option<PathBuf>,
    /// Where the program turns off checks with `#[unsafe]`, if it does.
    pub unchecked: Option<String>,
    /// The tuning file beside the program, if there is one, or why it cannot be used.
    pub tuning: Result<Tuning, String>,
    /// What calls cost, as far as it was measured.
    pub costs: Costs,
    pub remark: Remark,
    /// The program for backend `c` by compilers, or why it is not available. Each library is loaded with a
    /// table of its own and shares nothing, so one process can compare several.
    pub others: Mutex<HashMap<String, Result<Library, String>>>,
    /// The context that the cases share.
    pub context: SharedContext,
}

/// Locks data that a panic of a check leaves valid.
pub fn locked<T>(data: &Mutex<T>) -> MutexGuard<'_, T> {
    data.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A context that is created when it is needed, and created again after it was dropped.
#[derive(Default)]
pub struct SharedContext(Mutex<Option<Arc<Context>>>);

impl SharedContext {
    /// The context. Creates it by `new` if there is none.
    pub fn get(
        &self,
        new: impl FnOnce() -> Result<Context, futhark_safe::Error>,
    ) -> Result<Arc<Context>, futhark_safe::Error> {
        let mut context = locked(&self.0);
        Ok(Arc::clone(match &mut *context {
            Some(context) => context,
            none => none.insert(Arc::new(new()?)),
        }))
    }

    /// Drops the context.
    pub fn forget(&self) {
        let context = locked(&self.0).take();
        drop(context);
    }
}

impl<'a> Env<'a> {
    #[must_use]
    pub fn device(&self) -> &'a Device {
        &self.spec.device
    }

    #[must_use]
    pub fn seed(&self) -> u64 {
        self.spec.run.seed
    }

    /// A generator of values; `salt` separates different uses of the seed.
    #[must_use]
    pub fn random(&self, salt: &str) -> Random {
        inputs::random(self.seed(), salt)
    }

    /// The number of generated inputs, if the user chose one.
    #[must_use]
    pub fn cases(&self) -> Option<u32> {
        self.spec.run.cases
    }

    /// The time after which no further generated input is tried.
    #[must_use]
    pub fn time(&self) -> Duration {
        match self.cases() {
            // A requested number is exact.
            Some(_) => Duration::from_secs(60),
            None => Duration::from_millis(700),
        }
    }

    /// The time limit of a case that calls entry points of the library under test with generated
    /// inputs. The first call on some devices compiles kernels, or interprets them.
    #[must_use]
    pub fn limit(&self) -> Duration {
        Duration::from_secs(match (self.cases(), self.device().has_costly_contexts()) {
            (Some(_), _) => 90,
            (None, true) => 30,
            (None, false) => 5,
        })
    }

    /// The files of inputs that failed in a check.
    #[must_use]
    pub fn store(&self, check: &str) -> Store {
        let spec = self.spec;
        let (backend, device) = (spec.device.backend, &spec.device.name);
        let job = format!("{check} {backend} {} {device}", spec.compiler.version);
        let folder = &spec.run.regressions;
        Store::open(folder, self.source, &job, spec.earlier.last_was_slow)
    }

    /// Why a failure with a generated input does not count, if the program uses `#[unsafe]`.
    #[must_use]
    pub fn excuse(&self) -> Option<String> {
        let location = self.unchecked.as_ref()?;
        Some(format!(
            "possible by the program's own word (`#[unsafe]` in {location}), with a generated input"
        ))
    }

    /// A skip for a program with `#[unsafe]`, which is only called with arguments that its test blocks show.
    pub fn may_generate(&self, what: &str) -> CheckResult {
        match &self.unchecked {
            None => Ok(()),
            Some(location) => Err(Stop::skip(format!(
                "the program uses `#[unsafe]` ({location}), and no test block shows arguments of {what}"
            ))),
        }
    }

    /// A skip if a tag says that the results of an entry point depend on the order of execution, for
    /// example where it writes one element twice. Only the first test block of a program can have tags,
    /// so the tag contains the name of the entry point.
    pub fn must_be_ordered(&self, entry: &EntryPoint) -> CheckResult {
        let tag = format!("unordered_{}", entry.name);
        match self.blocks.tags.contains(&tag) {
            true => Err(Stop::skip(format!(
                "tagged {tag}: the result is not determined for every input"
            ))),
            false => Ok(()),
        }
    }

    /// The program, as its manifest describes it.
    #[must_use]
    pub fn program(&self) -> &'a Program {
        self.library.program()
    }

    /// The location of a line of the source, for messages.
    #[must_use]
    pub fn location(&self, line: usize) -> String {
        format!("{}:{line}", self.source.display())
    }

    /// The settings of each context of the library under test.
    pub fn config(&self) -> Config {
        let config = self.tuned(self.device().config(), self.library);
        match &self.cache {
            Some(file) => config.cache_file(file),
            None => config,
        }
    }

    /// Fails if the tuning file cannot be used, as every test case does in `futhark test`.
    pub fn fitting_tuning(&self) -> CheckResult {
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
    pub fn new_context(&self) -> Result<Context, futhark_safe::Error> {
        Context::new(self.library, &self.config())
    }

    /// Creates a context of another library of the program.
    pub fn context_of(&self, library: &Library) -> Result<Context, futhark_safe::Error> {
        let config = match library.backend() == self.library.backend() {
            true => self.device().config(),
            false => Config::new(),
        };
        Context::new(library, &self.tuned(config, library))
    }

    /// The shared context. Creates it if there is none.
    pub fn context(&self) -> CheckResult<Arc<Context>> {
        Ok(self.context.get(|| self.new_context())?)
    }

    /// Drops the shared context, so that the next case creates another one.
    pub fn forget_context(&self) {
        self.context.forget();
    }

    /// Opens a compiler of the run, unless it was replaced since the run began.
    pub fn open(&self, compiler: &CompilerInfo) -> Result<Futhark, compile::Error> {
        toolchain::open(compiler, &self.spec.run.seen)
    }

    /// The program for backend `c`, which runs on every machine, built by a compiler. Blocks while it is compiled, if
    /// it is not in the build folder, which all jobs share. A skip if it does not compile, which the job of that
    /// compiler reports.
    pub fn sequential(&self, compiler: &CompilerInfo) -> CheckResult<Library> {
        let load = || {
            let found = self.open(compiler).map_err(|error| format!("{error:#}"))?;
            let (run, backend) = (&self.spec.run, Backend::C);
            let build = build::build(self.source, backend, run.optimise).out_dir(&run.build_dir);
            let build = found.select(build);
            let _lock = BuildLock::take(&run.build_dir, self.source, backend, &compiler.path);
            Library::build(&build).map_err(|error| format!("{error:#}"))
        };
        let mut others = locked(&self.others);
        let library = others.entry(compiler.path.clone()).or_insert_with(load);
        library.clone().map_err(|reason| {
            let compiler = &compiler.path;
            Stop::skip(format!(
                "no library to compare with, for c by {compiler}: {reason}"
            ))
        })
    }
}

/// Reads `PROGRAM.fut.tuning`, if it exists.
pub fn read_tuning(
    source: &Path,
    folders: Option<&[PathBuf]>,
    library: &Library,
) -> Result<Tuning, String> {
    let file = tuning_file(source);
    let name = Path::new(file.file_name().unwrap_or_default());
    match data::locate(source, name, folders) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Tuning::default()),
        Err(error) => return Err(format!("failed to read {}: {error}", file.display())),
        Ok(_) => {}
    }
    let tuning = Tuning::read(&file).map_err(|error| error.to_string())?;
    if let Some((name, _)) = tuning.values().find(|(name, _)| !has(library, name)) {
        let (file, backend) = (file.display(), library.backend());
        let name = found(name);
        return Err(format!("{file}: {backend} has no tuning parameter {name}"));
    }
    Ok(tuning)
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

/// Where a program turns off checks with `#[unsafe]`: the file and the line of the first in its source and its
/// imports.
///
/// An index out of bounds is then undefined behaviour for which the program is responsible, so
/// failures with generated inputs do not count.
pub fn find_unsafe(sources: &[PathBuf]) -> io::Result<Option<String>> {
    for path in sources {
        let text = std::fs::read(path)?;
        let text = String::from_utf8_lossy(&text);
        let is_unsafe = |pair: &[Token<'_>; 2]| pair.map(|token| token.text) == ["#[", "unsafe"];
        if let Some([attribute, _]) = lexer::pairs(&text).find(is_unsafe) {
            let line = text[..attribute.at].matches('\n').count() + 1;
            return Ok(Some(format!("{}:{line}", path.display())));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futhark_safe::compile::sources;

    #[test]
    fn the_attribute_is_found_in_imports_and_not_in_comments() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("lib")).unwrap();
        let find = |source: &Path| find_unsafe(&sources(source).unwrap());
        let main = "-- #[unsafe]\nimport \"lib/a\"\nentry f (x: i32) = x -- #[unsafe]\n";
        std::fs::write(path("main.fut"), main).unwrap();
        std::fs::write(path("lib/a.fut"), "import \"/prelude/x\"\nimport \"b\"\n").unwrap();
        let b = |text: &str| std::fs::write(path("lib/b.fut"), text).unwrap();
        b("import \"a\"\ndef s = \"--\" def f = 1\n");
        assert_eq!(find(&path("main.fut")).unwrap(), None);
        b("def s = \"--\"\ndef f (xs: []i32) i = #[unsafe] xs[i]\n");
        let found = find(&path("main.fut")).unwrap().unwrap();
        assert_eq!(found, format!("{}:2", path("lib/b.fut").display()));
        b("def (+--) x y = x +-- y #[ -- why\n  unsafe ] y\n");
        let found = find(&path("main.fut")).unwrap().unwrap();
        assert_eq!(found, format!("{}:1", path("lib/b.fut").display()));
        std::fs::write(path("lib/a.fut"), "def s = \"#[unsafe]\" open import\"c\"").unwrap();
        assert_eq!(find(&path("main.fut")).unwrap(), None);
        std::fs::write(path("lib/c.fut"), "def f x = #[unsafe] x").unwrap();
        let found = find(&path("main.fut")).unwrap().unwrap();
        assert_eq!(found, format!("{}:1", path("lib/c.fut").display()));
        assert!(find_unsafe(&[path("none.fut")]).is_err());
    }
}
