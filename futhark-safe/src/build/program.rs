//! The builder, and its instructions to Cargo.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use futhark_manifest::{Backend, FunctionList, Manifest};
use futhark_sys::compile::{Artifact, Build, Compiler, Linkage, Toolchain, Vendor};

use super::module;
use crate::error::{Error, ErrorKind, Result};
use crate::tuning::{Tuning, unknown_in};

/// A Futhark program to compile in a build script.
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `compile`"]
pub struct Program {
    source: PathBuf,
    name: Option<String>,
    backends: Vec<Backend>,
    compiler: Option<PathBuf>,
    vendored: Option<PathBuf>,
    hardened: bool,
    linked: bool,
    tuning: Option<PathBuf>,
    options: Vec<String>,
    flags: Vec<String>,
    native: bool,
    serde: bool,
    raw: bool,
}

impl Program {
    /// Selects a source file, relative to the package. The module has the name of the file.
    pub fn new(source: impl Into<PathBuf>) -> Program {
        Program {
            source: source.into(),
            name: None,
            backends: vec![Backend::C],
            compiler: None,
            vendored: None,
            hardened: true,
            linked: true,
            tuning: None,
            options: Vec::new(),
            flags: Vec::new(),
            native: false,
            serde: false,
            raw: false,
        }
    }

    /// Sets the backends, the preferred one first. Default: `c`. The variable `FUTHARK_BACKENDS`, such as
    /// `cuda,c`, takes precedence.
    pub fn backends(mut self, backends: impl IntoIterator<Item = Backend>) -> Program {
        self.backends = backends.into_iter().collect();
        self
    }

    /// Sets the backends whose Cargo feature of the package is enabled: the feature `cuda` for the
    /// backend `cuda`. Preferred in this order: `cuda`, `hip`, `opencl`, `multicore`, `c`. Without
    /// such a feature, `c`.
    pub fn backends_of_features(self) -> Program {
        let is_enabled = |backend: &Backend| {
            let feature = format!("CARGO_FEATURE_{}", backend.as_str().to_uppercase());
            std::env::var_os(feature).is_some()
        };
        let order = [
            Backend::Cuda,
            Backend::Hip,
            Backend::OpenCl,
            // Refused with a reason, instead of being ignored.
            Backend::Ispc,
            Backend::Multicore,
            Backend::C,
        ];
        let mut enabled: Vec<Backend> = order.into_iter().filter(is_enabled).collect();
        if enabled.is_empty() {
            enabled.push(Backend::C);
        }
        self.backends(enabled)
    }

    /// Sets the name for `include_program!`. Default: the name of the file.
    pub fn name(mut self, name: impl Into<String>) -> Program {
        self.name = Some(name.into());
        self
    }

    /// Sets the Futhark compiler. Default: see [`Compiler::find`](crate::compile::Compiler::find).
    pub fn futhark(mut self, program: impl Into<PathBuf>) -> Program {
        self.compiler = Some(program.into());
        self
    }

    /// Uses the generated code in a folder of the package instead of a Futhark compiler: see
    /// [vendored code](crate::build#vendored-code).
    pub fn vendored(mut self, folder: impl Into<PathBuf>) -> Program {
        self.vendored = Some(folder.into());
        self
    }

    /// Disables the checks of sizes and divisions (`false`), on which guarantees in SAFETY.md depend.
    ///
    /// By default, sizes that overflow or are negative are errors, and so is a division that the processor rejects. Kernels
    /// take as long as in plain C (BENCHMARKS.md). Turn it off for a program whose sizes all come from trusted code
    /// if you have measured that it matters.
    pub fn hardened(mut self, hardened: bool) -> Program {
        self.hardened = hardened;
        self
    }

    /// Writes the module without linking the program (`false`). Contexts are made from a shared object of
    /// the program: see [shipping](crate::build#shipping). Needs no C compiler; an error with raw modules.
    pub fn linked(mut self, linked: bool) -> Program {
        self.linked = linked;
        self
    }

    /// Embeds a tuning file, relative to the package: see [tuning](crate::build#tuning). Default: the file
    /// `stats.fut.tuning` beside the program `stats.fut`, if it exists.
    pub fn tuning(mut self, file: impl Into<PathBuf>) -> Program {
        self.tuning = Some(file.into());
        self
    }

    /// Adds an option for the Futhark compiler: `--safe`, `--Werror`, `-w` or `--entry-point=NAME`. Others
    /// are an error.
    pub fn option(mut self, option: impl Into<String>) -> Program {
        self.options.push(option.into());
        self
    }

    /// Adds a flag for the C compiler, after our own: `-O0` makes debug builds faster.
    pub fn flag(mut self, flag: impl Into<String>) -> Program {
        self.flags.push(flag.into());
        self
    }

