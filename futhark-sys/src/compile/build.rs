//! Builds an artifact from a source file, and caches it.

use std::path::{Path, PathBuf};

use futhark_manifest::Backend;

use super::artifact::{Artifact, Linkage, Paths, Wanted, read_program};
use super::cache::{Temporary, cache_folder, is_complete};
use super::cc::Options;
use super::compiler::{self, Compiler};
use super::error::{Error, ErrorKind};
use super::facts::Facts;
use super::files::Files;
use super::generated::{Generated, layout};
use super::hash::Hash;
use super::headers;
use super::plain;
use super::recording;
use super::tools::Tools;
use super::unit::{self, Unit};
use super::vendor;

/// Our C file.
const UNIT: &str = "fut_unit.c";

/// How often a build starts again if its inputs changed while it ran.
const ATTEMPTS: usize = 3;

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
    vendored: Option<PathBuf>,
    out_dir: Option<PathBuf>,
    linkage: Linkage,
    fast: bool,
    hardened: bool,
    options: Vec<String>,
    flags: Vec<String>,
    raw: bool,
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
            out_dir: None,
            linkage: Linkage::Shared,
            fast: false,
            hardened: true,
            options: Vec::new(),
            flags: Vec::new(),
            raw: false,
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

    /// Sets the folder for results, which are cached there by content.
    ///
    /// Anyone who can write to the folder can run code in this process: see [`Artifact::open`].
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

    fn level(&self) -> u8 {
        match self.fast {
            true => 0,
            // -O3 takes the C compiler four times as long.
            false if self.backend.is_gpu() => 1,
            false => 3,
        }
    }

    /// Enables (the default) or disables checked sizes and divisions.
    ///
    /// Without them a size that overflows in the generated code causes a write outside of
    /// an array, and `i64.min / -1` ends the process: see SAFETY.md.
    #[must_use]
    pub fn hardened(mut self, hardened: bool) -> Build {
        self.hardened = hardened;
        self
    }

    /// Adds an option for the Futhark compiler: `--safe`, `--Werror`, `-w` or `--entry-point=NAME`. Others
    /// are an error of kind [`ErrorKind::Option`], because they could change which files it writes.
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

    /// Also exports the functions of the program's own header, for [`Artifact::bindings`]. Each
    /// symbol begins with the name of the table.
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

    /// Compiles the program, or returns the result of an equal build from the same folder.
    ///
    /// Blocks while the Futhark and C compilers run: seconds for a medium program. Several
    /// processes may build into one folder at the same time.
    ///
    /// # Errors
    ///
    /// See [`ErrorKind`]. The message contains the error output of the compiler that failed.
    pub fn run(&self) -> Result<Artifact, Error> {
        for _ in 0..ATTEMPTS {
            let futhark = self.futhark()?;
            if let Some(recording) = futhark.recording() {
                return self.recall(recording, &futhark);
            }
            if let Some(artifact) = self.find_or_build(futhark)? {
                return Ok(artifact);
            }
        }
        Err(Error::changing(&self.source))
    }

    /// The result; `None` if an input changed while it was built.
    fn find_or_build(&self, futhark: Compiler) -> Result<Option<Artifact>, Error> {
        let results = self.folder()?;
        let files = futhark.files_of(&self.source)?;
        let tools = Tools::find(futhark, self.backend, Facts::of_results(&results))?;
        let options = Options {
            backend: self.backend,
            level: self.level(),
            hardened: self.hardened,
            extra: &self.flags,
            include: &tools.include,
            zero: tools.cc.zeroes_variables(),
            alone: !self.raw && self.backend != Backend::Ispc && tools.cc.is_gcc(),
        };

        let name = self.name();
        let key = self.key(&tools, &files, &options);
        // The symbol does not depend on paths and times of files, so that equal compilers produce
        // equal libraries.
        let symbol = format!("fut_{}_{}", self.backend, &key.clone().hex()[..16]);
        let key = tools.identify(key).hex();
        let folder = format!("{name}-{}-{}", self.backend, &key[..16]);
        let paths = self.paths(results.join(folder), symbol);
        if !is_complete(&paths.folder) {
            let inputs = Inputs {
                tools: &tools,
                files: &files,
                options: &options,
            };
            if !self.build(&inputs, &paths)? {
                return Ok(None);
            }
        }
        Artifact::read(paths, tools.into_files(), files.paths()).map(Some)
    }

    /// The folder for results.
    pub(super) fn folder(&self) -> Result<PathBuf, Error> {
        match &self.out_dir {
            Some(folder) => Ok(folder.clone()),
            None => cache_folder("futhark-sys"),
        }
    }

    /// The compiler: vendored code, the selected one, or the default one.
    pub(super) fn futhark(&self) -> Result<Compiler, Error> {
        compiler::must_be_usable(&self.options)?;
        match &self.vendored {
            Some(folder) => vendor::compiler(
                &self.wanted(),
                folder,
                || self.installed(),
                || self.folder(),
            ),
            None => self.installed(),
        }
    }

    /// The selected compiler, or the default one, with the options of this build.
    pub(super) fn installed(&self) -> Result<Compiler, Error> {
        let compiler = match &self.compiler {
            Some(compiler) => compiler.clone(),
            None => Compiler::find_with(Some(Facts::of_results(&self.folder()?)))?,
        };
        compiler.must_be_as_seen()?;
        Ok(compiler.with_options(&self.options))
    }

    /// Looks up this build in `recording`.
    pub(super) fn recall(&self, recording: &Path, futhark: &Compiler) -> Result<Artifact, Error> {
        let folder = self.recorded_folder(recording)?;
        recording::recall(&self.wanted(), recording, &folder, futhark.version())
    }

    fn wanted(&self) -> Wanted<'_> {
        Wanted {
            source: &self.source,
            backend: self.backend,
            name: self.name(),
            options: &self.options,
            linkage: self.linkage,
        }
    }

    /// The folder of this build in a recording.
    pub(super) fn recorded_folder(&self, recording: &Path) -> Result<PathBuf, Error> {
        let text = self.source_text()?;
        let mut key = Hash::new()
            .with(env!("CARGO_PKG_VERSION"))
            .with(&text)
            .with(self.backend.as_str());
        for option in self.options_of_user() {
            key = key.with(option);
        }
        let key = &key.hex()[..16];
        let name = format!("{}-{}-{key}", self.name(), self.backend);
        Ok(recording.join("builds").join(name))
    }

    fn source_text(&self) -> Result<Vec<u8>, Error> {
        std::fs::read(&self.source).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::no_source(&self.source),
            _ => Error::io("read", &self.source, error),
        })
    }

    pub(super) fn paths(&self, folder: PathBuf, symbol: String) -> Paths {
        Paths {
            folder,
            name: self.name(),
            symbol,
            linkage: self.linkage,
        }
    }

    /// The options besides source and backend.
    pub(super) fn options_of_user(&self) -> Vec<String> {
        let mut options = vec![
            format!("{:?}", self.linkage),
            format!("O{}", self.level()),
            format!("hardened {}", self.hardened),
            format!("raw {}", self.raw),
            format!("options {:?}", self.options),
        ];
        options.extend(self.flags.iter().cloned());
        options
    }

    /// Hashes everything that determines the result.
    fn key(&self, tools: &Tools, files: &Files, options: &Options<'_>) -> Hash {
        let hash = Hash::new()
            .with(env!("FUTHARK_SYS_SOURCES"))
            .with(env!("CARGO_PKG_VERSION"))
            .with(futhark_manifest::VERSION)
            .with(tools.futhark.identity(files))
            // Source locations are part of the program's messages.
            .with(files.texts())
            .with(self.source.as_os_str().as_encoded_bytes())
            .with(self.backend.as_str())
            .with([
                self.linkage as u8,
                u8::from(self.raw),
                u8::from(self.hardened),
            ]);
        let mut hash = tools.describe(hash);
        for argument in options.arguments() {
            hash = hash.with(argument);
        }
        hash
    }

    /// The name of the generated files: the source's, without characters that a C compiler rejects.
    pub(super) fn name(&self) -> String {
        let stem = self
            .source
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default();
        stem.chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
                    c
                } else {
                    '_'
                }
            })
            .collect()
    }

    /// Builds in a temporary folder and renames it, so that a folder is always complete. Returns false if
    /// an input changed meanwhile: then nothing is kept.
    fn build(&self, inputs: &Inputs<'_>, paths: &Paths) -> Result<bool, Error> {
        let stamps = inputs.tools.stamps();
        let folder = Temporary::beside(&paths.folder)?;
        let work = Paths {
            folder: folder.path().to_owned(),
            ..paths.clone()
        };
        let result = self.build_in(inputs, &work, &paths.folder);
        // The folder is named after what the files contained before, and an error can be one of a file
        // that was half written.
        let futhark = &inputs.tools.futhark;
        let now = futhark.files_of(&self.source);
        let is_current =
            now.is_ok_and(|now| now == *inputs.files) && inputs.tools.stamps() == stamps;
        if !is_current {
            return Ok(false);
        }
        result?;
        folder.complete(&paths.folder)?;
        Ok(true)
    }

    /// Builds in the folder of `paths`, which will be renamed to `home`.
    fn build_in(&self, inputs: &Inputs<'_>, paths: &Paths, home: &Path) -> Result<(), Error> {
        let Inputs {
            tools,
            files,
            options,
        } = inputs;
        let Tools {
            futhark, cc, ispc, ..
        } = tools;
        let warnings =
            futhark.generate(self.backend, &self.source, &paths.in_folder(&paths.name))?;
        let manifest_text = paths.read("json")?;
        let program = read_program(&paths.manifest(), &manifest_text)?;
        if program.backend != self.backend {
            return Err(Error::new(
                ErrorKind::Manifest,
                format!(
                    "expected a manifest for backend {}, got one for {}",
                    self.backend, program.backend
                ),
            ));
        }
        let c_text = paths.read("c")?;
        let h_text = paths.read("h")?;
        let generated = Generated::read(&c_text, &h_text, &program, self.hardened)?;
        let plain = match self.raw {
            true => plain::functions(&generated.declared),
            false => Vec::new(),
        };
        let unit = Unit {
            program: &program,
            name: &paths.name,
            generated: &generated,
            manifest_text: &manifest_text,
            program_id: &layout::identity(&generated.layouts, &program, &futhark.identity(files)),
            hardened: self.hardened,
            symbol: &paths.symbol,
            plain: &plain,
        };
        paths.write("warnings.txt", &warnings)?;
        if self.hardened {
            paths.write(
                unit::CHECKED,
                &unit::checked_c(&generated.lines()?, &program, self.fast)?,
            )?;
        }
        let name = &paths.name;
        let title = format!("// @generated by futhark-sys around {name}.c; do not edit.\n");
        let headers = headers::folder(&self.folder()?)?;
        paths.write(UNIT, &format!("{title}{}", unit.write()))?;

        let object = paths.in_folder("unit.o");
        let file = paths.in_folder(UNIT);
        cc.compile(&file, home, &object, &headers, options)?;
        if let Some(ispc) = ispc {
            let kernels = paths.in_folder("kernels.o");
            let text = unit::checked_kernels(&paths.read("kernels.ispc")?);
            paths.write(unit::CHECKED_KERNELS, &text)?;
            ispc.compile(
                &paths.in_folder(unit::CHECKED_KERNELS),
                &kernels,
                self.level(),
            )?;
            cc.join(&object, &kernels)?;
        }
        let mut symbols = vec![paths.symbol.clone()];
        symbols.extend(plain.iter().map(|name| plain::symbol(&paths.symbol, name)));
        cc.keep_symbols(&object, &symbols)?;
        match self.linkage {
            Linkage::Shared => cc.link_shared(&object, &paths.library(), &paths.symbol)?,
            Linkage::Static => cc.archive(&object, &paths.library())?,
        }
        let _ = std::fs::remove_file(object);
        // Only debuggers read them.
        if !cc.debugs(options) {
            let files = [UNIT, unit::CHECKED].map(|file| paths.in_folder(file));
            files
                .iter()
                .for_each(|file| drop(std::fs::remove_file(file)));
        }
        Ok(())
    }
}

/// What a build reads.
struct Inputs<'a> {
    tools: &'a Tools,
    files: &'a Files,
    options: &'a Options<'a>,
}
