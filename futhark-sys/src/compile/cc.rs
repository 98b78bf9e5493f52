//! Runs the C compiler: compiles our C file to an object with few global symbols, usually one, and
//! links it to a shared object or a static library.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_manifest::Backend;

use super::driver::{self, Driver, HOW_TO_INSTALL, no_compiler};
use super::error::{Error, ErrorKind};
use super::headers::OVERRIDE;
use super::process::{self, Limits};
use super::toolchain::Toolchain;
use crate::table::SYMBOL;

/// A C compiler with its tools.
pub(super) struct CCompiler {
    driver: Driver,
    ar: PathBuf,
    objcopy: PathBuf,
    apple: bool,
    is_cross: bool,
}

/// `futhark` itself uses `-O3 -std=c99`; we need the static assertions of C11.
const STANDARD: &[&str] = &["-std=c11", "-fPIC", "-fvisibility=hidden", "-pthread"];

/// On some processors, a short loop that crosses a line of the instruction cache takes up to twice as long, and without
/// this flag our functions before it decide whether it does.
const ALIGN: &[&str] = &["-falign-loops=32"];

/// After all other flags, so that the user's flags cannot disable the checks and results equal those
/// of `futhark test`.
const LAST: &[&str] = &["-ffp-contract=off", "-fno-fast-math", "-fno-lto"];

/// Mismatched types that C compilers accept by default and that would hide a wrong manifest.
const STRICT: &[&str] = &[
    "-w",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=implicit-function-declaration",
];

/// The options that determine the result.
pub(super) struct Options<'a> {
    pub backend: Backend,
    pub level: u8,
    pub hardened: bool,
    pub extra: &'a [String],
    pub include: &'a [PathBuf],
    /// Whether the compiler can initialise variables to zero; see [`CCompiler::zeroes_variables`].
    pub zero: bool,
    /// Whether nothing but the table is used from outside of the object, and the compiler can know.
    pub alone: bool,
}

impl Options<'_> {
    /// The arguments except file names.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut all: Vec<String> = vec![format!("-O{}", self.level)];
        let owned = |list: &[&'static str]| list.iter().map(|&a| a.to_owned()).collect::<Vec<_>>();
        all.extend(owned(STANDARD));
        all.extend(owned(STRICT));
        all.extend(owned(ALIGN));
        all.extend(self.extra.iter().cloned());
        if self.hardened {
            // See docs/arithmetic.md.
            all.push("-fwrapv".to_owned());
        }
        all.extend(owned(LAST));
        if self.zero {
            // The runtime can print a buffer that it never wrote, before it exits.
            all.push("-ftrivial-auto-var-init=zero".to_owned());
        }
        if self.alone {
            // Functions of `name.h` become part of their wrappers, instead of being compiled twice.
            all.push("-fwhole-program".to_owned());
        }
        for folder in self.include {
            // System headers: no warnings, and not our `assert`.
            all.push(format!("-isystem{}", folder.display()));
        }
        all
    }
}

/// Environment variables that change the result of gcc and clang.
const READ_BY_COMPILERS: [&str; 12] = [
    "CCC_OVERRIDE_OPTIONS",
    "COMPILER_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "LD_RUN_PATH",
    "LIBRARY_PATH",
    "MACOSX_DEPLOYMENT_TARGET",
    "NIX_CFLAGS_COMPILE",
    "NIX_LDFLAGS",
    "SDKROOT",
    "SOURCE_DATE_EPOCH",
];

impl CCompiler {
    /// Finds the compiler that the cc crate selects: `CC`, or the default of the system.
    pub(super) fn find(toolchain: &Toolchain, results: Option<&Path>) -> Result<CCompiler, Error> {
        let in_build_script = driver::in_build_script();
        let driver = Driver::find(results)?;
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let is_cross = in_build_script && variable("TARGET") != variable("HOST");
        let apple = match in_build_script {
            true => variable("TARGET").contains("apple"),
            false => cfg!(target_vendor = "apple"),
        };
        let mut compiler = CCompiler {
            driver,
            ar: PathBuf::new(),
            objcopy: PathBuf::new(),
            apple,
            is_cross,
        };
        let of_target = |name: &str| match is_cross {
            true => compiler.program_of_target(name),
            false => name.into(),
        };
        let [ar, objcopy] = [
            toolchain.ar().unwrap_or_else(|| of_target("ar")),
            toolchain.objcopy().unwrap_or_else(|| of_target("objcopy")),
        ];
        (compiler.ar, compiler.objcopy) = (ar, objcopy);
        Ok(compiler)
    }

    /// The tool that belongs to a cross compiler, or the name if the compiler does not know it.
    fn program_of_target(&self, name: &str) -> PathBuf {
        let text = self.ask(&format!("-print-prog-name={name}"));
        match text.as_deref().map(str::trim) {
            Ok(path) if !path.is_empty() => path.into(),
            _ => name.into(),
        }
    }

    /// The first line of `--version`, a part of the cache key.
    pub(super) fn version(&self) -> &str {
        &self.driver.version
    }

