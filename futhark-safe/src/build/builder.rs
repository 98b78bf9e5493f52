//! The builder, and its instructions to Cargo.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use futhark_manifest::names::RUST;
use futhark_manifest::{Backend, Manifest};
use futhark_sys::compile::{Artifact, Build, Compiler, Interface, Linkage, Toolchain, Vendor};

use super::module::Module;
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
    allow_unknown_compiler: bool,
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
            allow_unknown_compiler: false,
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

    /// Sets the backends for which the package has a Cargo feature of the same name that is enabled:
    /// the feature `cuda` for the backend `cuda`. Preferred in this order: `cuda`, `hip`, `opencl`,
    /// `multicore`, `c`. Without such a feature, `c`.
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

    /// Disables the checks of sizes and divisions, and those of bounds that the Futhark compiler omits (`false`).
    /// Guarantees in SAFETY.md depend on them.
    ///
    /// By default, sizes that overflow or are negative are errors, and so is a division that the processor rejects. Kernels
    /// take as long as in plain C (BENCHMARKS.md). Turn it off for a program whose sizes all come from trusted code
    /// if you have measured that it matters.
    pub fn hardened(mut self, hardened: bool) -> Program {
        self.hardened = hardened;
        self
    }

    /// Builds the code of a Futhark compiler that this version does not know, if it is `true`, although some checks may be missing. Each
    /// is a warning of Cargo, and [`Context::hardening`](crate::Context::hardening) tells it. So does the variable
    /// `FUTHARK_UNKNOWN_COMPILER=allow`.
    pub fn allow_unknown_compiler(mut self, allow: bool) -> Program {
        self.allow_unknown_compiler = allow;
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
    /// [`ErrorKind::Compile`], with the output of the compiler that failed, or with what to install.
    pub fn compile(&self) -> Result<()> {
        let out_dir = PathBuf::from(self.variable("OUT_DIR")?);
        let target = self.variable("TARGET")?.to_string_lossy().into_owned();
        let cfg = |name: &str| {
            let value = std::env::var(format!("CARGO_CFG_TARGET_{name}"));
            value.unwrap_or_default()
        };
        let system = (&*cfg("OS"), &*cfg("ENV"));
        let libraries = libraries_of(system).filter(|_| cfg("POINTER_WIDTH") == "64");
        let Some(libraries) = libraries else {
            return Err(self.error(format!(
                "cannot compile for {target}: the supported systems are Linux, macOS and Windows \
                 (x86_64-pc-windows-gnu) with pointers of 64 bits"
            )));
        };
        if self.native && self.variable("HOST")? != *target {
            return Err(self.error(format!(
                "cannot compile for {target} with `native()`: it is for the processor of this machine; \
                 use `flag(\"-march=…\")` with a processor of the target"
            )));
        }
        if !self.linked && self.raw {
            let message =
                "raw modules need a linked program: remove `raw(true)` or `linked(false)`";
            return Err(self.error(message));
        }
        let name = self.module_name()?;
        let backends = self.chosen_backends()?;
        let variables = Toolchain::VARIABLES.into_iter().chain(VARIABLES);
        let variables = variables.map(|variable| format!("rerun-if-env-changed={variable}"));
        let mut cargo: Vec<String> = variables.collect();
        cargo.push(watch(&self.source));
        let compiler = self.compiler.as_ref().map(Compiler::at).transpose();
        let compiler = compiler.map_err(|error| self.failed(error))?;
        let build = |backend| self.build(backend, compiler.as_ref(), &out_dir);
        let write = |file: &str, text: &str| write_if_changed(&out_dir.join(file), text);
        let module = if !self.linked || is_face_only() && !self.raw {
            // Without `linked`, tables come from shared objects. With the face only, the crate can be checked and
            // documented; a raw module needs the compiled program.
            let found = self.interface(&backends, build)?;
            // Without linked tables the module names no symbol.
            let symbols = backends.iter().filter(|_| self.linked);
            let symbols: Vec<_> = symbols.map(|b| format!("{NOT_COMPILED}_{b}")).collect();
            self.module(
                &name,
                &[&found.program],
                &found.sources,
                &symbols,
                &mut cargo,
                write,
            )?
        } else {
            let builds: Vec<Build> = backends.iter().copied().map(build).collect();
            let artifacts = run(&builds).map_err(|error| self.failed(error))?;
            self.expect_one_interface(&artifacts)?;
            let used = artifacts.iter().flat_map(Artifact::programs);
            cargo.extend(used.map(|file| watch(file)));
            warn(&artifacts[0], &mut cargo);
            for check in artifacts[1..].iter().flat_map(Artifact::missing_checks) {
                let line = format!("warning={check}");
                if !cargo.contains(&line) {
                    cargo.push(line);
                }
            }
            link(&artifacts, libraries, &mut cargo);
            let programs: Vec<_> = artifacts.iter().map(Artifact::program).collect();
            let symbols: Vec<_> = artifacts.iter().map(|a| a.symbol().to_owned()).collect();
            let sources = artifacts[0].sources();
            let text = self.module(&name, &programs, sources, &symbols, &mut cargo, write)?;
            #[cfg(feature = "raw")]
            let text = match self.raw {
                true => text + &super::raw::write(&name, &artifacts, write)?,
                false => text,
            };
            // Not before: Cargo shows the output of a script that fails.
            Toolchain::watch_c_compiler();
            text
        };
        write(&format!("{name}.rs"), &module)?;
        // Not before: Cargo runs a script that failed again in any case, and shows its output before the error.
        cargo.iter().for_each(|line| println!("cargo::{line}"));
        Ok(())
    }

    /// The interface, which is the same for every backend.
    fn interface(
        &self,
        backends: &[Backend],
        build: impl Fn(Backend) -> Build,
    ) -> Result<Interface> {
        let interface = |backend| {
            let interface = build(backend).interface();
            interface.map_err(|error| self.failed(error))
        };
        if self.vendored.is_none() {
            // The backend that takes the least time.
            return interface(Backend::C);
        }
        let mut interfaces = backends.iter().copied().map(interface);
        match Toolchain::vendor().map_err(|error| self.failed(error))? {
            // The code of one of the backends suffices. If none has code, the error is that of the first.
            Vendor::Use => {
                let first = interfaces.next().expect("at least one backend is selected");
                first.or_else(|error| interfaces.find_map(Result::ok).ok_or(error))
            }
            // Updating and checking concerns all.
            _ => Ok(interfaces.collect::<Result<Vec<_>>>()?.swap_remove(0)),
        }
    }

    fn expect_one_interface(&self, artifacts: &[Artifact]) -> Result<()> {
        let first = &artifacts[0];
        let differs = |other: &&Artifact| {
            other.program().interface_hash() != first.program().interface_hash()
                || other.functions() != first.functions()
        };
        match artifacts.iter().find(differs) {
            None => Ok(()),
            Some(other) => Err(self.error(format!(
                "the compiler generated different APIs for backends {} and {}; this is a bug in the compiler",
                other.program().backend,
                first.program().backend
            ))),
        }
    }

    /// The text of the module, whose page is written. `programs` are those of the backends, and have one interface.
    fn module(
        &self,
        name: &str,
        programs: &[&futhark_manifest::Program],
        sources: &[PathBuf],
        symbols: &[String],
        cargo: &mut Vec<String>,
        write: impl Fn(&str, &str) -> Result<()>,
    ) -> Result<String> {
        cargo.extend(sources.iter().map(|file| watch(file)));
        let tuning = self.checked_tuning(programs, cargo)?;
        let module = Module::new(programs[0], self.serde);
        let unnamed = module.unnamed_types().into_iter();
        cargo.extend(unnamed.map(|what| format!("warning={}: {what}", self.source.display())));
        write(&format!("{name}.md"), &module.page(name))?;
        Ok(module.text(name, symbols, tuning.as_ref()))
    }

    /// The tuning to embed. Its names are compared with the parameters of the GPU backends, if there are any.
    fn checked_tuning(
        &self,
        programs: &[&futhark_manifest::Program],
        cargo: &mut Vec<String>,
    ) -> Result<Option<Tuning>> {
        let beside = || {
            let mut name = self.source.clone().into_os_string();
            name.push(".tuning");
            Some(PathBuf::from(name)).filter(|file| file.exists())
        };
        let Some(file) = self.tuning.clone().or_else(beside) else {
            return Ok(None);
        };
        cargo.push(watch(&file));
        let failed = |error: Error| self.error(error.to_string());
        let tuning = Tuning::read(&file).map_err(failed)?;
        let gpu = programs.iter().filter(|program| program.backend.is_gpu());
        let gpu: Vec<_> = gpu.collect();
        if !gpu.is_empty() {
            let entries = gpu.iter().flat_map(|program| program.entries());
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
            .hardened(self.hardened)
            .allow_unknown_compiler(self.allow_unknown_compiler);
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

    /// The backends in `FUTHARK_BACKENDS`, or those of the build script.
    fn chosen_backends(&self) -> Result<Vec<Backend>> {
        let named = std::env::var(BACKENDS).unwrap_or_default();
        let names = named.split(',').map(str::trim);
        let names = names.filter(|name| !name.is_empty()).map(str::parse);
        let named = names.collect::<Result<Vec<Backend>, _>>();
        let named = named.map_err(|error| self.error(format!("{BACKENDS}: {error}")))?;
        let chosen = if named.is_empty() {
            &self.backends
        } else {
            &named
        };
        let mut unique = Vec::new();
        for &backend in chosen {
            if !unique.contains(&backend) {
                unique.push(backend);
            }
        }
        match unique.is_empty() {
            true => Err(self.error("no backend was selected")),
            false => Ok(unique),
        }
    }

    fn module_name(&self) -> Result<String> {
        let stem = || Some(self.source.file_stem()?.to_str()?.to_owned());
        let name = self.name.clone().or_else(stem).unwrap_or_default();
        match RUST.is_identifier(&name) {
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

    fn error(&self, message: impl Into<Cow<'static, str>>) -> Error {
        let source = self.source.display().to_string();
        Error::new(ErrorKind::Compile, source, message)
    }

    fn failed(&self, error: futhark_sys::compile::Error) -> Error {
        self.error("cannot compile the program").with_source(error)
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

/// The variables with which only the face of the program is made: the module, without compiled code to link.
const FACE_ONLY: [&str; 2] = ["FUTHARK_SAFE_FACE_ONLY", "DOCS_RS"];

/// The variables, beside `Toolchain::VARIABLES`, whose change runs the script again.
const VARIABLES: [&str; 3] = [BACKENDS, FACE_ONLY[0], FACE_ONLY[1]];

/// The beginning of the symbols in place of the tables, which the linker names if a crate is linked after all.
const NOT_COMPILED: &str = "futhark_not_compiled_because_FUTHARK_SAFE_FACE_ONLY_was_set";

fn is_face_only() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    FACE_ONLY.iter().any(|name| set(name))
}

/// The instruction to run the script again when the file changes.
fn watch(file: &Path) -> String {
    format!("rerun-if-changed={}", file.display())
}

/// Reports the warnings of the Futhark compiler, and unknown or unusual parts of the manifest.
fn warn(artifact: &Artifact, cargo: &mut Vec<String>) {
    let lines = artifact.warnings().lines();
    let lines = lines.filter(|line| !line.trim().is_empty());
    cargo.extend(lines.map(|line| format!("warning={line}")));
    let manifest = Manifest::parse(artifact.manifest());
    for finding in manifest.map_or_else(|_| Vec::new(), |m| m.warnings()) {
        cargo.push(format!("warning=the manifest of the program: {finding}"));
    }
}

/// The supported systems, by `CARGO_CFG_TARGET_OS` and `_ENV` (empty: any other), and the libraries that the generated code
/// needs beside what Rust links. Static and dynamic binaries need the same: no line has a kind of library, so rustc
/// chooses it, as `crt-static` says. A static binary with dynamic libraries crashes before `main`.
///
/// Each row is a target of `tests/outside/targets.rs`, which `ci/full --only targets` runs.
const SYSTEMS: [(&str, &str, &[&str]); 4] = [
    // Parts of libc, which Rust links. The linker would find the libraries of glibc, with which the program crashes.
    ("linux", "musl", &[]),
    ("linux", "", &["m", "dl", "pthread"]),
    // Part of the system library.
    ("macos", "", &[]),
    // Rust links them.
    ("windows", "gnu", &[]),
];

/// The libraries of a system; `None` if it is not supported.
fn libraries_of((os, env): (&str, &str)) -> Option<&'static [&'static str]> {
    let mut rows = SYSTEMS.iter();
    let row = rows.find(|row| row.0 == os && (row.1.is_empty() || row.1 == env));
    row.map(|row| row.2)
}

fn link(artifacts: &[Artifact], libraries: &[&str], cargo: &mut Vec<String>) {
    for artifact in artifacts {
        let folder = artifact.folder().display();
        cargo.push(format!("rustc-link-search=native={folder}"));
        cargo.push(format!("rustc-link-lib=static={}", artifact.symbol()));
    }
    let libraries = libraries.iter();
    cargo.extend(libraries.map(|library| format!("rustc-link-lib={library}")));
}

/// Writes a file unless its content is the same, so that Cargo does not rebuild dependents.
fn write_if_changed(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::write(path, text).map_err(|error| {
        let message = "cannot write the module";
        Error::new(ErrorKind::Compile, path.display().to_string(), message).with_source(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_libraries() {
        let glibc = Some(&["m", "dl", "pthread"][..]);
        assert_eq!(libraries_of(("linux", "gnu")), glibc);
        for others in [("linux", "musl"), ("macos", ""), ("windows", "gnu")] {
            assert_eq!(libraries_of(others), Some(&[][..]), "{others:?}");
        }
        for refused in [("windows", "msvc"), ("freebsd", ""), ("", "")] {
            assert_eq!(libraries_of(refused), None, "{refused:?}");
        }
    }

    #[test]
    fn a_module_needs_a_name_that_rust_accepts() {
        assert_eq!(Program::new("a/stats.fut").module_name().unwrap(), "stats");
        for source in ["move.fut", "crate.fut", "two-d.fut", "2d.fut", "_.fut"] {
            let program = Program::new(source);
            let error = program.module_name().unwrap_err();
            assert!(error.to_string().contains("set another one"), "{error}");
            assert_eq!(program.name("other").module_name().unwrap(), "other");
        }
    }
}
