//! Finds compilers and headers. Every environment variable that affects a build is read here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use futhark_manifest::Backend;

use super::error::{Error, ErrorKind};
use super::paths::entries;

/// What a build does with vendored code; the variable `FUTHARK_VENDOR` selects it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Vendor {
    /// Uses the code. It is an error if a source file or the options have changed since. Needs no Futhark
    /// compiler.
    #[default]
    Use,
    /// `update`: generates the code if it is missing, or if a source file, the options, or the version of
    /// the compiler have changed.
    Update,
    /// `check`: it is an error if the compiler generates other code now.
    Check,
}

/// The compilers and headers on this machine.
///
/// | variable | meaning |
/// |---|---|
/// | `FUTHARK` | the Futhark compiler to use; takes precedence |
/// | `PATH` | otherwise the first `futhark` in these folders |
/// | `FUTHARK_TOOLCHAIN` | otherwise `bin/futhark` in this folder (created by `ci/setup`); also `opencl/`, `cuda/` and `hip/include` |
/// | `CUDA_HOME`, `CUDA_PATH` | the CUDA headers, in `include` |
/// | `ROCM_PATH`, `HIP_PATH` | the HIP headers, in `include` |
/// | `FUTHARK_VENDOR` | `update` or `check` vendored code: see [`Vendor`] |
/// | `FUTHARK_UNKNOWN_COMPILER` | `allow`: see [`Build::allow_unknown_compiler`](super::Build::allow_unknown_compiler) |
/// | `LIBCLANG_PATH`, `BINDGEN_EXTRA_CLANG_ARGS` | read by bindgen, for raw modules |
///
/// The cc crate reads `CC`, `CFLAGS`, `AR` and others, also with the name of the target:
/// [`watch_c_compiler`](Toolchain::watch_c_compiler) reports each of them to Cargo.
#[derive(Debug)]
#[non_exhaustive]
pub enum Toolchain {}

impl Toolchain {
    /// The variables that affect a build, for `cargo:rerun-if-env-changed`. `PATH` is omitted,
    /// because it differs between a terminal and an editor: watch [`Artifact::programs`] instead.
    ///
    /// [`Artifact::programs`]: super::Artifact::programs
    pub const VARIABLES: [&'static str; 10] = [
        "FUTHARK",
        "FUTHARK_VENDOR",
        "FUTHARK_UNKNOWN_COMPILER",
        "FUTHARK_TOOLCHAIN",
        "CUDA_HOME",
        "CUDA_PATH",
        "ROCM_PATH",
        "HIP_PATH",
        "LIBCLANG_PATH",
        "BINDGEN_EXTRA_CLANG_ARGS",
    ];

    /// Reads from `FUTHARK_VENDOR` what builds do with vendored code.
    ///
    /// # Errors
    /// [`ErrorKind::Vendored`]: the variable has another value than `update`, `check` and nothing.
    pub fn vendor() -> Result<Vendor, Error> {
        let value = std::env::var_os("FUTHARK_VENDOR").unwrap_or_default();
        match value.to_str() {
            Some("") => Ok(Vendor::Use),
            Some("update") => Ok(Vendor::Update),
            Some("check") => Ok(Vendor::Check),
            _ => {
                let message = format!(
                    "FUTHARK_VENDOR is `{}`; expected `update`, `check`, or nothing",
                    value.display()
                );
                Err(Error::new(ErrorKind::Vendored, message))
            }
        }
    }

    /// Whether `FUTHARK_UNKNOWN_COMPILER` allows code in which not every check has a place.
    pub(super) fn allows_unknown_compiler() -> Result<bool, Error> {
        match variable("FUTHARK_UNKNOWN_COMPILER") {
            None => Ok(false),
            Some(value) if value == Path::new("allow") => Ok(true),
            Some(value) => {
                let message = format!(
                    "FUTHARK_UNKNOWN_COMPILER is `{}`; expected `allow`, or nothing",
                    value.display()
                );
                Err(Error::new(ErrorKind::Option, message))
            }
        }
    }

