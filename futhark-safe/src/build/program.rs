//! The builder, and its instructions to Cargo.

use std::path::{Path, PathBuf};

use futhark_manifest::{Backend, Code, Manifest, Version, known};
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
    vendored: Option<PathBuf>,
    hardened: bool,
    flags: Vec<String>,
    #[cfg(feature = "raw")]
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
            flags: Vec::new(),
            #[cfg(feature = "raw")]
            raw: false,
        }
    }

    /// Sets the backends, the preferred one first. Default: `c`.
    pub fn backends(mut self, backends: impl IntoIterator<Item = Backend>) -> Program {
        self.backends = backends.into_iter().collect();
        self
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

    /// Disables integer traps (`false`). SAFETY.md lists the guarantees that depend on them.
    pub fn hardened(mut self, hardened: bool) -> Program {
        self.hardened = hardened;
        self
    }

    /// Adds a flag for the C compiler, after our own: `-O0` makes debug builds faster.
    pub fn flag(mut self, flag: impl Into<String>) -> Program {
        self.flags.push(flag.into());
        self
    }

    /// Adds the module `raw` for plain C calls, with a module for each backend: see
    /// [raw modules](crate::build#raw-modules).
    #[cfg(feature = "raw")]
    pub fn raw(mut self, raw: bool) -> Program {
        self.raw = raw;
        self
    }

    /// Compiles. On failure reports the error through Cargo and exits the build script.
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
    /// [`ErrorKind::Compile`], with the output of the compiler that failed, or with how to install it.
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
                    "{name} is not set: call this from a build script, which Cargo runs"
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
                "`{name}` is not a valid module name; set another one with `name`"
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
            return Err(fail("no backend was selected".into()));
        };
        for other in &artifacts[1..] {
            let same = other.program().interface_hash() == first.program().interface_hash()
                && other.functions() == first.functions();
            if !same {
                return Err(fail(format!(
                    "the compiler generated different APIs for backends {} and {}; this is a bug in the compiler",
                    other.program().backend,
                    first.program().backend
                )));
            }
        }
        let programs = artifacts.iter().flat_map(Artifact::programs);
        for file in programs.chain(first.sources()) {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        warn_of_newer(&first.program().version);
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
        let compiler = match (&self.compiler, &self.vendored) {
            (Some(program), _) => Some(Compiler::at(program)?),
            (None, Some(_)) => None,
            (None, None) => Some(Compiler::find()?),
        };
        self.backends
            .iter()
            .map(|&backend| {
                let mut build = Build::new(&self.source, backend)
                    .out_dir(out_dir.join("futhark"))
                    .linkage(Linkage::Static)
                    .hardened(self.hardened);
                #[cfg(feature = "raw")]
                {
                    build = build.raw(self.raw);
                }
                if let Some(compiler) = &compiler {
                    build = build.compiler(compiler.clone());
                }
                if let Some(folder) = &self.vendored {
                    build = build.vendored(folder);
                }
                for flag in &self.flags {
                    build = build.flag(flag);
                }
                build.run()
            })
            .collect()
    }
}

/// Warns of a compiler that is newer than all known versions, once per build script.
fn warn_of_newer(version: &Version) {
    static ONCE: std::sync::Once = std::sync::Once::new();
    if version.number.is_none_or(|number| number > known::NEWEST) {
        ONCE.call_once(|| {
            let (major, minor, patch) = known::NEWEST;
            println!(
                "cargo::warning=Futhark {version} is newer than {major}.{minor}.{patch}, the newest version that \
                 this crate knows; an update of the crate may support it better"
            );
        });
    }
}

/// Reports unknown or unusual parts of a manifest as warnings.
fn warn(manifest: &str) {
    let findings = Manifest::parse(manifest).map_or_else(|_| Vec::new(), |m| m.warnings());
    // `artifacts` reports a newer compiler.
    for finding in findings.iter().filter(|f| f.code() != Code::NewerCompiler) {
        println!("cargo::warning=the manifest of the program: {finding}");
    }
}

/// Instructs Cargo to link the libraries.
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

/// Writes a file unless its content is the same, so that Cargo does not rebuild dependents.
pub(super) fn write_if_changed(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::write(path, text).map_err(|error| {
        let message = format!("cannot write the module: {error}");
        Error::new(ErrorKind::Compile, path.display().to_string(), message).with_source(error)
    })
}
