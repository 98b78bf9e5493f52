//! What a build makes, from which source and by which compiler. `run.rs` runs it.

use std::path::{Path, PathBuf};

use futhark_manifest::Backend;

use super::cache::cache_folder;
use super::compiler::Compiler;
use super::error::Error;
use super::recording::Recording;
use super::toolchain::Toolchain;

/// The kind of library to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Linkage {
    /// A shared object, loaded at run time.
    Shared,
    /// A static library, linked into a binary.
    Static,
}

/// A build of one program for one backend.
///
/// ```no_run
/// use futhark_manifest::Backend;
/// use futhark_sys::compile::Build;
///
/// let artifact = Build::new("stats.fut", Backend::Multicore).out_dir("target/futhark").run()?;
/// println!("{} is in {}", artifact.symbol(), artifact.library().display());
/// # Ok::<(), futhark_sys::compile::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Build {
    source: PathBuf,
    backend: Backend,
    compiler: Option<Compiler>,
    pub(super) vendored: Option<PathBuf>,
    pub(super) recording: Option<Recording>,
    out_dir: Option<PathBuf>,
    pub(super) linkage: Linkage,
    fast: bool,
    pub(super) hardened: bool,
    allow_unknown_compiler: bool,
    pub(super) options: Vec<String>,
    pub(super) flags: Vec<String>,
    pub(super) raw: bool,
    pub(super) target: Option<String>,
}

impl Build {
    /// A build of `source` for `backend`, into [`cache_folder`]`("futhark-sys")`.
    #[must_use]
    pub fn new(source: impl Into<PathBuf>, backend: Backend) -> Build {
        Build {
            source: source.into(),
            backend,
            compiler: None,
            vendored: None,
            recording: None,
            out_dir: None,
            linkage: Linkage::Shared,
            fast: false,
            hardened: true,
            allow_unknown_compiler: false,
            options: Vec::new(),
            flags: Vec::new(),
            raw: false,
            target: None,
        }
    }

    /// Uses this compiler instead of the one that [`Compiler::find`] returns.
    #[must_use]
    pub fn compiler(mut self, compiler: Compiler) -> Build {
        self.compiler = Some(compiler);
        self
    }

    /// Uses the generated code in `folder` instead of a Futhark compiler. The variable
    /// `FUTHARK_VENDOR` says when that code is generated again: see [`Vendor`](super::Vendor).
    #[must_use]
    pub fn vendored(mut self, folder: impl Into<PathBuf>) -> Build {
        self.vendored = Some(folder.into());
        self
    }

    /// Uses a recording of this build ([`record`](Self::record)) instead of compilers.
    #[must_use]
    pub fn recording(mut self, recording: Recording) -> Build {
        self.recording = Some(recording);
        self
    }

    /// Sets the folder for results, which are cached there by content.
    ///
    /// Anyone who can write to the folder can run code in this process: see [`Artifact::open`](super::Artifact::open).
    #[must_use]
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Build {
        self.out_dir = Some(folder.into());
        self
    }

    /// Selects a shared object (the default) or a static library.
    #[must_use]
    pub fn linkage(mut self, linkage: Linkage) -> Build {
        self.linkage = linkage;
        self
    }

    /// Compiles with `-O0`, for tests that spend more time in the C compiler than in the program. The default
    /// is `-O3`, and `-O1` for GPU backends, whose C code only starts kernels; [`flag`](Self::flag) can name
    /// another level.
    #[must_use]
    pub fn fast(mut self, fast: bool) -> Build {
        self.fast = fast;
        self
    }

    pub(super) fn level(&self) -> u8 {
        match self.fast {
            true => 0,
            // -O3 takes the C compiler four times as long.
            false if self.backend.is_gpu() => 1,
            false => 3,
        }
    }

    /// Enables (the default) or disables checked sizes and divisions, and checks of bounds that the Futhark
    /// compiler omits.
    ///
    /// Without them a size that overflows in the generated code causes a write outside of
    /// an array, and `i64.min / -1` ends the process: see SAFETY.md.
    #[must_use]
    pub fn hardened(mut self, hardened: bool) -> Build {
        self.hardened = hardened;
        self
    }

    /// Builds hardened code of a Futhark compiler that this version does not know, if it is `true`, although some checks may be missing.
    /// So does the environment variable `FUTHARK_UNKNOWN_COMPILER=allow`.
    ///
    /// Every check is added whose place is found. [`Artifact::warnings`](super::Artifact::warnings) names the others, and
    /// [`Table::hardening`](crate::table::Table::hardening) is [`Partial`](crate::table::Hardening::Partial). By default such code is an
    /// error of kind [`ErrorKind::Layout`](super::ErrorKind::Layout). The replacements that keep the process alive are never optional.
    #[must_use]
    pub fn allow_unknown_compiler(mut self, allow: bool) -> Build {
        self.allow_unknown_compiler = allow;
        self
    }

    pub(super) fn allows_unknown_compiler(&self) -> Result<bool, Error> {
        Ok(Toolchain::allows_unknown_compiler()? || self.allow_unknown_compiler)
    }

    /// Adds an option for the Futhark compiler: `--safe`, `--Werror`, `-w` or `--entry-point=NAME`. Others
    /// are an error of kind [`ErrorKind::Option`](super::ErrorKind::Option), because they could change which files it writes.
    #[must_use]
    pub fn option(mut self, option: impl Into<String>) -> Build {
        self.options.push(option.into());
        self
    }

    /// Adds a flag for the C compiler. Flags that would change how signed numbers wrap or how floats are rounded
    /// have no effect.
    #[must_use]
    pub fn flag(mut self, flag: impl Into<String>) -> Build {
        self.flags.push(flag.into());
        self
    }

    /// Compiles for this target, such as `aarch64-unknown-linux-gnu`, with the C compiler that the cc crate finds for it.
    /// Default: the target of the build script, otherwise this machine.
    #[must_use]
    pub fn target(mut self, target: impl Into<String>) -> Build {
        self.target = Some(target.into());
        self
    }

    /// Also exports the functions of the program's own header, for [`Artifact::bindings`](super::Artifact::bindings). Each
    /// symbol ends with the name of the table.
    #[cfg(feature = "raw")]
    #[must_use]
    pub fn raw(mut self, raw: bool) -> Build {
        self.raw = raw;
        self
    }

    /// The source file.
    #[must_use]
    pub fn source(&self) -> &Path {
        &self.source
    }

    /// The backend.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// The folder for results.
    pub(super) fn folder(&self) -> Result<PathBuf, Error> {
        match &self.out_dir {
            Some(folder) => Ok(folder.clone()),
            None => cache_folder("futhark-sys"),
        }
    }

    /// The selected compiler, or the default one.
    pub(super) fn installed(&self) -> Result<Compiler, Error> {
        match &self.compiler {
            Some(compiler) => Ok(compiler.clone()),
            None => Compiler::find_kept(Some(&self.folder()?)),
        }
    }

    /// What was selected, except the source and tools.
    pub(super) fn settings(&self) -> Result<String, Error> {
        Ok(format!(
            "{} {:?} {} {} {} {} {:?} {:?} {:?}",
            self.backend,
            self.linkage,
            self.level(),
            self.hardened,
            self.allows_unknown_compiler()?,
            self.raw,
            self.options,
            self.flags,
            self.target
        ))
    }

    /// The name of the generated files: the source's, without characters that a C compiler rejects.
    pub(super) fn name(&self) -> String {
        let stem = self.source.file_stem().unwrap_or_default();
        let is_accepted = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let stem = stem.to_string_lossy();
        stem.replace(|c| !is_accepted(c), "_")
    }
}