    /// Compiles host code for the processor of this machine: `-march=native`, or `-mcpu=native` on ARM.
    ///
    /// The kernels of BENCHMARKS.md are 2 % faster on average on backend c, and a stencil 15 %.
    ///
    /// The binary runs on processors of the same family only; on others it ends with an illegal instruction. Results stay
    /// equal, because floats are not contracted. A cross build is an error.
    pub fn native(mut self) -> Program {
        self.native = true;
        self
    }

    /// Derives `Serialize` and `Deserialize` of serde for structs of fields and enums of variants whose leaves
    /// are scalars: see [serde](crate::build#serde).
    pub fn serde(mut self, serde: bool) -> Program {
        self.serde = serde;
        self
    }

    /// Adds the module `raw` for plain C calls, with a module for each backend: see
    /// [raw modules](crate::build#raw-modules).
    #[cfg(feature = "raw")]
    pub fn raw(mut self, raw: bool) -> Program {
        self.raw = raw;
        self
    }

    /// Compiles the program, writes its module, and instructs Cargo to link it. Return the error from
    /// `main` of the build script: Cargo then shows it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Compile`], with the output of the compiler that failed, or with what to install.
    pub fn compile(&self) -> Result<()> {
        let out_dir = PathBuf::from(self.variable("OUT_DIR")?);
        let target = self.variable("TARGET")?.to_string_lossy().into_owned();
        let cfg = |name: &str| {
            let value = std::env::var(format!("CARGO_CFG_TARGET_{name}"));
            value.unwrap_or_default()
        };
        let system = (&*cfg("OS"), &*cfg("ENV"), &*cfg("POINTER_WIDTH"));
        if !matches!(
            system,
            ("linux" | "macos", _, "64") | ("windows", "gnu", "64")
        ) {
            return Err(self.error(format!(
                "cannot compile for {target}: the supported systems are Linux, macOS and Windows \
                 (x86_64-pc-windows-gnu) with pointers of 64 bits"
            )));
        }
        if self.native && self.variable("HOST")? != *target {
            return Err(self.error(format!(
                "cannot compile for {target} with `native()`: it is for the processor of this machine; \
                 use `flag(\"-march=…\")` with a processor of the target"
            )));
        }
        let name = self.module_name()?;
        let backends = self.chosen_backends()?;
        // Cargo runs a script that failed again in any case, and shows its output.
        let mut cargo = Instructions::default();
        for variable in Toolchain::VARIABLES.into_iter().chain(VARIABLES) {
            cargo.add(format!("rerun-if-env-changed={variable}"));
        }
        cargo.watch(&self.source);
        if !self.linked && self.raw {
            return Err(self.error(
                "raw modules need a linked program: remove `raw(true)` or `linked(false)`"
                    .to_owned(),
            ));
        }
        let module = match !self.linked || is_face_only() && !self.raw {
            true => self.face(&name, &backends, &out_dir, &mut cargo)?,
            false => self.whole(&name, &backends, &out_dir, &target, &mut cargo)?,
        };
        write_if_changed(&out_dir.join(format!("{name}.rs")), &module)?;
        cargo.print();
        Ok(())
    }

    /// The module without libraries. It can be checked and documented, and not linked.
    fn face(
        &self,
        name: &str,
        backends: &[Backend],
        out_dir: &Path,
        cargo: &mut Instructions,
    ) -> Result<String> {
        let compiler = self.futhark_compiler()?;
        let interface = |backend| {
            let build = self.build(backend, compiler.as_ref(), out_dir);
            build.interface().map_err(|error| self.failed(error))
        };
        // The interface is that of every backend, and `c` takes the least time. Vendored code need not have each
        // backend; updating and checking it concerns all.
        let concerns_all = self.vendored.is_some()
            && Toolchain::vendor().map_err(|error| self.failed(error))? != Vendor::Use;
        let candidates = match self.vendored.is_some() {
            true => backends,
            false => &[Backend::C],
        };
        let mut faces = candidates.iter().map(|&backend| interface(backend));
        let face = match concerns_all {
            true => faces.collect::<Result<Vec<_>>>()?.swap_remove(0),
            false => {
                let first = faces.next().expect("at least one backend is selected");
                first.or_else(|error| faces.find_map(Result::ok).ok_or(error))?
            }
        };
        face.sources.iter().for_each(|file| cargo.watch(file));
        let tuning = self.checked_tuning([&face.program], cargo)?;
        let symbols = backends.iter().filter(|_| self.linked);
        let symbols: Vec<String> = symbols.map(|b| format!("{NOT_COMPILED}_{b}")).collect();
        let symbols: Vec<&str> = symbols.iter().map(String::as_str).collect();
        module::write(
            name,
            &face.program,
            &FunctionList::of(&face.program),
            &symbols,
            (&self.source, &face.sources),
            self.serde,
            tuning.as_ref(),
        )
    }