    /// The executables, the compiler first.
    pub(super) fn programs(&self) -> [&Path; 3] {
        [&self.driver.path, &self.ar, &self.objcopy]
    }

    /// The compiler's command line, which depends on the variables of the cc crate, and the values of
    /// the variables that the compiler itself reads. The cc crate passes on the whole environment,
    /// so its own list cannot be part of a cache key.
    pub(super) fn command_line(&self) -> Vec<OsString> {
        let mut words = self.driver.words.clone();
        for name in READ_BY_COMPILERS {
            words.push(name.into());
            words.push(std::env::var_os(name).unwrap_or_default());
        }
        words
    }

    /// Whether the compiler supports `-ftrivial-auto-var-init=zero`.
    pub(super) fn zeroes_variables(&self) -> bool {
        self.driver.is_at_least(12, 16)
    }

    /// Whether it is gcc, whose options clang does not all have.
    pub(super) fn is_gcc(&self) -> bool {
        self.driver.is_gcc()
    }

    /// Whether the result refers to source files, for debuggers.
    pub(super) fn debugs(&self, options: &Options<'_>) -> bool {
        let own = options.extra.iter().map(String::as_str);
        let words = self.driver.words.iter().filter_map(|word| word.to_str());
        own.chain(words).any(|word| word.starts_with("-g"))
    }

    /// Compiles `unit`, which includes our headers, to `object`. The folder of both will be renamed to `home`.
    pub(super) fn compile(
        &self,
        unit: &Path,
        home: &Path,
        object: &Path,
        headers: &Path,
        options: &Options<'_>,
    ) -> Result<(), Error> {
        let folder = unit.parent().unwrap_or(Path::new("."));
        let mut command = self.command_with(headers, options);
        command.arg(format!("-iquote{}", folder.display()));
        if self.maps_folders() {
            let (folder, home) = (folder.display(), home.display());
            command.arg(format!("-fmacro-prefix-map={folder}/="));
            // Debuggers find the files in the final folder.
            command.arg(format!("-fdebug-prefix-map={folder}={home}"));
        }
        command.arg("-c").arg(unit).arg("-o").arg(object);
        let stderr = run(command)?;
        match stderr {
            Ok(()) => Ok(()),
            Err(text) => Err(explain(&text, unit, options.backend)),
        }
    }

    /// Whether the compiler can replace the folder in `__FILE__`, so that equal builds have equal results
    /// in every folder.
    fn maps_folders(&self) -> bool {
        self.driver.is_at_least(8, 10)
    }

    /// The command that compiles with `options` and finds our headers.
    fn command_with(&self, headers: &Path, options: &Options<'_>) -> Command {
        let mut command = self.command();
        command.args(options.arguments());
        // Our <assert.h> takes precedence over the system's. Our other headers are found only by
        // `#include "…"`, because a program can be called `math` or `strings`.
        command.arg(format!("-I{}", headers.join(OVERRIDE).display()));
        let headers = headers.display();
        command.arg(format!("-iquote{headers}"));
        if self.maps_folders() {
            command.arg(format!("-fmacro-prefix-map={headers}/="));
        }
        command
    }

    /// Links `other` into `object`.
    pub(super) fn join(&self, object: &Path, other: &Path) -> Result<(), Error> {
        let alone = object.with_extension("alone.o");
        std::fs::rename(object, &alone).map_err(|error| Error::io("rename", object, error))?;
        let mut command = self.command();
        command.args(["-r", "-nostdlib"]).arg(&alone).arg(other);
        command.arg("-o").arg(object);
        run(command)?.map_err(|text| {
            Error::new(
                ErrorKind::C,
                format!(
                    "cannot link {} with {}:\n{text}",
                    alone.display(),
                    other.display()
                ),
            )
        })?;
        for file in [alone.as_path(), other] {
            let _ = std::fs::remove_file(file);
        }
        Ok(())
    }

    /// Makes every global symbol of `object` local except `symbols`.
    pub(super) fn keep_symbols(&self, object: &Path, symbols: &[String]) -> Result<(), Error> {
        let list = object.with_extension("symbols");
        let prefix = if self.apple { "_" } else { "" };
        let text: String = symbols.iter().map(|s| format!("{prefix}{s}\n")).collect();
        std::fs::write(&list, text).map_err(|error| Error::io("write", &list, error))?;
        let option = |name: &str| format!("{name}{}", list.display());
        let mut command;
        if self.apple {
            let whole = object.with_extension("whole.o");
            std::fs::rename(object, &whole).map_err(|error| Error::io("rename", object, error))?;
            command = self.command();
            command.args(["-r", "-nostdlib"]).arg(&whole);
            command
                .arg(option("-Wl,-exported_symbols_list,"))
                .arg("-o")
                .arg(object);
        } else {
            command = Command::new(&self.objcopy);
            command.arg(option("--keep-global-symbols=")).arg(object);
        }
        run_tool(command, "OBJCOPY")?.map_err(|text| {
            let advice = self.advice("OBJCOPY");
            let object = object.display();
            Error::new(
                ErrorKind::C,
                format!("cannot hide the symbols of {object}:\n{text}{advice}"),
            )
        })?;
        let _ = std::fs::remove_file(list);
        Ok(())
    }

