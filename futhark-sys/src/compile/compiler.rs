//! Finds and runs the Futhark compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_manifest::{Backend, Version, known};

use super::error::{Error, ErrorKind};
use super::facts;
use super::process;
use super::toolchain::Toolchain;

/// An executable Futhark compiler.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: PathBuf,
    version: Version,
}

/// The options of the Futhark compiler that change neither the kind nor the names of its files.
const OPTIONS: [&str; 3] = ["--safe", "--Werror", "-w"];

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

/// The lines after "To get a Futhark compiler".
const HOW_TO_INSTALL: &str = "  Debian 12             ci/setup of futhark-rust, then source its .toolchain/env.sh
  Debian 13 and later   apt-get install --no-install-recommends futhark
  Arch Linux            futhark from the AUR
  macOS                 brew install futhark
  nix                   nix-env -iA nixpkgs.futhark
  Fedora, other Linux   the static executables on the compiler's own site, futhark-lang.org
Then put it on PATH, or set FUTHARK to its path. `futhark-conformance devices` then shows what this machine can build and run.
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
    /// [`ErrorKind::NoCompiler`]: no usable compiler was found. The message says how to
    /// install one.
    pub fn find() -> Result<Compiler, Error> {
        Compiler::find_kept(None)
    }

    /// As [`find`](Self::find), but keeps the version in the folder `results`: the next call does not run the
    /// compiler, unless it was replaced, or is a script.
    pub(super) fn find_kept(results: Option<&Path>) -> Result<Compiler, Error> {
        match Toolchain::default_compiler() {
            Some(program) => Compiler::at_kept(program, results),
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
        Compiler::all_kept(None)
    }

    /// As [`all`](Self::all), but keeps the versions in the folder `results`: see [`at_kept`](Self::at_kept).
    #[must_use]
    pub fn all_kept(results: Option<&Path>) -> Vec<Compiler> {
        let mut all: Vec<Compiler> = Toolchain::default_compiler()
            .into_iter()
            .chain(Toolchain::private_compilers())
            .filter_map(|program| Compiler::at_kept(program, results).ok())
            .collect();
        all.sort_by_key(|compiler| compiler.version.number);
        all.dedup_by_key(|compiler| compiler.version.number);
        all
    }

    /// Returns the compiler at `program` (a path, or a name on `PATH`).
    ///
    /// # Errors
    /// [`ErrorKind::NoCompiler`]: it does not exist, does not run, is not a Futhark compiler, or is
    /// older than [`known::OLDEST`].
    pub fn at(program: impl Into<PathBuf>) -> Result<Compiler, Error> {
        Compiler::at_kept(program, None)
    }

    /// The compiler at `program` with the version and the [stamp](Self::stamp) that another process has
    /// seen. Does not run it.
    ///
    /// # Errors
    /// [`ErrorKind::NoCompiler`]: the executable was replaced since.
    pub fn as_seen(
        program: impl Into<PathBuf>,
        version: &str,
        stamp: &str,
    ) -> Result<Compiler, Error> {
        let program = program.into();
        let version = Version::new(version);
        let compiler = Compiler { program, version };
        if compiler.stamp() == stamp {
            return Ok(compiler);
        }
        let message = format!(
            "the Futhark compiler {} was replaced during the run; start the run again",
            compiler.program.display()
        );
        Err(Error::new(ErrorKind::NoCompiler, message))
    }

    /// Identifies the file of the executable. Another stamp means that it was replaced.
    #[must_use]
    pub fn stamp(&self) -> String {
        facts::stamp(&[Toolchain::file(&self.program)])
    }

    /// As [`at`](Self::at), but keeps the version in the folder `results`, which can be that of
    /// [`Build::out_dir`](super::Build::out_dir): the next call does not run the compiler, unless it was replaced, or is
    /// a script.
    pub fn at_kept(program: impl Into<PathBuf>, results: Option<&Path>) -> Result<Compiler, Error> {
        let program = program.into();
        let fail = |why: String| {
            let message = format!(
                "cannot use {} as a Futhark compiler: {why}.\n{}",
                program.display(),
                how_to_install()
            );
            process::unless_temporary_fails(Error::new(ErrorKind::NoCompiler, message))
        };
        let text = facts::version(results, &program, || {
            let output = process::query(Command::new(&program).arg("--version"))
                .map_err(|error| fail(error.to_string()))?;
            let text = output.stdout();
            // "Futhark 0.25.32.\n..."
            match text.trim_start().strip_prefix("Futhark") {
                Some(version) => Ok(version.trim_start().to_owned()),
                None => Err(fail(format!(
                    "`--version` prints `{}`",
                    text.lines().next().unwrap_or("")
                ))),
            }
        })?;
        let version = Version::new(&text);
        if version.number.is_some_and(|number| number < known::OLDEST) {
            let (major, minor, patch) = known::OLDEST;
            return Err(fail(format!(
                "expected Futhark {major}.{minor}.{patch} or later, got {version}"
            )));
        }
        Ok(Compiler { program, version })
    }

    /// The executable.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The version that it reports.
    #[must_use]
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// A value of the type `ty`, such as `[10]i32`, in the binary data format. `futhark test` uses
    /// the same values for `random input`.
    ///
    /// # Errors
    /// [`ErrorKind::Program`]: the compiler rejected the type. [`ErrorKind::Io`]: the compiler
    /// cannot be run.
    pub fn dataset(&self, ty: &str) -> Result<Vec<u8>, Error> {
        let failed = |error| Error::io("run", &self.program, error);
        let mut command = Command::new(&self.program);
        command.args(["dataset", "-b", "-g", ty]);
        let output = process::run(&mut command).map_err(failed)?;
        if !output.status.success() {
            let text = output.stderr();
            return Err(match output.lacks_room() {
                true => process::no_room(&text),
                false => Error::new(ErrorKind::Program, text.trim_end()),
            });
        }
        output.data().map_err(failed)
    }

    /// Compiles a program as a library to `base.c`, `base.h` and `base.json`; returns the warnings.
    pub(super) fn generate(
        &self,
        source: &Path,
        backend: Backend,
        options: &[String],
        base: &Path,
    ) -> Result<String, Error> {
        let mut command = Command::new(&self.program);
        command.args([backend.as_str(), "--library"]);
        // Not an option, if its name begins with `-`.
        let is_like_option = source.as_os_str().as_encoded_bytes().starts_with(b"-");
        let home = Path::new(if is_like_option { "." } else { "" });
        command.arg(home.join(source)).arg("-o").arg(base);
        command.args(options);
        let output =
            process::run(&mut command).map_err(|error| Error::io("run", &self.program, error))?;
        let text = output.stderr();
        if output.status.success() {
            return Ok(text);
        }
        let (path, version, status) = (source.display(), &self.version, output.status);
        let said = format!("{path} (version {version}, {status}):\n{}", text.trim_end());
        let (kind, message) = match is_internal(output.status.code(), &text) {
            false => (ErrorKind::Program, format!("{REJECTED} {said}")),
            true if output.lacks_room() => return Err(process::no_room(&said)),
            true => (
                ErrorKind::CompilerFailed,
                format!("{FAILED} {said}\n{ADVICE}"),
            ),
        };
        Err(Error::new(kind, message))
    }
}

const REJECTED: &str = "the Futhark compiler rejected the program";
const FAILED: &str = "the Futhark compiler itself failed on";
const ADVICE: &str = "This is a bug or a limitation of the compiler, not an error in the program; a newer version may work";

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
