//! Runs the C compiler: compiles our C file to an object with few global symbols, usually one, and
//! links it to a shared object or a static library.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_manifest::Backend;

use super::cache::{Temporary, is_complete};
use super::driver::{self, Driver, HOW_TO_INSTALL, no_compiler};
use super::error::{Error, ErrorKind};
use super::paths::write;
use super::process;
use super::toolchain::Toolchain;
use super::unit::FIXED_FILES;
use crate::table::SYMBOL;

/// A C compiler with its tools.
pub(super) struct CCompiler {
    driver: Driver,
    ar: PathBuf,
    objcopy: PathBuf,
    apple: bool,
    is_cross: bool,
}

const FIRST: [&str; 9] = [
    // `futhark` itself uses `-O3 -std=c99`; we need the static assertions of C11.
    "-std=c11",
    "-fPIC",
    "-fvisibility=hidden",
    "-pthread",
    // Mismatched types that C compilers accept by default and that would hide a wrong manifest.
    "-w",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=implicit-function-declaration",
    // On some processors, a short loop that crosses a line of the instruction cache takes up to twice as long, and
    // without this flag our functions before it decide whether it does.
    "-falign-loops=32",
];

/// After all other flags, so that the user's flags cannot disable the checks and results equal those
/// of `futhark test`.
const LAST: [&str; 3] = ["-ffp-contract=off", "-fno-fast-math", "-fno-lto"];

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
    pub(super) fn find(results: Option<&Path>) -> Result<CCompiler, Error> {
        let driver = Driver::find(results)?;
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let (is_cross, apple) = match driver::in_build_script() {
            true => {
                let target = variable("TARGET");
                (target != variable("HOST"), target.contains("apple"))
            }
            false => (false, cfg!(target_vendor = "apple")),
        };
        // The tool that belongs to a cross compiler, or the name if the compiler does not know it.
        let of_target = |name: &str| {
            let asked = is_cross.then(|| driver.ask_for(&format!("-print-prog-name={name}")));
            match asked.and_then(Result::ok) {
                Some(path) if !path.is_empty() => path.into(),
                _ => PathBuf::from(name),
            }
        };
        Ok(CCompiler {
            ar: Toolchain::tool("AR").unwrap_or_else(|| of_target("ar")),
            objcopy: Toolchain::tool("OBJCOPY").unwrap_or_else(|| of_target("objcopy")),
            driver,
            apple,
            is_cross,
        })
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

    /// The arguments that determine the result, except file names. `is_alone`: nothing but the table is used from
    /// outside of the object.
    pub(super) fn arguments(
        &self,
        level: u8,
        hardened: bool,
        is_alone: bool,
        extra: &[String],
        include: &[PathBuf],
    ) -> Vec<String> {
        let mut all = vec![format!("-O{level}")];
        all.extend(FIRST.map(String::from));
        all.extend_from_slice(extra);
        if hardened {
            // See docs/arithmetic.md.
            all.push("-fwrapv".to_owned());
        }
        all.extend(LAST.map(String::from));
        if self.driver.is_at_least(12, 16) {
            // The runtime can print a buffer that it never wrote, before it exits.
            all.push("-ftrivial-auto-var-init=zero".to_owned());
        }
        if is_alone && self.driver.is_gcc() {
            // Functions of `name.h` become part of their wrappers, instead of being compiled twice.
            all.push("-fwhole-program".to_owned());
        }
        // System headers: no warnings, and not our `assert`.
        let folders = include.iter().map(|folder| folder.display());
        all.extend(folders.map(|folder| format!("-isystem{folder}")));
        all
    }

    /// Whether the result of these arguments refers to source files, for debuggers.
    pub(super) fn debugs(&self, arguments: &[String]) -> bool {
        let words = self.driver.words.iter().filter_map(|word| word.to_str());
        let mut all = arguments.iter().map(String::as_str).chain(words);
        all.any(|word| word.starts_with("-g"))
    }

    /// Compiles `unit`, which includes our headers, to `object`. The folder of both will be renamed to `home`.
    pub(super) fn compile(
        &self,
        unit: &Path,
        home: &Path,
        object: &Path,
        headers: &Path,
        backend: Backend,
        arguments: &[String],
    ) -> Result<(), Error> {
        let folder = unit.parent().unwrap_or(Path::new("."));
        let mut command = self.driver.command();
        command.args(arguments);
        // Our <assert.h> takes precedence over the system's. Our other headers are found only by
        // `#include "…"`, because a program can be called `math` or `strings`.
        command.arg(format!("-I{}", headers.join(OVERRIDE).display()));
        let (headers, folder) = (headers.display(), folder.display());
        // Equal builds have equal results in every folder, if the compiler can replace it in `__FILE__`.
        let maps_folders = self.driver.is_at_least(8, 10);
        command.arg(format!("-iquote{headers}"));
        if maps_folders {
            command.arg(format!("-fmacro-prefix-map={headers}/="));
        }
        command.arg(format!("-iquote{folder}"));
        if maps_folders {
            command.arg(format!("-fmacro-prefix-map={folder}/="));
            // Debuggers find the files in the final folder.
            command.arg(format!("-fdebug-prefix-map={folder}={}", home.display()));
        }
        command.arg("-c").arg(unit).arg("-o").arg(object);
        output_of(command, "CC")?.map_err(|text| explain(&text, unit, backend))
    }

    /// Links `other` into `object`.
    pub(super) fn join(&self, object: &Path, other: &Path) -> Result<(), Error> {
        let what = format!("link {} with {}", object.display(), other.display());
        self.relink(object, other.as_os_str(), &what)?;
        let _ = std::fs::remove_file(other);
        Ok(())
    }

    /// Links `object` again, with this argument.
    fn relink(&self, object: &Path, argument: &OsStr, what: &str) -> Result<(), Error> {
        let alone = object.with_extension("alone.o");
        std::fs::rename(object, &alone).map_err(|error| Error::io("rename", object, error))?;
        let mut command = self.driver.command();
        command.args(["-r", "-nostdlib"]).arg(&alone).arg(argument);
        command.arg("-o").arg(object);
        self.step(command, "CC", what)?;
        let _ = std::fs::remove_file(alone);
        Ok(())
    }

    /// Makes every global symbol of `object` local except `symbols`.
    pub(super) fn keep_symbols(&self, object: &Path, symbols: &[String]) -> Result<(), Error> {
        let list = object.with_extension("symbols");
        let prefix = if self.apple { "_" } else { "" };
        let text: String = symbols.iter().map(|s| format!("{prefix}{s}\n")).collect();
        write(&list, text)?;
        let option = |name: &str| format!("{name}{}", list.display());
        let what = format!("hide the symbols of {}", object.display());
        if self.apple {
            self.relink(
                object,
                option("-Wl,-exported_symbols_list,").as_ref(),
                &what,
            )?;
        } else {
            let mut command = Command::new(&self.objcopy);
            command.arg(option("--keep-global-symbols=")).arg(object);
            self.step(command, "OBJCOPY", &what)?;
        }
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
        let mut command = self.driver.command();
        command.args(["-shared", "-fPIC", "-pthread"]).arg(object);
        command.arg("-o").arg(library).args(["-lm", "-ldl"]);
        if self.apple {
            command.arg(format!("-Wl,-alias,_{symbol},_{SYMBOL}"));
        } else {
            command.arg(format!("-Wl,--defsym={SYMBOL}={symbol}"));
            // An undefined function is a link error instead of a crash at run time.
            command.arg("-Wl,-z,defs");
        }
        self.step(command, "CC", &format!("link {}", library.display()))
    }

    /// Creates a static library from `object`.
    pub(super) fn archive(&self, object: &Path, library: &Path) -> Result<(), Error> {
        let mut command = Command::new(&self.ar);
        // Without the time and the user.
        command.arg(if self.apple { "crs" } else { "crsD" });
        command.arg(library).arg(object);
        self.step(command, "AR", &format!("create {}", library.display()))
    }

    /// Runs the tool that `variable` can name.
    fn step(&self, command: Command, variable: &str, what: &str) -> Result<(), Error> {
        output_of(command, variable)?.map_err(|text| {
            // It can be the tool of this machine.
            let advice = match self.is_cross && variable != "CC" {
                true => format!("\nSet {variable} to the tool of the cross compiler"),
                false => String::new(),
            };
            Error::new(ErrorKind::C, format!("cannot {what}:\n{text}{advice}"))
        })
    }

    /// Whether it compiles for another machine than this one.
    pub(super) fn is_cross(&self) -> bool {
        self.is_cross
    }

    /// The folder of the compiler's own headers, such as `stddef.h`, if known.
    #[cfg(feature = "raw")]
    pub(super) fn own_headers(&self) -> Option<String> {
        let folder = self.driver.ask_for("-print-file-name=include").ok()?;
        Path::new(&folder).is_dir().then_some(folder)
    }
}