    /// The module with a library for each backend.
    fn whole(
        &self,
        name: &str,
        backends: &[Backend],
        out_dir: &Path,
        target: &str,
        cargo: &mut Instructions,
    ) -> Result<String> {
        let compiler = self.futhark_compiler()?;
        let builds = backends.iter();
        let builds = builds.map(|&backend| self.build(backend, compiler.as_ref(), out_dir));
        let artifacts = run(&builds.collect::<Vec<_>>()).map_err(|error| self.failed(error))?;
        let first = &artifacts[0];
        for other in &artifacts[1..] {
            let same = other.program().interface_hash() == first.program().interface_hash()
                && other.functions() == first.functions();
            if !same {
                return Err(self.error(format!(
                    "the compiler generated different APIs for backends {} and {}; this is a bug in the compiler",
                    other.program().backend,
                    first.program().backend
                )));
            }
        }
        let programs = artifacts.iter().flat_map(Artifact::programs);
        programs
            .chain(first.sources())
            .for_each(|file| cargo.watch(file));
        warn(first, cargo);
        let tuning = self.checked_tuning(artifacts.iter().map(Artifact::program), cargo)?;
        let symbols: Vec<&str> = artifacts.iter().map(Artifact::symbol).collect();
        let text = module::write(
            name,
            first.program(),
            &first.functions(),
            &symbols,
            (&self.source, first.sources()),
            self.serde,
            tuning.as_ref(),
        )?;
        #[cfg(feature = "raw")]
        let text = match self.raw {
            true => text + &super::raw::write(name, &artifacts, out_dir)?,
            false => text,
        };
        link(&artifacts, target, cargo);
        Ok(text)
    }

    /// The tuning to embed. Its names are compared with the parameters of the GPU backends, if there are any.
    fn checked_tuning<'a>(
        &self,
        programs: impl IntoIterator<Item = &'a futhark_manifest::Program>,
        cargo: &mut Instructions,
    ) -> Result<Option<Tuning>> {
        let beside = || {
            let mut name = self.source.clone().into_os_string();
            name.push(".tuning");
            Some(PathBuf::from(name)).filter(|file| file.exists())
        };
        let Some(file) = self.tuning.clone().or_else(beside) else {
            return Ok(None);
        };
        cargo.watch(&file);
        let failed = |error: Error| self.error(error.to_string());
        let tuning = Tuning::read(&file).map_err(failed)?;
        let gpu = programs
            .into_iter()
            .filter(|program| program.backend.is_gpu());
        let mut gpu = gpu.peekable();
        if gpu.peek().is_some() {
            let entries = gpu.flat_map(futhark_manifest::Program::entries);
            let names = entries.flat_map(|entry| &entry.tuning_params);
            let names: Vec<&str> = names.map(String::as_str).collect();
            if let Some(error) = unknown_in(&tuning, &names) {
                return Err(failed(error));
            }
        }
        Ok(Some(tuning))
    }

    fn build(&self, backend: Backend, compiler: Option<&Compiler>, out_dir: &Path) -> Build {
        let mut build = Build::new(&self.source, backend)
            .out_dir(out_dir.join("futhark"))
            .linkage(Linkage::Static)
            .hardened(self.hardened);
        #[cfg(feature = "raw")]
        {
            build = build.raw(self.raw);
        }
        if let Some(compiler) = compiler {
            build = build.compiler(compiler.clone());
        }
        if let Some(folder) = &self.vendored {
            build = build.vendored(folder);
        }
        for option in &self.options {
            build = build.option(option);
        }
        if self.native {
            // gcc and clang know `-march=native` on x86 only.
            let flag = match cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
                true => "-march=native",
                false => "-mcpu=native",
            };
            build = build.flag(flag);
        }
        for flag in &self.flags {
            build = build.flag(flag);
        }
        build
    }

    /// The Futhark compiler for all backends; `None` if vendored code may make it unnecessary.
    fn futhark_compiler(&self) -> Result<Option<Compiler>> {
        let found = match (&self.compiler, &self.vendored) {
            (Some(program), _) => Compiler::at(program).map(Some),
            (None, Some(_)) => Ok(None),
            (None, None) => Compiler::find().map(Some),
        };
        found.map_err(|error| self.failed(error))
    }

    /// The backends in `FUTHARK_BACKENDS`, or those of the build script.
    fn chosen_backends(&self) -> Result<Vec<Backend>> {
        let named = std::env::var(BACKENDS).unwrap_or_default();
        let names = named
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let mut selected = names
            .map(str::parse)
            .collect::<Result<Vec<Backend>, _>>()
            .map_err(|error| self.error(format!("{BACKENDS}: {error}")))?;
        if selected.is_empty() {
            selected.clone_from(&self.backends);
        }
        let mut seen = BTreeSet::new();
        selected.retain(|&backend| seen.insert(backend.as_str()));
        match selected.is_empty() {
            true => Err(self.error("no backend was selected".to_owned())),
            false => Ok(selected),
        }
    }

    fn module_name(&self) -> Result<String> {
        let stem = || Some(self.source.file_stem()?.to_str()?.to_owned());
        let name = self.name.clone().or_else(stem).unwrap_or_default();
        match is_identifier(&name) {
            true => Ok(name),
            false => Err(self.error(format!(
                "`{name}` is not a valid module name; set another one with `name`"
            ))),
        }
    }

    fn variable(&self, name: &str) -> Result<std::ffi::OsString> {
        std::env::var_os(name).ok_or_else(|| {
            self.error(format!(
                "{name} is not set: call this from a build script, which Cargo runs"
            ))
        })
    }

    fn error(&self, message: String) -> Error {
        Error::new(
            ErrorKind::Compile,
            self.source.display().to_string(),
            message,
        )
    }

    fn failed(&self, error: futhark_sys::compile::Error) -> Error {
        self.error("cannot compile the program".to_owned())
            .with_source(error)
    }
}

