//! The command that runs the C compiler, as the cc crate finds it, and what it says about itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::{Error, ErrorKind};
use super::facts::{self, Facts, Name};
use super::process::{self, Limits};
use super::stamp;
use super::toolchain::Toolchain;

/// The C compiler's command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Driver {
    /// The program, and its first arguments.
    pub words: Vec<OsString>,
    /// The compiler. The program can be a wrapper, whose first argument it is.
    pub path: PathBuf,
    /// The first line of `--version`.
    pub version: String,
    family: Family,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Gnu,
    Clang,
    Other,
}

/// The kind of the fact about the C compiler.
const FACT: &str = "C compiler";

/// Whether this process is the build script of a package.
pub(super) fn in_build_script() -> bool {
    std::env::var_os("OUT_DIR").is_some() && std::env::var_os("TARGET").is_some()
}

/// How often a compiler that is being replaced is asked.
const ATTEMPTS: usize = 4;

/// Asks a compiler until its files were the same before and after its answers, so that the text, which
/// has the stamps of the files, tells what these files answer. `None` in place of the text if that cannot
/// be known.
///
/// The first answer tells only which files to look at.
fn settled<D>(
    mut ask: impl FnMut() -> Result<D, Error>,
    text: impl Fn(&D) -> Option<String>,
) -> Result<(D, Option<String>), Error> {
    let mut driver = ask()?;
    for _ in 0..ATTEMPTS {
        let Some(before) = text(&driver) else {
            return Ok((driver, None));
        };
        driver = ask()?;
        if text(&driver).as_ref() == Some(&before) {
            return Ok((driver, Some(before)));
        }
    }
    Err(no_compiler(
        "it was replaced while it was asked for its version; try again",
    ))
}

impl Driver {
    /// Finds the compiler that the cc crate selects, or remembers it.
    pub(super) fn find(toolchain: &Toolchain, facts: Option<Facts<'_>>) -> Result<Driver, Error> {
        // In a build script, the cc crate tells Cargo which variables it reads.
        let Some(facts) = facts.filter(|_| !in_build_script()) else {
            return Driver::ask();
        };
        let variables = Toolchain::of_c_compiler();
        let words = variables.iter().flat_map(|(name, value)| [name, value]);
        let words = words.map(|word| word.as_encoded_bytes());
        let target = env!("FUTHARK_SYS_TARGET").as_bytes();
        let name = Name::new(FACT, words.chain([target]));
        let kept = facts.get(&name);
        if let Some(driver) = kept.and_then(|text| Driver::remember(&text, toolchain)) {
            return Ok(driver);
        }
        let (driver, text) = settled(Driver::ask, |driver| driver.to_text(toolchain))?;
        if let Some(text) = text {
            facts.put(&name, &text);
        }
        Ok(driver)
    }

    fn ask() -> Result<Driver, Error> {
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
        let command = tool.to_command();
        let mut words = vec![command.get_program().to_owned()];
        words.extend(command.get_args().map(ToOwned::to_owned));
        let family = match (tool.is_like_clang(), tool.is_like_gnu()) {
            (true, _) => Family::Clang,
            (false, true) => Family::Gnu,
            (false, false) => Family::Other,
        };
        let mut driver = Driver {
            words,
            path: tool.path().to_owned(),
            version: String::new(),
            family,
        };
        let output = process::run(driver.command().arg("--version"), Limits::query());
        let output =
            output.map_err(|error| no_compiler(&format!("{}: {error}", driver.path.display())))?;
        let text = output.stdout();
        driver.version = text.lines().next().unwrap_or_default().to_owned();
        Ok(driver)
    }