    pub(super) fn default_compiler() -> Option<PathBuf> {
        let private = || Some(variable(ROOT)?.join("bin/futhark")).filter(|file| file.is_file());
        variable("FUTHARK")
            .or_else(|| on_path("futhark".as_ref()))
            .or_else(private)
    }

    /// All compilers in `FUTHARK_TOOLCHAIN`: the files `bin/futhark-<version>`, sorted by name.
    pub(super) fn private_compilers() -> Vec<PathBuf> {
        let mut files = variable(ROOT)
            .and_then(|root| entries(&root.join("bin")).ok())
            .unwrap_or_default();
        files.retain(|file| {
            let name = file.file_name().unwrap_or_default();
            name.as_encoded_bytes().starts_with(b"futhark-")
        });
        files
    }

    /// The existing folders that can contain headers of a backend. The generated header includes some on GPU
    /// backends.
    #[must_use]
    pub fn include_folders(backend: Backend) -> Vec<PathBuf> {
        let (variables, usual): (&[&str], _) = match backend {
            Backend::OpenCl => (&[], None),
            Backend::Cuda => (&["CUDA_HOME", "CUDA_PATH"], Some("/usr/local/cuda")),
            Backend::Hip => (&["ROCM_PATH", "HIP_PATH"], Some("/opt/rocm")),
            _ => return Vec::new(),
        };
        let named = variables.iter().filter_map(|name| variable(name));
        let private = variable(ROOT).map(|root| root.join(backend.as_str()));
        let homes = named.chain(private).chain(usual.map(PathBuf::from));
        let folders = homes.map(|home| home.join("include"));
        folders.filter(|folder| folder.is_dir()).collect()
    }

    /// The variables that select the C compiler, and their values. The cc crate reads many, also with the
    /// names of targets, so this returns those with a similar name.
    pub(super) fn of_c_compiler() -> Vec<(OsString, OsString)> {
        const PARTS: &str = "CC FLAGS CROSS_COMPILE RUSTC CARGO SDKROOT DEPLOYMENT_TARGET";
        let is_read = |name: &str| {
            PARTS.split(' ').any(|part| name.contains(part))
                || name.split('_').any(|word| word == "AR")
        };
        let mut all: Vec<(OsString, OsString)> = std::env::vars_os()
            .filter(|(name, _)| is_read(&name.to_string_lossy()))
            .collect();
        all.sort();
        all
    }

    /// The file of an executable, which can be a name on `PATH`.
    pub(super) fn file(program: &Path) -> PathBuf {
        let is_name = program.components().count() == 1;
        let found = is_name.then(|| on_path(program)).flatten();
        found.unwrap_or_else(|| program.to_owned())
    }
}

/// The variable with the folder that `ci/setup` creates.
const ROOT: &str = "FUTHARK_TOOLCHAIN";

fn variable(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name)?;
    (!value.is_empty()).then(|| value.into())
}

fn on_path(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|file| is_executable(file))
}

/// Whether an executable can run another one, which can change while this one stays the same: it is missing, is a script,
/// or is a link to a program that runs others by the name of the link.
pub(super) fn can_run_others(file: &Path) -> bool {
    const NAMES: &str = "asdf buildcache ccache colorgcc distcc icecc mise rtx sccache volta";
    let target = file.canonicalize().ok();
    let name = target.as_deref().and_then(Path::file_stem);
    let is_dispatcher = name.is_some_and(|name| NAMES.split(' ').any(|known| name == known));
    is_dispatcher || is_script(file) != Some(false)
}

/// Whether the file begins with `#!`; `None` if it cannot be read.
fn is_script(file: &Path) -> Option<bool> {
    use std::io::Read as _;

    // Opening a FIFO would block.
    if !file.is_file() {
        return None;
    }
    let mut start = Vec::new();
    let file = std::fs::File::open(file).ok()?;
    file.take(2).read_to_end(&mut start).ok()?;
    Some(start == b"#!")
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file)
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}
