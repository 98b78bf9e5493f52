//! Finds and runs the Futhark compiler.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_manifest::{Backend, Version, known};

use super::error::{Error, ErrorKind};
use super::facts::{self, Facts, Name};
use super::files::Files;
use super::paths;
use super::process::{self, Limits, Output};
use super::recording;
use super::stamp;
use super::toolchain::Toolchain;
use super::vendored::Vendored;

/// An executable Futhark compiler, or a recording of one ([`Build::record`](super::Build::record)).
#[derive(Clone, Debug)]
pub struct Compiler {
    program: PathBuf,
    version: Version,
    kind: Kind,
    options: Vec<String>,
    /// The stamp that the executable must have: see [`Compiler::as_seen`].
    seen: Option<String>,
}

#[derive(Clone, Debug)]
enum Kind {
    Installed,
    Recording,
    Vendored(Vendored),
}

/// The options of the Futhark compiler that change neither the kind nor the names of its files.
const OPTIONS: [&str; 3] = ["--safe", "--Werror", "-w"];

/// Such an option, before the name of a function.
const ENTRY_POINT: &str = "--entry-point=";

/// Fails if a build cannot use one of the options of the Futhark compiler.
pub(super) fn must_be_usable(options: &[String]) -> Result<(), Error> {
    let is_usable = |option: &str| {
        let name = option.strip_prefix(ENTRY_POINT);
        OPTIONS.contains(&option)
            || name.is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace))
    };
    match options.iter().find(|option| !is_usable(option)) {
        None => Ok(()),
        Some(option) => {
            let message = format!(
                "a build cannot use the option `{option}` of the Futhark compiler; it can use {}, {ENTRY_POINT}NAME",
                OPTIONS.join(", ")
            );
            Err(Error::new(ErrorKind::Option, message))
        }
    }
}

/// What a Haskell program prints if it cannot allocate.
const OUT_OF_MEMORY: &str = "out of memory";

/// The lines after "To get a Futhark compiler".
const HOW_TO_INSTALL: &str = "  Debian 12             ci/setup of futhark-rust, then source its .toolchain/env.sh
  Debian 13 and later   apt-get install --no-install-recommends futhark
  Arch Linux            futhark from the AUR
  macOS                 brew install futhark
  nix                   nix-env -iA nixpkgs.futhark
  Fedora, other Linux   the static executables on the compiler's own site, futhark-lang.org
Then put it on PATH, or set FUTHARK to its path. `futhark-conformance doctor` then shows what this machine can build and run.
If a package contains its generated code (`Program::vendored`), its build needs no Futhark compiler.";

fn how_to_install() -> String {
    let (major, minor, patch) = known::OLDEST;
    format!("To get a Futhark compiler ({major}.{minor}.{patch} or later):\n{HOW_TO_INSTALL}")
}

impl Compiler {
    /// Finds the compiler that `FUTHARK` names, or the first one on `PATH`, or the one in
    /// `FUTHARK_TOOLCHAIN`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoCompiler`]: no usable compiler was found. The message says how to
    /// install one.
    pub fn find() -> Result<Compiler, Error> {
        Compiler::find_with(None)
    }

    /// As [`find`](Self::find); with facts, see [`at_kept`](Self::at_kept).
    pub(super) fn find_with(facts: Option<Facts<'_>>) -> Result<Compiler, Error> {
        match Toolchain::from_env().default_compiler() {
            Some(program) => Compiler::open(program, facts),
            None => Err(Error::new(
                ErrorKind::NoCompiler,
                format!("no Futhark compiler was found.\n{}", how_to_install()),
            )),
        }
    }

    /// All installed compilers: those of `FUTHARK_TOOLCHAIN` and the one that [`Compiler::find`]
    /// returns, oldest first, one of each version. Of two compilers that report one version, this is
    /// the one that [`Compiler::find`] returns.
    #[must_use]
    pub fn all() -> Vec<Compiler> {
        Compiler::all_with(None)
    }

    /// As [`all`](Self::all), but keeps the versions in the folder `results`: see
    /// [`at_kept`](Self::at_kept).
    #[must_use]
    pub fn all_kept(results: &Path) -> Vec<Compiler> {
        Compiler::all_with(Some(Facts::of_results(results)))
    }