/// Runs the builds, at most as many at a time as Cargo runs jobs.
fn run(builds: &[Build]) -> Result<Vec<Artifact>, futhark_sys::compile::Error> {
    let jobs = std::env::var("NUM_JOBS").ok();
    let jobs = jobs.and_then(|jobs| jobs.parse().ok()).unwrap_or(1).max(1);
    let mut artifacts = Vec::new();
    for some in builds.chunks(jobs) {
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads = some.iter().map(|build| scope.spawn(|| build.run()));
            let threads: Vec<_> = threads.collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        for result in results {
            artifacts.push(result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
    }
    Ok(artifacts)
}

/// The variable that names the backends, separated by commas, in place of the build script.
const BACKENDS: &str = "FUTHARK_BACKENDS";

/// The variables with which only the module is written.
const FACE_ONLY: [&str; 2] = ["FUTHARK_SAFE_FACE_ONLY", "DOCS_RS"];

/// The variables that this crate reads.
const VARIABLES: [&str; 3] = [BACKENDS, FACE_ONLY[0], FACE_ONLY[1]];

/// The symbols in place of the tables, which the linker names if a crate is linked after all.
const NOT_COMPILED: &str = "futhark_not_compiled_because_FUTHARK_SAFE_FACE_ONLY_was_set";

fn is_face_only() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    FACE_ONLY.iter().any(|name| set(name))
}

/// The instructions to Cargo, printed when the script has succeeded.
#[derive(Default)]
struct Instructions(Vec<String>);

impl Instructions {
    fn add(&mut self, instruction: String) {
        self.0.push(instruction);
    }

    /// Runs the script again when the file changes.
    fn watch(&mut self, file: &Path) {
        self.add(format!("rerun-if-changed={}", file.display()));
    }

    fn print(self) {
        for instruction in self.0 {
            println!("cargo::{instruction}");
        }
    }
}

/// Reports the warnings of the Futhark compiler, and unknown or unusual parts of the manifest.
fn warn(artifact: &Artifact, cargo: &mut Instructions) {
    for line in artifact
        .warnings()
        .lines()
        .filter(|line| !line.trim().is_empty())
    {
        cargo.add(format!("warning={line}"));
    }
    let manifest = Manifest::parse(artifact.manifest());
    let findings = manifest.map_or_else(|_| Vec::new(), |m| m.warnings());
    for finding in findings {
        cargo.add(format!("warning=the manifest of the program: {finding}"));
    }
}

fn link(artifacts: &[Artifact], target: &str, cargo: &mut Instructions) {
    for artifact in artifacts {
        let folder = artifact.folder().display();
        cargo.add(format!("rustc-link-search=native={folder}"));
        cargo.add(format!("rustc-link-lib=static={}", artifact.symbol()));
    }
    // Part of the system library on macOS, and Rust links them on Windows. On musl they are part of libc, which Rust
    // links, and the linker would find those of glibc, which end the process.
    if !["apple", "musl", "windows"]
        .iter()
        .any(|system| target.contains(system))
    {
        for library in ["m", "dl", "pthread"] {
            cargo.add(format!("rustc-link-lib=dylib={library}"));
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Writes a file unless its content is the same, so that Cargo does not rebuild dependents.
pub(super) fn write_if_changed(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::write(path, text).map_err(|error| {
        let message = "cannot write the module";
        Error::new(ErrorKind::Compile, path.display().to_string(), message).with_source(error)
    })
}
