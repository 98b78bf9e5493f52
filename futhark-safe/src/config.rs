//! Settings of a context.

use std::path::PathBuf;

use futhark_manifest::Backend;

use crate::error::{Error, ErrorKind, Result};
use crate::ffi::Setting;

/// The settings of a new context.
///
/// ```
/// use futhark_safe::{Backend, Config};
///
/// let config = Config::new().backend(Backend::Multicore).num_threads(4);
/// # let _ = config;
/// ```
///
/// Creating a context fails if a setting is invalid, or if the backend does not have it.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Config {
    backend: Option<Backend>,
    settings: Vec<Setting>,
    allow_known_bad_device: bool,
    problem: Option<String>,
}

/// The number of build options that always fit into the runtime's buffer.
const MOST_BUILD_OPTIONS: usize = 64;

impl Config {
    /// The runtime's defaults.
    pub fn new() -> Config {
        Config::default()
    }

    /// Uses this backend. Default: the first of the program's backends that works here.
    pub fn backend(mut self, backend: Backend) -> Config {
        self.backend = Some(backend);
        self
    }

    /// `multicore`, `ispc`: the number of threads, 1 to 4096. Default: one per core.
    pub fn num_threads(self, n: usize) -> Config {
        let allowed = (1..=4096).contains(&n);
        self.with_if(Setting::NumThreads(n as i64), allowed, || {
            format!("expected 1 to 4096 threads, got {n}")
        })
    }

    /// GPU backends: the device, by a part of its name, or `#k` for the k-th one.
    pub fn device(self, name: impl Into<String>) -> Config {
        self.text(Setting::Device, name.into())
    }

    /// `opencl`: the platform, by a part of its name, or `#k` for the k-th one.
    pub fn platform(self, name: impl Into<String>) -> Config {
        self.text(Setting::Platform, name.into())
    }

    /// Allows devices that are known to compute wrong results. By default they are an error.
    ///
    /// `src/known_bad_devices.toml` of this crate lists them, with the reasons: so far the CPU
    /// devices of PoCL 3.1 (`opencl`). Devices that are not listed may be faulty, too.
    pub fn allow_known_bad_device(mut self, allow: bool) -> Config {
        self.allow_known_bad_device = allow;
        self
    }

    /// GPU backends: adds an option for the compiler of device code. At most 64, none empty.
    ///
    /// One string may contain several options, separated by blanks.
    pub fn build_option(self, option: impl Into<String>) -> Config {
        let option = option.into();
        // The runtime reads beyond the end of an empty option. For each option it writes two bytes
        // more than it counts, so a large number of options would overrun its buffer, which has some
        // hundred bytes to spare.
        if option.is_empty() {
            return self.invalid("a build option is empty".to_owned());
        }
        let is_option = |setting: &&Setting| matches!(setting, Setting::BuildOption(_));
        if self.settings.iter().filter(is_option).count() == MOST_BUILD_OPTIONS {
            return self.invalid(format!(
                "expected at most {MOST_BUILD_OPTIONS} build options, got more; one string can contain several"
            ));
        }
        self.text(Setting::BuildOption, option)
    }

    /// GPU backends: caches compiled device code in this file, which makes the next start faster.
    ///
    /// A file that is missing, stale, damaged, or made with other settings (tuning parameters, sizes,
    /// options) is written again. A second file with the suffix `.sum` holds a checksum. If they
    /// cannot be written, every start takes as long as the first. Contexts that use the same file
    /// start one after the other, also in different processes.
    ///
    /// The files are trusted: anyone who can write them can run code in this process.
    pub fn cache_file(self, path: impl Into<PathBuf>) -> Config {
        let path = path.into();
        match path.into_os_string().into_string() {
            Ok(path) => self.text(Setting::CacheFile, path),
            Err(path) => self.with_if(Setting::CacheFile(Default::default()), false, || {
                format!("the path of the cache file {path:?} is not UTF-8")
            }),
        }
    }

    /// Sets the tuning parameter of this name.
    pub fn tuning_param(self, name: impl Into<String>, value: u32) -> Config {
        let make = |name| Setting::TuningParam(name, i64::from(value));
        self.text(make, name.into())
    }

    /// Logs to the standard error stream, and enables more checks in the runtime.
    pub fn debugging(self, on: bool) -> Config {
        self.with(Setting::Debugging(on))
    }

    /// Measures the time of each step, for [`report`](crate::Context::report).
    pub fn profiling(self, on: bool) -> Config {
        self.with(Setting::Profiling(on))
    }

    /// Logs to the standard error stream.
    pub fn logging(self, on: bool) -> Config {
        self.with(Setting::Logging(on))
    }

    /// GPU backends: the default number of threads per block.
    pub fn block_size(self, n: u32) -> Config {
        self.size(Setting::BlockSize(n.into()), n)
    }

    /// GPU backends: the default number of blocks per launch.
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

    /// GPU backends: the default amount of parallelism above which a code version is chosen.
    pub fn threshold(self, n: u32) -> Config {
        self.size(Setting::Threshold(n.into()), n)
    }

    /// `cuda`, `hip`: uses memory that host and device share.
    pub fn unified_memory(self, on: bool) -> Config {
        self.with(Setting::UnifiedMemory(on))
    }

    /// A size, which is an `int` in C.
    fn size(self, setting: Setting, n: u32) -> Config {
        self.with_if(setting, i32::try_from(n).is_ok(), || {
            format!("expected a size of at most {}, got {n}", i32::MAX)
        })
    }

    pub(crate) fn requested_backend(&self) -> Option<Backend> {
        self.backend
    }

    pub(crate) fn allows_known_bad_device(&self) -> bool {
        self.allow_known_bad_device
    }

    /// The settings, or the first problem with them.
    pub(crate) fn settings(&self) -> Result<&[Setting]> {
        match &self.problem {
            None => Ok(&self.settings),
            Some(problem) => Err(Error::new(
                ErrorKind::InvalidArgument,
                "configuration",
                problem.clone(),
            )),
        }
    }

    fn with(mut self, setting: Setting) -> Config {
        self.settings.push(setting);
        self
    }

    fn with_if(self, setting: Setting, ok: bool, problem: impl FnOnce() -> String) -> Config {
        if ok {
            return self.with(setting);
        }
        self.invalid(problem())
    }

    /// Records a problem. Creating a context reports the first one.
    fn invalid(mut self, problem: String) -> Config {
        self.problem.get_or_insert(problem);
        self
    }

    /// A setting with text, which must not contain a NUL, since C text ends there.
    fn text(self, make: impl FnOnce(std::ffi::CString) -> Setting, text: String) -> Config {
        match std::ffi::CString::new(text) {
            Ok(text) => self.with(make(text)),
            Err(error) => {
                let text = String::from_utf8_lossy(&error.into_vec()).into_owned();
                self.invalid(format!("the text {text:?} of a setting contains a NUL"))
            }
        }
    }
}
