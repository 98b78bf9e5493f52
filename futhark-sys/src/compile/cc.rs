//! Runs the C compiler: compiles our C file to an object, and links it to a shared object or a static
//! library.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use futhark_manifest::Backend;

use super::build::Build;
use super::driver::{CCompiler, no_compiler};
use super::error::{Error, ErrorKind};
use super::paths::{create_folder, write};
use super::process;
use super::toolchain::Toolchain;
use super::unit::FIXED_FILES;
use crate::elf::is_cut_short;
use crate::table::SYMBOL;

/// The folder of the fixed part of our C file.
pub(super) const HEADERS: &str = "include";

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
const READ_BY_COMPILERS: &str = "CCC_OVERRIDE_OPTIONS COMPILER_PATH CPATH C_INCLUDE_PATH GCC_EXEC_PREFIX LD_RUN_PATH LIBRARY_PATH \
    MACOSX_DEPLOYMENT_TARGET NIX_CFLAGS_COMPILE NIX_LDFLAGS SDKROOT SOURCE_DATE_EPOCH";

impl CCompiler {
    /// The compiler's command line, which depends on the variables of the cc crate, and the values of
    /// the variables that the compiler itself reads. The cc crate passes on the whole environment,
    /// so its own list cannot be part of a cache key.
    pub(super) fn command_line(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = self.words.iter().map(OsString::from).collect();
        for name in READ_BY_COMPILERS.split(' ') {
            words.push(name.into());
            words.push(std::env::var_os(name).unwrap_or_default());
        }
        words
    }

    /// The arguments that determine the result, except file names.
    pub(super) fn arguments(&self, build: &Build) -> Vec<String> {
        let level = build.level();
        let mut all = vec![format!("-O{level}")];
        all.extend(FIRST.map(String::from));
        all.extend_from_slice(&build.flags);
        if build.hardened {
            // See docs/arithmetic.md.
            all.push("-fwrapv".to_owned());
        }
        all.extend(LAST.map(String::from));
        if self.is_at_least(12, 16) {
            // The runtime can print a buffer that it never wrote, before it exits.
            all.push("-ftrivial-auto-var-init=zero".to_owned());
        }
        // In raw modules Rust uses the functions of `name.h` too.
        if !build.raw && self.is_gcc() {
            // Functions of `name.h` become part of their wrappers, instead of being compiled twice.
            all.push("-fwhole-program".to_owned());
            if level == 0 {
                // Otherwise gcc compiles functions that nothing calls. A program uses a part of the runtime.
                all.push("-ftoplevel-reorder".to_owned());
            }
        }
        // System headers: no warnings, and not our `assert`.
        for folder in Toolchain::include_folders(build.backend()) {
            all.push(format!("-isystem{}", folder.display()));
        }
        all
    }

    /// Whether the result of these arguments refers to source files, for debuggers.
    pub(super) fn debugs(&self, arguments: &[String]) -> bool {
        let mut all = arguments.iter().chain(&self.words);
        all.any(|word| word.starts_with("-g"))
    }

    /// Compiles `unit`, with our headers, which it writes beside it in the folder [`HEADERS`], to `object`. The folder of
    /// both will be renamed to `home`.
    pub(super) fn compile(
        &self,
        unit: &Path,
        home: &Path,
        object: &Path,
        backend: Backend,
        arguments: &[String],
    ) -> Result<(), Error> {
        let folder = unit.parent().unwrap_or(Path::new("."));
        let headers = folder.join(HEADERS);
        create_folder(&headers.join("override"))?;
        for (name, text) in FIXED_FILES {
            write(&headers.join(name), text)?;
        }
        let mut command = self.command();
        command.args(arguments);
        // Our <assert.h> takes precedence over the system's. Our other headers are found only by
        // `#include "…"`, because a program can be called `math` or `strings`.
        command.arg("-I").arg(headers.join("override"));
        command.arg("-iquote").arg(&headers);
        command.arg("-iquote").arg(folder);
        if self.is_at_least(8, 10) {
            // Equal builds have equal results in every folder whose path is UTF-8.
            let folder = folder.display();
            command.arg(format!("-fmacro-prefix-map={folder}/="));
            // Debuggers find the files in the final folder.
            command.arg(format!("-fdebug-prefix-map={folder}={}", home.display()));
        }
        command.arg("-c").arg(unit).arg("-o").arg(object);
        output_of(command)?.map_err(|text| explain(&text, unit, backend))?;
        match is_cut_short(object) {
            Ok(false) => Ok(()),
            // For example, of a cache of compilers on a full disk.
            _ => Err(explain("it wrote no whole object", unit, backend)),
        }
    }

