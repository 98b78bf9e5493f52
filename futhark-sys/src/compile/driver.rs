//! Finds the C compiler and the archiver, as the cc crate does, and asks the compiler for its version.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::{Error, ErrorKind};
use super::facts;
use super::hash::Hash;
use super::process;
use super::toolchain::Toolchain;

/// A C compiler with its archiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CCompiler {
    /// The program, and its first arguments.
    pub words: Vec<String>,
    /// The compiler. The program can be a wrapper, whose first argument it is.
    pub path: PathBuf,
    /// The first line of `--version`, a part of the cache key.
    pub version: String,
    pub ar: PathBuf,
    /// What it compiles for.
    pub target: String,
}

pub(super) fn in_build_script() -> bool {
    std::env::var_os("OUT_DIR").is_some() && std::env::var_os("TARGET").is_some()
}

impl CCompiler {
    /// Finds the compiler that the cc crate selects, and keeps it in the folder `results`. The default `target` is that of the
    /// build script, otherwise this machine.
    pub(super) fn find(results: Option<&Path>, target: Option<&str>) -> Result<CCompiler, Error> {
        let of_script = std::env::var("TARGET").ok().filter(|_| in_build_script());
        let target = target.map(str::to_owned).or(of_script);
        let target = target.unwrap_or_else(|| env!("FUTHARK_SYS_TARGET").to_owned());
        let name = Hash::new().with("C compiler").with(&target);
        let variables = Toolchain::of_c_compiler().into_iter();
        let words = variables.flat_map(|(name, value)| [name, value]);
        let name = words.fold(name, |name, word| name.with(word.as_encoded_bytes()));
        let text = facts::kept(results, name, || ask(&target))?;
        let mut parts = text.split('\0').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        Ok(CCompiler {
            version: next(),
            path: next().into(),
            ar: next().into(),
            words: parts.collect(),
            target,
        })
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }

    pub(super) fn is_for_apple(&self) -> bool {
        self.target.contains("apple")
    }

    #[cfg(feature = "library")]
    pub(super) fn is_for_windows(&self) -> bool {
        self.target.contains("windows")
    }

    fn is_clang(&self) -> bool {
        self.version.contains("clang")
    }

    /// Whether this is gcc itself, not a wrapper.
    pub(super) fn is_gcc(&self) -> bool {
        !self.is_clang() && self.path == Path::new(&self.words[0])
    }

    /// Whether this is a gcc or a clang of at least these versions.
    pub(super) fn is_at_least(&self, gcc: u32, clang: u32) -> bool {
        // "gcc (Debian 12.2.0-14) 12.2.0", "Debian clang version 16.0.6 (1)": the first
        // number that stands alone.
        let words = self.version.split_whitespace();
        let major = words
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(')'))
            .find_map(|word| word.split('.').next()?.parse::<u32>().ok());
        let least = if self.is_clang() { clang } else { gcc };
        major.is_some_and(|major| major >= least)
    }
}

impl Toolchain {
    /// Tells Cargo, in a build script, which variables select the C compiler, so that it runs the script again when one
    /// changes. Call it after the builds: if a script fails, Cargo shows all that it has printed, and runs it again in
    /// any case.
    pub fn watch_c_compiler() {
        let mut cc = cc_build(env!("FUTHARK_SYS_TARGET"));
        cc.cargo_metadata(true);
        // The cc crate prints each variable when it reads it. A compiler that is missing was an error of the build.
        let _ = (cc.try_get_compiler(), cc.try_get_archiver());
    }
}

/// Asks the cc crate for the compiler and the archiver. Returns the executables that run, and the version, the path, the
/// archiver and the words of the compiler, with NUL bytes between them.
fn ask(target: &str) -> Result<(Vec<PathBuf>, String), Error> {
    let build = cc_build(target);
    let failed = |error: cc::Error| no_compiler(&error.to_string());
    let tool = build.try_get_compiler().map_err(failed)?;
    let ar = build.try_get_archiver().map_err(failed)?;
    let path = tool.path();
    let mut command = tool.to_command();
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let tools = [path.as_os_str(), ar.get_program()];
    let words = tools.into_iter().chain(words);
    let words: Option<Vec<&str>> = words.map(OsStr::to_str).collect();
    let words = words.ok_or_else(|| no_compiler("its path or an argument is not UTF-8"))?;
    let words = words.join("\0");
    // The program can be a wrapper.
    let programs = vec![path.to_owned(), command.get_program().into()];
    let output = process::query(command.arg("--version"))
        .map_err(|error| no_compiler(&format!("{}: {error}", path.display())))?;
    let text = output.stdout();
    let version = text.trim().lines().next().unwrap_or_default();
    Ok((programs, format!("{version}\0{words}")))
}

/// The cc crate, without output for Cargo: Cargo shows all that a build script has printed, if it fails later.
fn cc_build(target: &str) -> cc::Build {
    let mut build = cc::Build::new();
    if !in_build_script() {
        build
            .target(target)
            .host(env!("FUTHARK_SYS_TARGET"))
            .out_dir(std::env::temp_dir());
    }
    // Only our flags and CFLAGS apply, so that results do not depend on the Cargo profile. Warnings that
    // are not printed take time too.
    build
        .opt_level(0)
        .no_default_flags(true)
        .warnings(false)
        .cargo_metadata(false)
        .cargo_warnings(false);
    build
}

pub(super) fn no_compiler(why: &str) -> Error {
    let message = format!(
        "cannot run a C compiler or its tools ({why}).\n\
         The C code that Futhark generates needs one: install gcc or clang (Debian: apt-get install gcc; \
         Fedora: dnf install gcc; Arch: pacman -S gcc; macOS: xcode-select --install), or set CC. For another target than \
         this machine, install a compiler for it (Debian: musl-tools, gcc-aarch64-linux-gnu, gcc-mingw-w64-x86-64), or \
         set CC_ and its name with underscores; cargo-zigbuild and cross do so"
    );
    process::unless_temporary_fails(Error::new(ErrorKind::NoCCompiler, message))
}