    /// Links `object` to a shared object. The table gets a second name, which is the same in all
    /// libraries and does not contain a hash.
    pub(super) fn link_shared(
        &self,
        object: &Path,
        library: &Path,
        symbol: &str,
    ) -> Result<(), Error> {
        let mut command = self.command();
        command
            .args(["-shared", "-fPIC", "-pthread"])
            .arg(object)
            .arg("-o")
            .arg(library);
        command.args(["-lm", "-ldl"]);
        if self.apple {
            command.arg(format!("-Wl,-alias,_{symbol},_{SYMBOL}"));
        } else {
            command.arg(format!("-Wl,--defsym={SYMBOL}={symbol}"));
            // An undefined function is a link error instead of a crash at run time.
            command.arg("-Wl,-z,defs");
        }
        run(command)?.map_err(|text| {
            Error::new(
                ErrorKind::C,
                format!("cannot link {}:\n{text}", library.display()),
            )
        })
    }

    /// Creates a static library from `object`.
    pub(super) fn archive(&self, object: &Path, library: &Path) -> Result<(), Error> {
        let mut command = Command::new(&self.ar);
        // Without the time and the user.
        command.arg(if self.apple { "crs" } else { "crsD" });
        command.arg(library).arg(object);
        run_tool(command, "AR")?.map_err(|text| {
            let advice = self.advice("AR");
            let library = library.display();
            Error::new(
                ErrorKind::C,
                format!("cannot create {library}:\n{text}{advice}"),
            )
        })
    }

    /// What to do if a tool rejects a file: it can be that of this machine.
    fn advice(&self, variable: &str) -> String {
        match self.is_cross {
            true => format!("\nSet {variable} to the tool of the cross compiler"),
            false => String::new(),
        }
    }

    /// Whether it compiles for another machine than this one.
    pub(super) fn is_cross(&self) -> bool {
        self.is_cross
    }

    /// The folder of the compiler's own headers, such as `stddef.h`, if known.
    #[cfg(feature = "raw")]
    pub(super) fn own_headers(&self) -> Option<String> {
        let text = self.ask("-print-file-name=include").ok()?;
        let folder = text.trim();
        Path::new(folder).is_dir().then(|| folder.to_owned())
    }

    /// What the compiler prints about itself with this argument.
    fn ask(&self, argument: &str) -> std::io::Result<String> {
        let output = process::run(self.command().arg(argument), Limits::query())?;
        Ok(output.stdout())
    }

    fn command(&self) -> Command {
        self.driver.command()
    }
}

/// Runs the C compiler; the inner error is its output.
fn run(command: Command) -> Result<Result<(), String>, Error> {
    output_of(command).map_err(|(program, error)| no_compiler(&format!("{program}: {error}")))
}

/// Runs the tool that `variable` can name; the inner error is its output.
fn run_tool(command: Command, variable: &str) -> Result<Result<(), String>, Error> {
    output_of(command).map_err(|(program, error)| {
        let message = format!(
            "cannot run {program}: {error}.\nThe build uses it to make a library: {HOW_TO_INSTALL}, or set {variable}"
        );
        Error::new(ErrorKind::NoCCompiler, message)
    })
}

/// The output of a command that fails; the outer error is that it does not run.
fn output_of(mut command: Command) -> Result<Result<(), String>, (String, std::io::Error)> {
    let program = command.get_program().to_owned();
    let output = process::run(&mut command, Limits::WORK)
        .map_err(|error| (program.to_string_lossy().into_owned(), error))?;
    if output.status.success() {
        return Ok(Ok(()));
    }
    let text = output.stderr();
    Ok(Err(format!(
        "{}: {}\n{}",
        program.to_string_lossy(),
        output.status,
        text.trim_end()
    )))
}

/// Makes an error of the compiler's output; a missing header has its own kind.
fn explain(text: &str, unit: &Path, backend: Backend) -> Error {
    const HEADERS: [(&str, &str); 3] = [
        ("CL/cl.h", "the OpenCL headers (Debian: opencl-headers)"),
        ("cuda", "the headers of CUDA 12 or 13 (set CUDA_HOME)"),
        (
            "hip/",
            "the HIP headers (Debian: libamdhip64-dev; otherwise set ROCM_PATH)",
        ),
    ];
    let lacks = |header: &str| {
        text.lines()
            .any(|line| line.contains("fatal error") && line.contains(header))
    };
    let missing = HEADERS.into_iter().find(|(header, _)| lacks(header));
    if let (true, Some((_, install))) = (backend.is_gpu(), missing) {
        return Error::new(
            ErrorKind::NoHeader,
            format!("the backend {backend} needs {install}; output of the C compiler:\n{text}"),
        );
    }
    Error::new(
        ErrorKind::C,
        format!(
            "the C compiler rejected {}, which includes the generated code:\n{text}",
            unit.display()
        ),
    )
}