/// The folder with `assert.h`, which takes precedence over that of the system.
const OVERRIDE: &str = "override";

/// The fixed part of our C file: the folder of its headers below the folder of results, written unless it exists.
///
/// # Errors
///
/// The folder or a file cannot be written.
pub(super) fn headers(results: &Path) -> Result<PathBuf, Error> {
    let sources = &env!("FUTHARK_SYS_SOURCES")[..16];
    let folder = results.join(format!("include-{sources}"));
    if is_complete(&folder) {
        return Ok(folder);
    }
    let new = Temporary::beside(&folder)?;
    let inner = new.path().join(OVERRIDE);
    std::fs::create_dir_all(&inner)
        .map_err(|error| Error::io("create the folder", inner, error))?;
    for (name, text) in FIXED_FILES {
        write(&new.path().join(name), text)?;
    }
    new.complete(&folder)?;
    Ok(folder)
}

/// Runs the tool that `variable` can name; the inner error is its output.
fn output_of(mut command: Command, variable: &str) -> Result<Result<(), String>, Error> {
    let output = process::run(&mut command);
    let program = command.get_program().display();
    match output {
        Ok(output) if output.status.success() => Ok(Ok(())),
        Ok(output) => {
            let (status, text) = (output.status, output.stderr());
            Ok(Err(format!("{program}: {status}\n{}", text.trim_end())))
        }
        Err(error) if variable == "CC" => Err(no_compiler(&format!("{program}: {error}"))),
        Err(error) => Err(Error::new(
            ErrorKind::NoCCompiler,
            format!(
                "cannot run {program}: {error}.\nThe build uses it to make a library: {HOW_TO_INSTALL}, or set {variable}"
            ),
        )),
    }
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