    /// Links the object to a shared object. The table gets a second name, which is the same in all
    /// libraries and does not contain a hash.
    pub(super) fn link_shared(
        &self,
        object: &Path,
        library: &Path,
        symbol: &str,
    ) -> Result<(), Error> {
        let mut command = self.command();
        command.args(["-shared", "-fPIC", "-pthread"]).arg(object);
        command.arg("-o").arg(library).args(["-lm", "-ldl"]);
        if self.is_for_apple() {
            command.arg(format!("-Wl,-alias,_{symbol},_{SYMBOL}"));
        } else {
            command.arg(format!("-Wl,--defsym={SYMBOL}={symbol}"));
            // An undefined function is a link error instead of a crash at run time.
            command.arg("-Wl,-z,defs");
        }
        step(command, &format!("link {}", library.display()))
    }

    pub(super) fn archive(&self, objects: &[PathBuf], library: &Path) -> Result<(), Error> {
        let mut command = Command::new(&self.ar);
        // Without the time and the user.
        command.arg(if self.is_for_apple() { "crs" } else { "crsD" });
        command.arg(library).args(objects);
        step(command, &format!("create {}", library.display()))
    }

    /// The folder of the compiler's own headers, such as `stddef.h`, if known.
    #[cfg(feature = "raw")]
    pub(super) fn own_headers(&self) -> Option<String> {
        let output = process::query(self.command().arg("-print-file-name=include")).ok()?;
        let folder = output.stdout().trim().to_owned();
        Path::new(&folder).is_dir().then_some(folder)
    }
}

/// Runs a tool; an error says what it should have done.
pub(super) fn step(command: Command, what: &str) -> Result<(), Error> {
    output_of(command)?.map_err(|text| Error::new(ErrorKind::C, format!("cannot {what}:\n{text}")))
}

/// Runs a tool; the inner error is its output.
fn output_of(mut command: Command) -> Result<Result<(), String>, Error> {
    let output = process::run(&mut command);
    let program = command.get_program().display();
    match output {
        Ok(output) if output.status.success() => Ok(Ok(())),
        Ok(output) => {
            let text = output.stderr();
            let message = format!("{program}: {}\n{}", output.status, text.trim_end());
            match output.lacks_room() {
                true => Err(process::no_room(&message)),
                false => Ok(Err(message)),
            }
        }
        Err(error) => Err(no_compiler(&format!("{program}: {error}"))),
    }
}

/// Makes an error of the compiler's output; a missing header has its own kind.
fn explain(text: &str, unit: &Path, backend: Backend) -> Error {
    let (header, install) = match backend {
        Backend::OpenCl => ("CL/cl.h", "the OpenCL headers (Debian: opencl-headers)"),
        Backend::Cuda => ("cuda", "the headers of CUDA 12 or 13 (set CUDA_HOME)"),
        _ => (
            "hip/",
            "the HIP headers (Debian: libamdhip64-dev; otherwise set ROCM_PATH)",
        ),
    };
    let mut lines = text.lines();
    let lacks_header = lines.any(|line| line.contains("fatal error") && line.contains(header));
    if backend.is_gpu() && lacks_header {
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