    fn all_with(facts: Option<Facts<'_>>) -> Vec<Compiler> {
        let toolchain = Toolchain::from_env();
        let mut all: Vec<Compiler> = toolchain
            .default_compiler()
            .into_iter()
            .chain(toolchain.private_compilers())
            .filter_map(|program| Compiler::open(program, facts).ok())
            .collect();
        all.sort_by_key(|compiler| compiler.version.number);
        all.dedup_by_key(|compiler| compiler.version.number);
        all
    }

    /// Returns the compiler at `program` (a path, or a name on `PATH`), or the recording if
    /// `program` is a recording's folder.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoCompiler`]: it does not exist, does not run, is not a Futhark compiler, or is
    /// older than [`known::OLDEST`].
    pub fn at(program: impl Into<PathBuf>) -> Result<Compiler, Error> {
        Compiler::open(program.into(), None)
    }

    /// As [`at`](Self::at), but keeps the version in the folder `results`, which can be that of
    /// [`Build::out_dir`](super::Build::out_dir). The next call does not run the compiler, unless it was
    /// replaced, or is a script.
    ///
    /// # Errors
    ///
    /// As [`at`](Self::at).
    pub fn at_kept(program: impl Into<PathBuf>, results: &Path) -> Result<Compiler, Error> {
        Compiler::open(program.into(), Some(Facts::of_results(results)))
    }

    /// The compiler at `program` with the version and the [stamp](Self::stamp) that another process has
    /// seen. Does not run it.
    ///
    /// If the executable is replaced later, builds with this compiler fail.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoCompiler`]: the executable was replaced since.
    pub fn as_seen(
        program: impl Into<PathBuf>,
        version: &str,
        stamp: impl Into<String>,
    ) -> Result<Compiler, Error> {
        let program = program.into();
        let compiler = Compiler {
            kind: match recording::version(&program) {
                Some(_) => Kind::Recording,
                None => Kind::Installed,
            },
            program,
            version: Version::new(version),
            options: Vec::new(),
            seen: Some(stamp.into()),
        };
        compiler.must_be_as_seen()?;
        Ok(compiler)
    }

    /// Identifies the files of the executable. Another stamp means that one of them was replaced.
    #[must_use]
    pub fn stamp(&self) -> String {
        if self.recording().is_some() {
            return stamp::of_file(&self.program);
        }
        let toolchain = Toolchain::from_env();
        facts::stamps(&self.program, &toolchain, stamp::of_file)
            // A script that can run anything.
            .unwrap_or_else(|| stamp::of_file(&toolchain.file(&self.program)))
    }

    /// Fails if the executable is not the one that another process has seen.
    pub(super) fn must_be_as_seen(&self) -> Result<(), Error> {
        match &self.seen {
            Some(seen) if *seen != self.stamp() => {
                let message = format!(
                    "the Futhark compiler {} was replaced during the run; start the run again",
                    self.program.display()
                );
                Err(Error::new(ErrorKind::NoCompiler, message))
            }
            _ => Ok(()),
        }
    }

    fn open(program: PathBuf, facts: Option<Facts<'_>>) -> Result<Compiler, Error> {
        let compiler = |kind, version| Compiler {
            program: program.clone(),
            version,
            kind,
            options: Vec::new(),
            seen: None,
        };
        if let Some(version) = recording::version(&program) {
            return Ok(compiler(Kind::Recording, version));
        }
        let name = facts.and_then(|_| Name::of("Futhark", &program, &Toolchain::from_env()));
        let fact = facts.zip(name.as_ref());
        if let Some(text) = fact.and_then(|(facts, name)| facts.get(name)) {
            return Ok(compiler(Kind::Installed, Version::new(&text)));
        }
        let fail = |why: String| {
            let message = format!(
                "cannot use {} as a Futhark compiler: {why}.\n{}",
                program.display(),
                how_to_install()
            );
            Error::new(ErrorKind::NoCompiler, message)
        };
        let output = run(&program, [OsStr::new("--version")], Limits::query())
            .map_err(|error| fail(error.to_string()))?;
        let text = output.stdout();
        // "Futhark 0.25.32.\n..."
        let Some(rest) = text.trim_start().strip_prefix("Futhark") else {
            return Err(fail(format!(
                "`--version` prints `{}`",
                text.lines().next().unwrap_or("")
            )));
        };
        let version = Version::new(rest.trim_start());
        if let Some(why) = too_old(&version) {
            return Err(fail(why));
        }
        if let Some((facts, name)) = fact {
            facts.put(name, &version.text);
        }
        Ok(compiler(Kind::Installed, version))
    }

