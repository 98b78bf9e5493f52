//! Runs a build: finds its inputs, looks it up in the cache, or runs the steps; records it.

use std::path::{Path, PathBuf};

use futhark_manifest::Program;

use super::artifact::{Artifact, Paths, UNCHECKED, read_documented, read_program};
use super::build::{Build, Linkage};
use super::cache::{Temporary, is_complete};
use super::cc::HEADERS;
use super::code::{self, Code};
use super::compiler;
use super::driver::CCompiler;
use super::error::{BACKENDS, Error, ErrorKind};
use super::facts;
use super::files::Files;
use super::generated::strings::with_c_strings;
use super::generated::{Generated, runtime};
use super::hash::Hash;
use super::paths::{hash_of, write};
use super::recording::Recording;
use super::stored::{self, REFUSED, SYMBOL, Stored, WARNINGS};
use super::toolchain::{Toolchain, Vendor};
use super::unit::{self, Unit, raw};

const UNIT: &str = "fut_unit.c";

/// The object in a static library.
pub(super) const UNIT_OBJECT: &str = "unit.o";

/// How often a build starts again if its inputs changed while it ran.
const ATTEMPTS: usize = 3;

impl Build {
    /// Compiles the program, or returns the result of an equal build from the same folder.
    ///
    /// Blocks while the Futhark and C compilers run: seconds for a medium program. Several
    /// processes may build into one folder at the same time.
    ///
    /// # Errors
    /// See [`ErrorKind`]. The message contains the error output of the compiler that failed.
    pub fn run(&self) -> Result<Artifact, Error> {
        for _ in 0..ATTEMPTS {
            let sources = Files::of(self.source())?;
            let artifact = match self.code(&sources)? {
                Code::Stored(Stored {
                    folder,
                    symbol: Some(symbol),
                    ..
                }) => {
                    let paths = self.paths(folder, symbol);
                    Artifact::read(paths, Vec::new(), self, sources.paths()).map(Some)
                }
                code => self.find_or_build(code, sources),
            };
            if let Some(artifact) = artifact? {
                return Ok(artifact);
            }
        }
        Err(Error::changing(self.source()))
    }

    /// Compiles like [`run`](Self::run), and adds the result to a recording of the compiler
    /// ([`Recording::create`]), which then replaces the Futhark and C compilers for this build.
    ///
    /// Blocks like [`run`](Self::run). Several processes may add to one recording at the same time.
    ///
    /// # Errors
    /// Errors that do not depend on the program: the source, a compiler or a header is missing,
    /// the backend is not one of [`BACKENDS`], a file cannot be read or written.
    pub fn record(&self, recording: &Recording) -> Result<Recorded, Error> {
        let files = match Files::of(self.source()) {
            Err(error) if error.kind() == ErrorKind::Program => {
                return Ok(Recorded::Refusal(error));
            }
            files => files?,
        };
        let folder = recording.build(&self.recorded_name()?);
        let new = Temporary::beside(&folder)?;
        let recorded = match self.run() {
            Ok(artifact) => {
                let header = artifact.header();
                let manifest = header.with_extension("json");
                let warnings = artifact.folder().join(WARNINGS);
                for file in [artifact.library(), header, manifest, warnings] {
                    let to = new.path().join(file.file_name().unwrap_or_default());
                    std::fs::copy(&file, &to).map_err(|error| Error::io("copy to", &to, error))?;
                }
                write(&new.path().join(SYMBOL), artifact.symbol())?;
                Recorded::Library
            }
            Err(error) => {
                let Some(refusal) = stored::refusal(&error) else {
                    return Err(error);
                };
                write(&new.path().join(REFUSED), refusal)?;
                Recorded::Refusal(error)
            }
        };
        stored::describe(new.path(), self, &files, recording.version())?;
        new.become_folder(&folder)?;
        Ok(recorded)
    }

    /// Reads the interface of the program. Needs no C compiler, and with vendored code no Futhark
    /// compiler either.
    ///
    /// If a source file has changed since the code was vendored, an installed compiler is used. Blocks
    /// while the Futhark compiler runs.
    ///
    /// # Errors
    /// As [`Build::run`], except for those of the C compiler.
    pub fn interface(&self) -> Result<Interface, Error> {
        let sources = Files::of(self.source())?;
        let code = match self.code(&sources) {
            Err(error)
                if error.kind() == ErrorKind::Vendored
                    && matches!(Toolchain::vendor(), Ok(Vendor::Use)) =>
            {
                Code::Compiler(self.installed().map_err(|_| error)?)
            }
            found => found?,
        };
        let folder = Temporary::beside(&self.folder()?.join("interface"))?;
        let paths = self.paths(folder.path().to_owned(), String::new());
        code.generate(self, &paths.in_folder(&paths.name))?;
        let sources = sources.paths();
        Ok(Interface {
            program: read_documented(
                &paths.manifest(),
                &paths.read("json")?,
                self.source(),
                &sources,
            )?,
            sources,
        })
    }