    /// The command, to which arguments are added.
    pub(super) fn command(&self) -> Command {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().map_or("cc".as_ref(), |word| &**word));
        command.args(words).stdin(Stdio::null());
        command
    }

    /// Whether this is gcc itself, not a wrapper.
    pub(super) fn is_gcc(&self) -> bool {
        let is_program = self.words.first().is_some_and(|word| **word == *self.path);
        self.family == Family::Gnu && is_program
    }

    /// Whether this is a gcc or a clang of at least these versions.
    pub(super) fn is_at_least(&self, gcc: u32, clang: u32) -> bool {
        // "gcc (Debian 12.2.0-14) 12.2.0", "Debian clang version 16.0.6 (1)": the first
        // number that stands alone.
        let words = self.version.split_whitespace();
        let major = words
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(')'))
            .find_map(|word| word.split('.').next()?.parse::<u32>().ok());
        let least = match self.family {
            Family::Gnu => gcc,
            Family::Clang => clang,
            Family::Other => return false,
        };
        major.is_some_and(|major| major >= least)
    }

    /// The fact, one word per line; `None` if the compiler can change while its files stay the same.
    fn to_text(&self, toolchain: &Toolchain) -> Option<String> {
        let mut lines = vec![
            self.stamps(toolchain)?,
            format!("{:?}", self.family),
            self.version.clone(),
            self.path.to_str()?.to_owned(),
        ];
        for word in &self.words {
            lines.push(word.to_str()?.to_owned());
        }
        let is_line = |line: &String| !line.contains('\n');
        lines.iter().all(is_line).then(|| lines.join("\n"))
    }

    /// Reads the fact, unless the compiler was replaced since.
    fn remember(text: &str, toolchain: &Toolchain) -> Option<Driver> {
        let mut lines = text.split('\n');
        let stamps = lines.next()?;
        let driver = Driver {
            family: match lines.next()? {
                "Gnu" => Family::Gnu,
                "Clang" => Family::Clang,
                "Other" => Family::Other,
                _ => return None,
            },
            version: lines.next()?.to_owned(),
            path: lines.next()?.into(),
            words: lines.map(OsString::from).collect(),
        };
        (!driver.words.is_empty() && driver.stamps(toolchain)? == stamps).then_some(driver)
    }

    /// The stamps of the compiler, and of its wrapper if it has one.
    fn stamps(&self, toolchain: &Toolchain) -> Option<String> {
        let wrapper = Path::new(self.words.first()?);
        let stamps = facts::stamps(&self.path, toolchain, stamp::exact)?;
        match wrapper == self.path {
            true => Some(stamps),
            false => Some(format!(
                "{stamps}\t{}",
                facts::stamps(wrapper, toolchain, stamp::exact)?
            )),
        }
    }
}

/// How to install a C compiler and its tools.
pub(super) const HOW_TO_INSTALL: &str = "install gcc or clang and binutils (Debian: apt-get install gcc binutils; Fedora: dnf install \
     gcc binutils; Arch: pacman -S gcc; macOS: xcode-select --install)";

pub(super) fn no_compiler(why: &str) -> Error {
    Error::new(
        ErrorKind::NoCCompiler,
        format!(
            "cannot run a C compiler ({why}).\n\
             The C code that Futhark generates needs one: {HOW_TO_INSTALL}, or set CC"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// The version that is kept of a compiler whose version grows with each of the first questions, as
    /// it is replaced after each.
    fn kept(replacements: u32) -> Result<(u32, Option<String>), Error> {
        let installed = Cell::new(0);
        let ask = || {
            let version = installed.get();
            installed.set((version + 1).min(replacements));
            Ok(version)
        };
        settled(ask, |version| {
            Some(format!("version {version} of file {}", installed.get()))
        })
    }

    #[test]
    fn a_version_is_kept_only_for_the_files_that_have_it() {
        for replacements in 0..3 {
            let (version, text) = kept(replacements).unwrap();
            assert_eq!(version, replacements);
            let expected = format!("version {version} of file {version}");
            assert_eq!(text, Some(expected));
        }
        let error = kept(100).unwrap_err().to_string();
        assert!(error.contains("it was replaced"), "{error}");
        let (_, text) = settled(|| Ok(1), |_| None).unwrap();
        assert_eq!(text, None, "a script is asked each time");
    }
}