    /// Vendored code in place of the compiler that generated it with `options`.
    pub(super) fn vendored(code: Vendored, options: &[String]) -> Result<Compiler, Error> {
        if let Some(why) = too_old(&code.version) {
            return Err(Error::vendored(why));
        }
        Ok(Compiler {
            program: code.description.clone(),
            version: code.version.clone(),
            kind: Kind::Vendored(code),
            options: options.to_vec(),
            seen: None,
        })
    }

    /// Adds options with which this compiler generates code.
    pub(super) fn with_options(mut self, options: &[String]) -> Compiler {
        self.options.extend_from_slice(options);
        self
    }

    /// The executable, the folder of the recording, or the description of vendored code.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The files whose change changes what it generates: the executable, or vendored code.
    pub(super) fn files(&self) -> Vec<&Path> {
        let mut files = vec![self.program()];
        if let Kind::Vendored(code) = &self.kind {
            files.extend(code.files.iter().map(PathBuf::as_path));
        }
        files
    }

    /// The folder of the recording, if this is one. A recording supports only the programs that
    /// were recorded.
    #[must_use]
    pub fn recording(&self) -> Option<&Path> {
        matches!(self.kind, Kind::Recording).then_some(&*self.program)
    }

    /// The version that it reports.
    #[must_use]
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Returns whether the version is at most [`known::NEWEST`]; `false` if it has no number.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.version
            .number
            .is_some_and(|number| number <= known::NEWEST)
    }

    /// All files that `source` consists of, including itself.
    ///
    /// They are found without running the compiler, unless an import has an unusual name.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NoSource`]: `source` does not exist.
    /// * [`ErrorKind::NoCompiler`]: this is a recording.
    /// * [`ErrorKind::Program`], [`ErrorKind::CompilerFailed`]: the compiler rejected `source`, or
    ///   failed on it.
    /// * [`ErrorKind::Io`]: a file cannot be read, or the compiler cannot be run.
    pub fn imports(&self, source: &Path) -> Result<Vec<PathBuf>, Error> {
        Ok(self.files_of(source)?.paths())
    }

    /// A hash of the code of `source` and its imports, which is the same for all versions of the
    /// compiler. Comments, layout, and the place of the files do not matter. The options of a build
    /// follow it.
    ///
    /// # Errors
    ///
    /// As [`imports`](Self::imports).
    pub fn hash(&self, source: &Path) -> Result<String, Error> {
        Ok(self.identity(&self.files_of(source)?))
    }

    /// As [`hash`](Self::hash), of the program with these files.
    pub(super) fn identity(&self, files: &Files) -> String {
        let mut hash = files.program();
        for option in &self.options {
            hash += &format!(" {option}");
        }
        hash
    }

    /// The files that `source` consists of, as they are now.
    ///
    /// # Errors
    ///
    /// As [`imports`](Self::imports).
    pub(super) fn files_of(&self, source: &Path) -> Result<Files, Error> {
        self.must_support(source)?;
        if let Kind::Vendored(code) = &self.kind {
            return Files::listed(source, &code.sources);
        }
        if let Some(files) = Files::scan(source)? {
            return Ok(files);
        }
        let output = self.checked([OsStr::new("imports"), source.as_os_str()], source)?;
        let paths: Vec<PathBuf> = output.stdout().lines().map(PathBuf::from).collect();
        Files::listed(source, &paths)
    }

    /// A value of the type `ty`, such as `[10]i32`, in the binary data format. `futhark test` uses
    /// the same values for `random input`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Program`]: the compiler rejected the type. [`ErrorKind::Io`]: the compiler
    /// cannot be run, or the recording has no value of the type.
    pub fn dataset(&self, ty: &str) -> Result<Vec<u8>, Error> {
        if let Some(recording) = self.recording() {
            let file = recording::dataset(recording, ty);
            return std::fs::read(&file).map_err(|error| Error::io("read", file, error));
        }
        let failed = |error| Error::io("run", &self.program, error);
        let arguments = ["dataset", "-b", "-g", ty].map(OsStr::new);
        let output = run(&self.program, arguments, Limits::DATA).map_err(failed)?;
        if !output.status.success() {
            return Err(Error::new(ErrorKind::Program, output.stderr().trim_end()));
        }
        output.data().map_err(failed)
    }

    /// Writes a value of the type `ty` to a recording of this compiler.
    ///
    /// # Errors
    ///
    /// As [`dataset`](Self::dataset). [`ErrorKind::Io`]: the file cannot be written, or `recording`
    /// belongs to another version.
    pub fn record_dataset(&self, ty: &str, recording: &Path) -> Result<(), Error> {
        recording::begin(recording, &self.version)?;
        paths::write(&recording::dataset(recording, ty), self.dataset(ty)?)
    }

    /// Compiles `source` as a library to `base.c`, `base.h` and `base.json`; returns the warnings.
    pub(super) fn generate(
        &self,
        backend: Backend,
        source: &Path,
        base: &Path,
    ) -> Result<String, Error> {
        if let Kind::Vendored(code) = &self.kind {
            return code.copy(base);
        }
        let arguments = [
            OsStr::new(backend.as_str()),
            OsStr::new("--library"),
            source.as_os_str(),
            OsStr::new("-o"),
            base.as_os_str(),
        ];
        let options = self.options.iter().map(OsStr::new);
        let output = self.checked(arguments.into_iter().chain(options), source)?;
        Ok(output.stderr())
    }

    /// Fails if `source` is missing, or this is a recording.
    fn must_support(&self, source: &Path) -> Result<(), Error> {
        if !source.is_file() {
            return Err(Error::no_source(source));
        }
        if let Kind::Recording = self.kind {
            let message = format!(
                "{} is a recording of Futhark {}, which supports only the recorded programs; for other \
                 programs install the compiler",
                self.program.display(),
                self.version
            );
            return Err(Error::new(ErrorKind::NoCompiler, message));
        }
        Ok(())
    }

    /// Runs the compiler on `source`; an error contains its stderr.
    fn checked<'a>(
        &self,
        arguments: impl IntoIterator<Item = &'a OsStr>,
        source: &Path,
    ) -> Result<Output, Error> {
        self.must_support(source)?;
        let output = run(&self.program, arguments, Limits::WORK)
            .map_err(|error| Error::io("run", &self.program, error))?;
        if output.status.success() {
            return Ok(output);
        }
        let text = output.stderr();
        let text = text.trim_end();
        let (kind, what, advice) = if is_internal(output.status.code(), text) {
            // Without a code, a signal ended it, possibly for lack of memory.
            let advice = match output.status.code() {
                _ if text.contains(OUT_OF_MEMORY) => "",
                Some(_) => {
                    "\nThis is a bug or a limitation of the compiler, not an error in the program; a newer version may work"
                }
                None => "",
            };
            (
                ErrorKind::CompilerFailed,
                "the Futhark compiler itself failed on",
                advice,
            )
        } else {
            (
                ErrorKind::Program,
                "the Futhark compiler rejected the program",
                "",
            )
        };
        Err(Error::new(
            kind,
            format!(
                "{what} {} (version {}, {}):\n{text}{advice}",
                source.display(),
                self.version,
                output.status
            ),
        ))
    }
}