    /// The result; `None` if an input changed while it was built.
    fn find_or_build(&self, code: Code, sources: Files) -> Result<Option<Artifact>, Error> {
        let results = self.folder()?;
        let inputs = self.inputs(code, sources, &results)?;
        let key = self.key(&inputs)?;
        // The symbol does not depend on paths and times of files, so that equal compilers produce
        // equal libraries.
        let symbol = format!("fut_{}_{}", self.backend(), &key.clone().hex()[..16]);
        // A replaced compiler builds again, even if its version is the same.
        let key = key.with(facts::stamp(&inputs.programs)).hex();
        let paths = self.paths(results.join(self.folder_name(&key)), symbol);
        if !is_complete(&paths.folder) && !self.build(&inputs, &paths)? {
            return Ok(None);
        }
        Artifact::read(paths, inputs.programs, self, inputs.sources.paths()).map(Some)
    }

    /// Finds the tools, whose versions are kept in the folder `results`.
    fn inputs(&self, code: Code, sources: Files, results: &Path) -> Result<Inputs, Error> {
        let cc = CCompiler::find(Some(results), self.target.as_deref())?;
        let mut programs = code.made_by();
        programs.extend([cc.path.clone(), cc.ar.clone()]);
        Ok(Inputs {
            sources,
            arguments: cc.arguments(self),
            programs: programs.iter().map(|file| Toolchain::file(file)).collect(),
            code,
            cc,
        })
    }

    /// Where the generated code comes from: a recording, vendored code, or a compiler.
    fn code(&self, sources: &Files) -> Result<Code, Error> {
        if !BACKENDS.contains(&self.backend()) {
            return Err(Error::backend(self.backend()));
        }
        compiler::must_be_usable(&self.options)?;
        if let Some(recording) = &self.recording {
            return code::recorded(recording, self, sources).map(Code::Stored);
        }
        let Some(folder) = &self.vendored else {
            return self.installed().map(Code::Compiler);
        };
        let folder = folder.join(format!("{}-{}", self.name(), self.backend()));
        code::vendored(&folder, self, sources).map(Code::Stored)
    }

    /// The name of this build in a recording.
    pub(super) fn recorded_name(&self) -> Result<String, Error> {
        let key = Hash::new()
            .with(env!("CARGO_PKG_VERSION"))
            .with(hash_of(self.source())?)
            .with(self.settings()?);
        Ok(self.folder_name(&key.hex()))
    }

    fn folder_name(&self, key: &str) -> String {
        format!("{}-{}-{}", self.name(), self.backend(), &key[..16])
    }

    fn paths(&self, folder: PathBuf, symbol: String) -> Paths {
        Paths {
            folder,
            name: self.name(),
            symbol,
            linkage: self.linkage,
        }
    }

    /// Hashes everything that determines the result: also versions of compilers, and options from the environment
    /// (`CC`, `CFLAGS`).
    fn key(&self, inputs: &Inputs) -> Result<Hash, Error> {
        let mut hash = Hash::new()
            .with(env!("FUTHARK_SYS_SOURCES"))
            .with(env!("CARGO_PKG_VERSION"))
            .with(futhark_manifest::VERSION)
            .with(self.identity(&inputs.sources))
            // Source locations are part of the program's messages.
            .with(inputs.sources.texts())
            .with(self.source().as_os_str().as_encoded_bytes())
            .with(self.settings()?)
            .with(&inputs.code.version().text)
            .with(&inputs.cc.version);
        for word in inputs.cc.command_line() {
            hash = hash.with(word.as_encoded_bytes());
        }
        Ok(inputs.arguments.iter().fold(hash, Hash::with))
    }

    /// A hash of the program's code and the options for the Futhark compiler.
    fn identity(&self, files: &Files) -> String {
        let options = self.options.iter().map(|option| format!(" {option}"));
        files.program() + &options.collect::<String>()
    }

    /// Builds in a temporary folder and renames it, so that a folder is always complete. Returns false if
    /// an input changed meanwhile: then nothing is kept.
    fn build(&self, inputs: &Inputs, paths: &Paths) -> Result<bool, Error> {
        let stamp = facts::stamp(&inputs.programs);
        let folder = Temporary::beside(&paths.folder)?;
        let work = Paths {
            folder: folder.path().to_owned(),
            ..paths.clone()
        };
        let result = self.build_in(inputs, &work, &paths.folder);
        // The folder is named after what the files contained before, and an error can be one of a file
        // that was half written.
        let now = Files::of(self.source());
        let is_current = now.is_ok_and(|now| now == inputs.sources);
        if !is_current || facts::stamp(&inputs.programs) != stamp {
            return Ok(false);
        }
        result?;
        folder.complete(&paths.folder)?;
        Ok(true)
    }

