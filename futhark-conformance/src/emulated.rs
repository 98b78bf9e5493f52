//! The emulated device, which runs programs for cuda and hip on machines without a GPU. It is a
//! driver library; its sources in `emulated/` are embedded in this program and compiled on first
//! use with the C++ compiler of the machine. Child processes find it through the variables that
//! name the libraries of a backend.

use crate::files::{key, replace_file};
use crate::parallel;
use anyhow::{Context as _, bail};
use futhark_safe::compile::process;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The file in which the device reports misuse that real drivers do not report.
pub const MISUSE_REPORTS: &str = "FUTHARK_EMULATED_FINDINGS";

/// The variables that name a driver's libraries (`futhark-sys/c/fut_devices.h`).
const LIBRARIES: [&str; 5] = [
    "FUTHARK_LIBCUDA",
    "FUTHARK_LIBNVRTC",
    "FUTHARK_LIBCUDART",
    "FUTHARK_LIBAMDHIP64",
    "FUTHARK_LIBHIPRTC",
];

/// The variable with the settings of the device, such as `delayed,order=reversed` (`emulated/README.md`).
pub(crate) const SETTINGS: &str = "FUTHARK_EMULATED";

/// A file of `emulated/`: name and text.
macro_rules! source {
    ($name:literal) => {
        ($name, include_str!(concat!("../emulated/", $name)))
    };
}
/// The sources of the library, and the headers for kernels.
const SOURCES: &[(&str, &str)] = &[
    source!("src/compiler.cpp"),
    source!("src/compiler.h"),
    source!("src/context.cpp"),
    source!("src/context.h"),
    source!("src/cuda.cpp"),
    source!("src/division.cpp"),
    source!("src/division.h"),
    source!("src/driver.cpp"),
    source!("src/driver.h"),
    source!("src/fiber.cpp"),
    source!("src/fiber.h"),
    source!("src/grid.cpp"),
    source!("src/grid.h"),
    source!("src/hip.cpp"),
    source!("src/memory.cpp"),
    source!("src/memory.h"),
    source!("src/realrtc.cpp"),
    source!("src/realrtc.h"),
    source!("src/rtc.cpp"),
    source!("src/settings.cpp"),
    source!("src/settings.h"),
    source!("src/work.cpp"),
    source!("src/work.h"),
    source!("src/worker.h"),
    source!("device/cuda_fp16.h"),
    source!("device/hip/hip_fp16.h"),
    source!("device/kernel.h"),
    source!("device/thread.h"),
];

/// The compiled device.
#[derive(Clone, Debug)]
pub struct Emulated {
    compiler: OsString,
    library: PathBuf,
}

impl Emulated {
    /// Compiles the device into a subfolder of `dir`, or finds it there.
    pub fn build(dir: &Path) -> anyhow::Result<Emulated> {
        // Absolute, because children may have another working directory.
        std::fs::create_dir_all(dir)
            .with_context(|| format!("failed to create {}", dir.display()))?;
        let dir = dir.canonicalize()?;
        let (compiler, version) = compiler()?;
        // The key contains the compiler and its version, which determine the compiled code.
        let made_by = [compiler.as_encoded_bytes(), version.as_bytes()];
        let sources = SOURCES.iter().flat_map(|(name, text)| [name, text]);
        let parts: Vec<&[u8]> = sources.map(|text| text.as_bytes()).chain(made_by).collect();
        let folder = dir.join(format!("emulated-{}", key(&parts)));
        let library = folder.join(LIBRARY);
        if !library.is_file() {
            compile(&compiler, &dir, &folder)?;
        }
        std::fs::create_dir_all(folder.join(KERNELS))?;
        Ok(Emulated { compiler, library })
    }

    /// The environment of a process that uses this device, with settings such as
    /// `delayed,order=reversed`.
    #[must_use]
    pub fn environment(&self, settings: &str) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = LIBRARIES
            .iter()
            .map(|name| (name.into(), self.library.clone().into()))
            .collect();
        variables.push((SETTINGS.into(), settings.into()));
        let kernels = self.library.with_file_name(KERNELS);
        variables.push(("FUTHARK_EMULATED_CACHE".into(), kernels.into()));
        variables.extend(real_compilers());
        variables.push(("FUTHARK_EMULATED_CXX".into(), self.compiler.clone()));
        variables
    }
}