/// Why a version is not supported, if it is too old.
fn too_old(version: &Version) -> Option<String> {
    let (major, minor, patch) = known::OLDEST;
    let is_old = version.number.is_some_and(|number| number < known::OLDEST);
    is_old.then(|| format!("expected Futhark {major}.{minor}.{patch} or later, got {version}"))
}

/// Whether the compiler failed for an internal reason, not because of the program.
///
/// Exit code 2 means a rejected program, but some internal errors and known limitations also
/// exit with 2; their headings identify them. Any other failure is internal: the compiler exits
/// with 1 when an exception reaches its top level, and has no exit code if a signal ended it. A
/// heading begins a line, but warnings can precede it.
fn is_internal(code: Option<i32>, text: &str) -> bool {
    const HEADINGS: [&str; 4] = [
        "Internal compiler error",
        "Known compiler limitation",
        "CallStack (from HasCallStack)",
        "HasCallStack backtrace",
    ];
    let is_heading = |line: &str| HEADINGS.iter().any(|heading| line.starts_with(heading));
    code != Some(2) || text.lines().any(is_heading)
}

fn run<'a>(
    program: &Path,
    arguments: impl IntoIterator<Item = &'a OsStr>,
    limits: Limits,
) -> std::io::Result<Output> {
    process::run(Command::new(program).args(arguments), limits)
}