    /// Builds in the folder of `paths`, which will be renamed to `home`.
    fn build_in(&self, inputs: &Inputs, paths: &Paths, home: &Path) -> Result<(), Error> {
        let (cc, arguments) = (&inputs.cc, &inputs.arguments);
        let mut warnings = inputs.code.generate(self, &paths.in_folder(&paths.name))?;
        let manifest_text = paths.read("json")?;
        let program = read_program(&paths.manifest(), &manifest_text)?;
        if program.backend != self.backend() {
            let message = format!(
                "expected a manifest for backend {}, got one for {}",
                self.backend(),
                program.backend
            );
            return Err(Error::new(ErrorKind::Manifest, message));
        }
        let (c_text, h_text) = (with_c_strings(&paths.read("c")?), paths.read("h")?);
        let missing = self
            .write_unit(inputs, paths, &manifest_text, &program, [&c_text, &h_text])
            .map_err(|error| {
                if error.kind() != ErrorKind::Layout {
                    return error;
                }
                let plain = Generated::read(&c_text, &h_text, &program);
                error.with_ways_on(&program.version, Some(self.hardened && plain.is_ok()))
            })?;
        let version = &program.version;
        for check in missing {
            warnings += &format!("{UNCHECKED}Futhark {version} is not known: {check}\n");
        }
        paths.write(WARNINGS, &warnings)?;
        let (file, object) = (paths.in_folder(UNIT), paths.in_folder(UNIT_OBJECT));
        cc.compile(&file, home, &object, self.backend(), arguments)
            .map_err(|error| match error.kind() {
                // A mistake in our C shows so, too.
                ErrorKind::C if !program.version.is_tested() => {
                    error.with_ways_on(&program.version, None)
                }
                _ => error,
            })?;
        match self.linkage {
            Linkage::Shared => cc.link_shared(&object, &paths.library(), &paths.symbol)?,
            Linkage::Static => cc.archive(std::slice::from_ref(&object), &paths.library())?,
        }
        let _ = std::fs::remove_file(object);
        // Only debuggers read them.
        if !cc.debugs(arguments) {
            for file in [UNIT, unit::CHECKED] {
                let _ = std::fs::remove_file(paths.in_folder(file));
            }
            let _ = std::fs::remove_dir_all(paths.in_folder(HEADERS));
        }
        Ok(())
    }

    /// Writes our C file around the generated code, the texts of `name.c` and `name.h`. Returns the checks that are missing
    /// in it.
    fn write_unit(
        &self,
        inputs: &Inputs,
        paths: &Paths,
        manifest_text: &str,
        program: &Program,
        [c_text, h_text]: [&str; 2],
    ) -> Result<Vec<String>, Error> {
        let mut missing = Vec::new();
        let is_allowed = self.allows_unknown_compiler()?;
        let changes = match self.hardened {
            true => runtime::changes(c_text, program, is_allowed.then_some(&mut missing))?,
            false => Vec::new(),
        };
        let c_text = &runtime::changed(c_text, changes);
        let generated = Generated::read(c_text, h_text, program)?;
        if self.hardened {
            let allowed = is_allowed.then_some(&mut missing);
            let text = unit::checked::checked(&generated.source, &program.version, allowed)?;
            paths.write(unit::CHECKED, &text)?;
        } else {
            paths.write(unit::CHECKED, c_text)?;
        }
        let plain = match self.raw {
            true => raw::functions(&generated.declared),
            false => Vec::new(),
        };
        let unit = Unit {
            program,
            name: &paths.name,
            generated: &generated,
            manifest_text,
            program_id: &generated.layouts.identity(&self.identity(&inputs.sources)),
            hardened: self.hardened,
            partial: !missing.is_empty(),
            symbol: &paths.symbol,
            plain: &plain,
        };
        let name = &paths.name;
        let title = format!("// @generated by futhark-sys around {name}.c; do not edit.\n");
        paths.write(UNIT, &format!("{title}{}", unit::write(&unit)))?;
        Ok(missing)
    }
}

/// The result of [`Build::record`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Recorded {
    /// The library.
    Library,
    /// The program does not compile. Building from the recording returns the same error.
    Refusal(Error),
}

/// What code that uses a program must know to be compiled, but not to be linked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Interface {
    /// The manifest, resolved, with comments of the source as documentation.
    pub program: Program,
    /// The source file and its imports.
    pub sources: Vec<PathBuf>,
}

/// The C code that a hardened build compiles in place of `c_text`, for tests of its rules on text that no compiler wrote.
///
/// # Errors
/// As for a build.
#[doc(hidden)]
pub fn hardened_source(c_text: &str, h_text: &str, manifest: &str) -> Result<String, Error> {
    let program = read_program(Path::new("manifest"), manifest)?;
    let c_text = with_c_strings(c_text);
    let c_text = runtime::changed(&c_text, runtime::changes(&c_text, &program, None)?);
    let generated = Generated::read(&c_text, h_text, &program)?;
    unit::checked::checked(&generated.source, &program.version, None)
}

/// What a build reads.
struct Inputs {
    code: Code,
    sources: Files,
    cc: CCompiler,
    /// For the C compiler.
    arguments: Vec<String>,
    /// The file of each executable, and the files of vendored code.
    programs: Vec<PathBuf>,
}