/// The real run-time compilers of the private toolchain, if it has them and no variable names
/// others: the device compiles kernels for real architectures with them.
fn real_compilers() -> Vec<(OsString, OsString)> {
    // Of two files for a variable, the later one counts: it is newer, and optional.
    const FILES: [(&str, &str); 3] = [
        ("FUTHARK_EMULATED_NVRTC", "cuda/lib/libnvrtc.so"),
        ("FUTHARK_EMULATED_NVRTC", "nvrtc/lib/libnvrtc.so"),
        ("FUTHARK_EMULATED_HIPRTC", "hip/lib/libamdhip64.so"),
    ];
    let Some(root) = std::env::var_os("FUTHARK_TOOLCHAIN") else {
        return Vec::new();
    };
    FILES
        .into_iter()
        .filter(|(name, _)| std::env::var_os(name).is_none())
        .map(|(name, file)| (name, Path::new(&root).join(file)))
        .filter(|(_, file)| file.is_file())
        .map(|(name, file)| (name.into(), file.into()))
        .collect()
}

const LIBRARY: &str = "libfuthark-emulated.so";

/// The folder beside the library with compiled kernels, whose format is private to it.
const KERNELS: &str = "kernels";

/// The C++ compiler of this machine, and what it says about its version.
fn compiler() -> anyhow::Result<(OsString, String)> {
    let named = std::env::var_os("CXX").filter(|name| !name.is_empty());
    let name = named.unwrap_or_else(|| "c++".into());
    let why = match process::query(Command::new(&name).arg("--version")) {
        Ok(answer) if answer.status.success() => return Ok((name, answer.stdout())),
        Ok(answer) => answer.status.to_string(),
        Err(error) => error.to_string(),
    };
    bail!(
        "the emulated device needs a C++ compiler, but {} cannot be run ({why}); install one (Debian: g++), or name it in CXX",
        name.display()
    )
}

/// Compiles or links a part of the device, with the arguments that `add` adds.
fn run_compiler(compiler: &OsString, add: impl FnOnce(&mut Command)) -> anyhow::Result<()> {
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden"]);
    add(&mut command);
    // Not the limit of a case, which is for the programs under test.
    let limit = Some(Duration::from_secs(600));
    let name = compiler.display();
    let output = process::run_within(&mut command, limit)
        .with_context(|| format!("failed to run {name}"))?;
    if !output.status.success() {
        let errors = output.stderr();
        bail!(
            "{name} cannot compile the emulated device:\n{}",
            errors.trim()
        );
    }
    Ok(())
}

/// Compiles in a temporary folder and renames it, because other processes may do the same.
fn compile(compiler: &OsString, dir: &Path, folder: &Path) -> anyhow::Result<()> {
    let fresh = tempfile::tempdir_in(dir)?;
    let mut units = Vec::new();
    for (name, text) in SOURCES {
        let path = fresh.path().join(name);
        replace_file(&path, text.as_bytes())
            .with_context(|| format!("failed to write {}", path.display()))?;
        if name.ends_with(".cpp") {
            units.push(path);
        }
    }
    // With all processors: every job for cuda and hip waits for this.
    let compiled = parallel::map(&units, parallel::processors(), |unit| {
        run_compiler(compiler, |command| {
            command
                .arg("-c")
                .arg(unit)
                .arg("-o")
                .arg(unit.with_extension("o"));
        })
    });
    compiled.into_iter().collect::<anyhow::Result<()>>()?;
    run_compiler(compiler, |command| {
        command.args(units.iter().map(|unit| unit.with_extension("o")));
        command.args(["-shared", "-ldl", "-pthread", "-o"]);
        command.arg(fresh.path().join(LIBRARY));
    })?;
    let made = fresh.keep();
    if let Err(error) = std::fs::rename(&made, folder) {
        // Another process has compiled it at the same time.
        std::fs::remove_dir_all(&made)?;
        if !folder.join(LIBRARY).is_file() {
            return Err(error).with_context(|| format!("failed to create {}", folder.display()));
        }
    }
    Ok(())
}
