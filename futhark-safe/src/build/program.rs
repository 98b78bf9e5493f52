//! The builder, and what it tells Cargo.

use std::path::{Path, PathBuf};

use futhark_manifest::{Backend, Code, Manifest};
use futhark_sys::compile::{Artifact, Build, Compiler, Linkage, Toolchain};

use super::module;
use crate::error::{Error, ErrorKind, Result};

/// A Futhark program to compile in a build script.
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `compile`"]
pub struct Program {
    source: PathBuf,
    name: Option<String>,
    backends: Vec<Backend>,
    compiler: Option<PathBuf>,
    hardened: bool,
    flags: Vec<String>,
    #[cfg(feature = "raw")]
    raw: bool,
}

impl Program {
    /// The program in this file, relative to the package. Its module is named after it.
    pub fn new(source: impl Into<PathBuf>) -> Program {
        Program {
            source: source.into(),
            name: None,
            backends: vec![Backend::C],
            compiler: None,
            hardened: true,
            flags: Vec::new(),
            #[cfg(feature = "raw")]
            raw: false,
        }
    }

    /// The backends to compile for, the preferred one first. Without it: `c`.
    pub fn backends(mut self, backends: impl IntoIterator<Item = Backend>) -> Program {
        self.backends = backends.into_iter().collect();
        self
    }

    /// The name for `include_program!`, if the file's is not to be used.
    pub fn name(mut self, name: impl Into<String>) -> Program {
        self.name = Some(name.into());
        self
    }

    /// The Futhark compiler to run, instead of the one that `FUTHARK` or `PATH` give.
    pub fn futhark(mut self, program: impl Into<PathBuf>) -> Program {
        self.compiler = Some(program.into());
        self
    }

    /// Leaves integer traps out (`false`). See SAFETY.md for what is lost.
    pub fn hardened(mut self, hardened: bool) -> Program {
        self.hardened = hardened;
        self
    }

    /// Adds a flag for the C compiler.
    pub fn flag(mut self, flag: impl Into<String>) -> Program {
        self.flags.push(flag.into());
        self
    }

    /// Adds the module `raw` for plain C calls, with a module for each backend: see
    /// [the list of what is generated](crate::build#raw-modules).
    #[cfg(feature = "raw")]
    pub fn raw(mut self, raw: bool) -> Program {
        self.raw = raw;
        self
    }

    /// Compiles. On failure shows why, as Cargo shows errors, and ends the build script.
    pub fn compile(self) {
        if let Err(error) = self.try_compile() {
            for line in error
                .to_string()
                .lines()
                .filter(|line| !line.trim().is_empty())
            {
                println!("cargo::error={line}");
            }
            std::process::exit(1);
        }
    }

    /// Compiles.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Compile`], with the text of the compiler that failed and what to do.
    pub fn try_compile(&self) -> Result<()> {
        let fail = |message: String| {
            Error::new(
                ErrorKind::Compile,
                self.source.display().to_string(),
                message,
            )
        };
        let variable = |name: &str| {
            std::env::var_os(name).ok_or_else(|| {
                fail(format!(
                    "{name} is not set: this is for build scripts, which Cargo runs"
                ))
            })
        };
        let out_dir = PathBuf::from(variable("OUT_DIR")?);
        let target = variable("TARGET")?.to_string_lossy().into_owned();
        let name = match &self.name {
            Some(name) => name.clone(),
            None => self
                .source
                .file_stem()
                .and_then(|stem| stem.to_str())
                .unwrap_or_default()
                .to_owned(),
        };
        if !is_identifier(&name) {
            return Err(fail(format!(
                "`{name}` cannot be the name of a module; give one with `name`"
            )));
        }
        for variable in Toolchain::VARIABLES {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        println!("cargo::rerun-if-changed={}", self.source.display());

        let compiled = self.artifacts(&out_dir);
        let artifacts = compiled.map_err(|error| {
            Error::new(ErrorKind::Compile, "build", error.to_string()).with_source(error)
        })?;
        let Some(first) = artifacts.first() else {
            return Err(fail("no backend was asked for".into()));
        };
        for other in &artifacts[1..] {
            let same = other.program().interface_hash() == first.program().interface_hash()
                && other.functions() == first.functions();
            if !same {
                return Err(fail(format!(
                    "the compiler makes another API for backend {} than for {}; that is a bug in it",
                    other.program().backend,
                    first.program().backend
                )));
            }
        }
        for program in artifacts.iter().flat_map(Artifact::programs) {
            println!("cargo::rerun-if-changed={}", program.display());
        }
        warn(first.manifest());
        let symbols: Vec<&str> = artifacts.iter().map(Artifact::symbol).collect();
        let text = module::write(&name, first.program(), &first.functions(), &symbols)?;
        #[cfg(feature = "raw")]
        let text = match self.raw {
            true => text + &super::raw::write(&name, &artifacts, &out_dir)?,
            false => text,
        };
        write_if_changed(&out_dir.join(format!("{name}.rs")), &text)?;
        link(&artifacts, &target);
        Ok(())
    }

    fn artifacts(&self, out_dir: &Path) -> Result<Vec<Artifact>, futhark_sys::compile::Error> {
        let compiler = match &self.compiler {
            Some(program) => Compiler::at(program)?,
            None => Compiler::find()?,
        };
        if !compiler.is_known() {
            println!(
                "cargo::warning=Futhark {} is newer than this crate was tested with; it is used as far as it is understood",
                compiler.version()
            );
        }
        for import in compiler.imports(&self.source)? {
            println!("cargo::rerun-if-changed={}", import.display());
        }
        self.backends
            .iter()
            .map(|&backend| {
                let mut build = Build::new(&self.source, backend)
                    .compiler(compiler.clone())
                    .out_dir(out_dir.join("futhark"))
                    .linkage(Linkage::Static)
                    .hardened(self.hardened);
                #[cfg(feature = "raw")]
                {
                    build = build.raw(self.raw);
                }
                for flag in &self.flags {
                    build = build.flag(flag);
                }
                build.run()
            })
            .collect()
    }
}

/// Tells what of a manifest was not understood, or is odd.
fn warn(manifest: &str) {
    let findings = Manifest::parse(manifest).map_or_else(|_| Vec::new(), |m| m.warnings());
    // The compiler's version was told when it was asked for.
    for finding in findings.iter().filter(|f| f.code() != Code::NewerCompiler) {
        println!("cargo::warning=the manifest of the program: {finding}");
    }
}

/// Tells Cargo what to link.
fn link(artifacts: &[Artifact], target: &str) {
    for artifact in artifacts {
        println!(
            "cargo::rustc-link-search=native={}",
            artifact.folder().display()
        );
        println!("cargo::rustc-link-lib=static={}", artifact.symbol());
    }
    if !target.contains("apple") {
        for library in ["m", "dl", "pthread"] {
            println!("cargo::rustc-link-lib=dylib={library}");
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

/// Leaves the file alone when it is the same, so that what depends on it is not rebuilt.
pub(super) fn write_if_changed(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::write(path, text).map_err(|error| {
        let message = format!("the module cannot be written: {error}");
        Error::new(ErrorKind::Compile, path.display().to_string(), message).with_source(error)
    })
}
