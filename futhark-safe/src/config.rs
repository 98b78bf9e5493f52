//! What a context can be told before it exists.

use std::path::PathBuf;

use futhark_manifest::Backend;

use crate::error::{Error, Kind, Result};
use crate::ffi::Setting;

/// How a context is made.
///
/// ```
/// use futhark_safe::{Backend, Config};
///
/// let config = Config::new().backend(Backend::Multicore).num_threads(4);
/// # let _ = config;
/// ```
///
/// A setting that the backend does not have is an error when the context is made,
/// so that none is lost in silence.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Config {
    backend: Option<Backend>,
    settings: Vec<Setting>,
    allow_known_bad_device: bool,
    problem: Option<String>,
}

/// How many build options the runtime's buffer surely has room for.
const MOST_BUILD_OPTIONS: usize = 64;

impl Config {
    /// The runtime's defaults.
    pub fn new() -> Config {
        Config::default()
    }

    /// Uses this backend. Otherwise the first one of the program that works here.
    pub fn backend(mut self, backend: Backend) -> Config {
        self.backend = Some(backend);
        self
    }

    /// `multicore`, `ispc`: how many threads compute, 1 to 4096. Without it, one per core.
    pub fn num_threads(self, n: usize) -> Config {
        let allowed = (1..=4096).contains(&n);
        self.checked(Setting::NumThreads(n as i64), allowed, || {
            format!("{n} threads: from 1 to 4096 can be asked for")
        })
    }

    /// GPU backends: the device, as the backend names it: a part of its name, or `#k`
    /// for the k-th one.
    pub fn device(self, name: impl Into<String>) -> Config {
        self.text(Setting::Device, name.into())
    }

    /// `opencl`: the platform, by a part of its name, or `#k` for the k-th one.
    pub fn platform(self, name: impl Into<String>) -> Config {
        self.text(Setting::Platform, name.into())
    }

    /// Uses a device that is known to compute wrong results, which is an error otherwise.
    ///
    /// The devices are listed in `src/known_bad_devices.toml` of this crate, with what is wrong
    /// with each: so far the CPU devices of PoCL 3.1 (`opencl`). A device that is not listed may
    /// be wrong as well.
    pub fn allow_known_bad_device(mut self, allow: bool) -> Config {
        self.allow_known_bad_device = allow;
        self
    }

    /// GPU backends: an option for the compiler of device code; at most 64 of them, none empty.
    ///
    /// One text may hold several, between blanks.
    pub fn build_option(self, option: impl Into<String>) -> Config {
        let option = option.into();
        // The runtime reads beyond the end of an empty one, and for each counts two bytes less
        // than it writes: many would overrun its buffer, which has some hundred to spare.
        if option.is_empty() {
            return self.refused("a build option is empty".to_owned());
        }
        let given = |setting: &&Setting| matches!(setting, Setting::BuildOption(_));
        if self.settings.iter().filter(given).count() == MOST_BUILD_OPTIONS {
            return self.refused(format!(
                "there are more than {MOST_BUILD_OPTIONS} build options; one text can hold several"
            ));
        }
        self.text(Setting::BuildOption, option)
    }

    /// GPU backends: keeps compiled device code in this file, which makes the next
    /// start faster. A file that is missing, stale, damaged, or made with other settings (tuning
    /// parameters, sizes, options) is written anew; a second one
    /// beside it, `.sum` added to its name, holds a checksum. Where they cannot be written,
    /// every start takes as long as the first. Contexts that use the same one start one after the
    /// other, in other processes, too. The files are believed: they must be
    /// writable by nobody whom you would not let run code.
    pub fn cache_file(self, path: impl Into<PathBuf>) -> Config {
        let path = path.into();
        match path.into_os_string().into_string() {
            Ok(path) => self.text(Setting::CacheFile, path),
            Err(path) => self.checked(Setting::CacheFile(Default::default()), false, || {
                format!("the path of the cache file {path:?} is not UTF-8")
            }),
        }
    }

    /// Sets a tuning parameter of the program, by name.
    pub fn tuning_param(self, name: impl Into<String>, value: u32) -> Config {
        let make = |name| Setting::TuningParam(name, i64::from(value));
        self.text(make, name.into())
    }

    /// Prints what the runtime does to the standard error stream, and checks more.
    pub fn debugging(self, on: bool) -> Config {
        self.with(Setting::Debugging(on))
    }

    /// Collects times of each step, for [`report`](crate::Context::report).
    pub fn profiling(self, on: bool) -> Config {
        self.with(Setting::Profiling(on))
    }

    /// Prints what the runtime does to the standard error stream.
    pub fn logging(self, on: bool) -> Config {
        self.with(Setting::Logging(on))
    }

    /// GPU backends: threads per block, where the program does not say.
    pub fn block_size(self, n: u32) -> Config {
        self.size(Setting::BlockSize(n.into()), n)
    }

    /// GPU backends: blocks per launch, where the program does not say.
    pub fn grid_size(self, n: u32) -> Config {
        self.size(Setting::GridSize(n.into()), n)
    }

    /// GPU backends: the size of tiles in local memory.
    pub fn tile_size(self, n: u32) -> Config {
        self.size(Setting::TileSize(n.into()), n)
    }

    /// GPU backends: the size of tiles in registers.
    pub fn reg_tile_size(self, n: u32) -> Config {
        self.size(Setting::RegTileSize(n.into()), n)
    }

    /// GPU backends: from how much parallelism on a version of the code is chosen.
    pub fn threshold(self, n: u32) -> Config {
        self.size(Setting::Threshold(n.into()), n)
    }

    /// `cuda`, `hip`: use memory that host and device share.
    pub fn unified_memory(self, on: bool) -> Config {
        self.with(Setting::UnifiedMemory(on))
    }

    /// Sizes are an `int` in C.
    fn size(self, setting: Setting, n: u32) -> Config {
        self.checked(setting, i32::try_from(n).is_ok(), || {
            format!("a size of {n}: up to {} can be asked for", i32::MAX)
        })
    }

    pub(crate) fn wanted_backend(&self) -> Option<Backend> {
        self.backend
    }

    pub(crate) fn allows_known_bad_device(&self) -> bool {
        self.allow_known_bad_device
    }

    /// The settings, if all of them can be passed on.
    pub(crate) fn settings(&self) -> Result<&[Setting]> {
        match &self.problem {
            None => Ok(&self.settings),
            Some(problem) => Err(Error::new(
                Kind::InvalidArgument,
                "configuration",
                problem.clone(),
            )),
        }
    }

    fn with(mut self, setting: Setting) -> Config {
        self.settings.push(setting);
        self
    }

    fn checked(self, setting: Setting, ok: bool, problem: impl FnOnce() -> String) -> Config {
        if ok {
            return self.with(setting);
        }
        self.refused(problem())
    }

    /// The first problem is told when a context is made.
    fn refused(mut self, problem: String) -> Config {
        self.problem.get_or_insert(problem);
        self
    }

    /// C text ends at its first NUL.
    fn text(self, make: impl FnOnce(std::ffi::CString) -> Setting, text: String) -> Config {
        match std::ffi::CString::new(text) {
            Ok(text) => self.with(make(text)),
            Err(error) => {
                let text = String::from_utf8_lossy(&error.into_vec()).into_owned();
                self.refused(format!("the text {text:?} of a setting contains a NUL"))
            }
        }
    }
}
