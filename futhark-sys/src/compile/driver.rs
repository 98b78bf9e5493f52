//! Finds the C compiler and the archiver, as the cc crate does, and asks the compiler for its version.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::{Error, ErrorKind};
use super::facts;
use super::hash::Hash;
use super::process;
use super::toolchain::Toolchain;

/// A C compiler with its archiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CCompiler {
    /// The program, and its first arguments.
    pub words: Vec<OsString>,
    /// The compiler. The program can be a wrapper, whose first argument it is.
    pub path: PathBuf,
    /// The first line of `--version`, a part of the cache key.
    pub version: String,
    pub ar: PathBuf,
}

/// Whether this process is the build script of a package.
pub(super) fn in_build_script() -> bool {
    std::env::var_os("OUT_DIR").is_some() && std::env::var_os("TARGET").is_some()
}

impl CCompiler {
    /// Finds the compiler that the cc crate selects, and keeps it in the folder `results`.
    pub(super) fn find(results: Option<&Path>) -> Result<CCompiler, Error> {
        // In a build script, the cc crate tells Cargo which variables it reads.
        let Some(results) = results.filter(|_| !in_build_script()) else {
            return CCompiler::ask();
        };
        let name = Hash::new()
            .with("C compiler")
            .with(env!("FUTHARK_SYS_TARGET"));
        let variables = Toolchain::of_c_compiler().into_iter();
        let words = variables.flat_map(|(name, value)| [name, value]);
        let name = words.fold(name, |name, word| name.with(word.as_encoded_bytes()));
        let no_text = || no_compiler("its path or an argument is not UTF-8");
        let text = facts::kept(Some(results), name, Vec::new(), || {
            let found = CCompiler::ask()?;
            let text = found.to_text().ok_or_else(no_text)?;
            // The program can be a wrapper.
            Ok((vec![found.path, PathBuf::from(&found.words[0])], text))
        })?;
        CCompiler::from_text(&text).ok_or_else(no_text)
    }

    fn ask() -> Result<CCompiler, Error> {
        let mut build = cc::Build::new();
        if !in_build_script() {
            let target = env!("FUTHARK_SYS_TARGET");
            build
                .target(target)
                .host(target)
                .out_dir(std::env::temp_dir());
        }
        // Only our flags and CFLAGS apply, so that results do not depend on the Cargo profile. Warnings that
        // are not printed take time too. In a build script, the metadata lists the variables that were read.
        build
            .opt_level(0)
            .no_default_flags(true)
            .warnings(false)
            .cargo_metadata(in_build_script())
            .cargo_warnings(false);
        let tool = build
            .try_get_compiler()
            .map_err(|error| no_compiler(&error.to_string()))?;
        let ar = build.try_get_archiver();
        let ar = ar.map_err(|error| no_compiler(&error.to_string()))?;
        let command = tool.to_command();
        let mut words = vec![command.get_program().to_owned()];
        words.extend(command.get_args().map(ToOwned::to_owned));
        let mut found = CCompiler {
            words,
            path: tool.path().to_owned(),
            version: String::new(),
            ar: ar.get_program().into(),
        };
        let text = found.ask_for("--version");
        let text =
            text.map_err(|error| no_compiler(&format!("{}: {error}", found.path.display())))?;
        found.version = text.lines().next().unwrap_or_default().to_owned();
        Ok(found)
    }

    /// The command, to which arguments are added.
    pub(super) fn command(&self) -> Command {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().map_or("cc".as_ref(), |word| &**word));
        command.args(words).stdin(Stdio::null());
        command
    }

    /// What the compiler prints about itself with this argument.
    pub(super) fn ask_for(&self, argument: &str) -> std::io::Result<String> {
        let output = process::query(self.command().arg(argument))?;
        Ok(output.stdout().trim().to_owned())
    }

    fn is_clang(&self) -> bool {
        self.version.contains("clang")
    }

    /// Whether this is gcc itself, not a wrapper.
    pub(super) fn is_gcc(&self) -> bool {
        !self.is_clang() && self.words.first().is_some_and(|word| **word == *self.path)
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

    /// The version, the paths and the words, with NUL bytes between them.
    fn to_text(&self) -> Option<String> {
        let mut parts = vec![&*self.version, self.path.to_str()?, self.ar.to_str()?];
        for word in &self.words {
            parts.push(word.to_str()?);
        }
        Some(parts.join("\0"))
    }

    fn from_text(text: &str) -> Option<CCompiler> {
        let mut parts = text.split('\0');
        Some(CCompiler {
            version: parts.next()?.to_owned(),
            path: parts.next()?.into(),
            ar: parts.next()?.into(),
            words: parts.map(OsString::from).collect(),
        })
    }
}

pub(super) fn no_compiler(why: &str) -> Error {
    Error::new(
        ErrorKind::NoCCompiler,
        format!(
            "cannot run a C compiler or its tools ({why}).\n\
             The C code that Futhark generates needs one: install gcc or clang (Debian: apt-get install gcc; \
             Fedora: dnf install gcc; Arch: pacman -S gcc; macOS: xcode-select --install), or set CC"
        ),
    )
}
