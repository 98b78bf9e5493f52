//! Settings of a context.

use std::ffi::c_void;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use futhark_manifest::Backend;
use futhark_sys::table as c;

use crate::error::{Error, Result};
use crate::ffi::{Log, Setting};
use crate::tuning::Tuning;

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
    /// In this order; empty: all of the program, in its order.
    pub(crate) backends: Vec<Backend>,
    settings: Vec<Setting>,
    pub(crate) tunings: Vec<Tuning>,
    pub(super) allow_known_bad_device: bool,
    problem: Option<String>,
}

/// The numbers of the setting that loads device code: whether the file must be sealed (see `device_code`).
pub(super) const SEALED: i64 = 1;
const UNSEALED: i64 = 0;

/// The number of build options that always fit into the runtime's buffer.
const MOST_BUILD_OPTIONS: usize = 64;

impl Config {
    /// The runtime's defaults.
    pub fn new() -> Config {
        Config::default()
    }

    /// Uses this backend. Default: the first of the program's backends that works here, in the order
    /// of the build script.
    pub fn backend(self, backend: Backend) -> Config {
        self.backends([backend])
    }

    /// Uses the first of these backends that works here. [`Context::refused`](crate::Context::refused) has the reasons against
    /// the earlier ones.
    ///
    /// ```
    /// use futhark_safe::{Backend, Config};
    ///
    /// let config = Config::new().backends([Backend::Cuda, Backend::OpenCl, Backend::Multicore]);
    /// # let _ = config;
    /// ```
    #[doc(alias("cuda", "gpu", "hip", "opencl"))]
    pub fn backends(mut self, order: impl IntoIterator<Item = Backend>) -> Config {
        self.backends.clear();
        for backend in order {
            if !self.backends.contains(&backend) {
                self.backends.push(backend);
            }
        }
        if self.backends.is_empty() {
            return self.invalid("the list of backends is empty");
        }
        self
    }

    /// `multicore`: the number of threads, 1 to 4096. Default: one per core.
    pub fn num_threads(self, n: usize) -> Config {
        match n {
            1..=4096 => self.with(Setting::number(c::FUT_SET_NUM_THREADS, n as i64)),
            _ => self.invalid(format!("expected 1 to 4096 threads, got {n}")),
        }
    }

    /// GPU backends: the device, by a part of its name, or `#k` for the k-th one.
    pub fn device(self, name: impl Into<String>) -> Config {
        self.text(c::FUT_SET_DEVICE, name.into())
    }

    /// GPU backends: the device of this number, counted from 0 as in [`Context::devices`](crate::Context::devices).
    pub fn device_number(self, number: usize) -> Config {
        self.device(format!("#{number}"))
    }

    /// `opencl`: the platform, by a part of its name, or `#k` for the k-th one.
    pub fn platform(self, name: impl Into<String>) -> Config {
        self.text(c::FUT_SET_PLATFORM, name.into())
    }

    /// Allows devices that are known to compute wrong results. By default they are an error.
    ///
    /// `src/start/known_bad.rs` of this crate lists them, with the reasons: so far the CPU
    /// devices of PoCL 3.1 (`opencl`). Devices that are not listed may be faulty, too.
    pub fn allow_known_bad_device(mut self, allow: bool) -> Config {
        self.allow_known_bad_device = allow;
        self
    }

    /// GPU backends: adds an option for the compiler of device code. At most 64.
    ///
    /// One string may contain several options, separated by blanks. Each word begins with `-`, except for the values
    /// of `-D` and `-I`.
    ///
    /// # Safety
    /// For every context that is created from this configuration or a clone of it, also with settings added later,
    /// and of whichever program: the options do not change the meaning of the device code, as a macro for one of its
    /// words does. `-Dif(x)=if(1)` makes kernels access other memory of the device, which on PoCL is memory of the
    /// process.
    #[allow(unsafe_code, reason = "an unsafe function of the public API")]
    pub unsafe fn build_option(self, option: impl Into<String>) -> Config {
        let option = option.into();
        // The runtime reads beyond the end of an empty option. A word of another form is the name of a file for
        // the compiler, and Oclgrind's crashes on it. For each option the runtime writes two bytes more than it
        // counts, so a large number of options would overrun its buffer, which has some hundred bytes to spare.
        let mut before = None;
        for word in option.split_whitespace() {
            let is_value = matches!(before, Some("-D" | "-I"));
            if !is_value && (!word.starts_with('-') || word == "-") {
                return self.invalid(format!(
                    "expected a build option that begins with `-`, got `{word}`"
                ));
            }
            before = Some(word);
        }
        if before.is_none() {
            return self.invalid("a build option is empty");
        }
        let is_option = |setting: &&Setting| setting.is(c::FUT_SET_BUILD_OPTION);
        if self.settings.iter().filter(is_option).count() == MOST_BUILD_OPTIONS {
            return self.invalid(format!(
                "expected at most {MOST_BUILD_OPTIONS} build options, got more; one string can contain several"
            ));
        }
        self.text(c::FUT_SET_BUILD_OPTION, option)
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
        self.path(c::FUT_SET_CACHE_FILE, 0, path.into())
    }

    /// `opencl`, `cuda`: writes the compiled device code to this file when the context is created.
    ///
    /// On `cuda` the file is PTX text, on `opencl` in the driver's format. A second file with the
    /// suffix `.sum` holds a checksum, for [`load_device_code`](Self::load_device_code). Creating the context fails if they
    /// cannot be written.
    pub fn dump_device_code(self, path: impl Into<PathBuf>) -> Config {
        self.path(c::FUT_SET_DUMP_CODE, 0, path.into())
    }

    /// `opencl`, `cuda`: loads compiled device code from this file, which
    /// [`dump_device_code`](Self::dump_device_code) wrote, instead of compiling it.
    ///
    /// Creating the context fails if the file or its checksum is missing or damaged, or was
    /// written by another program, with other settings, or for another device or driver. Anyone who can
    /// write both files can run code on the device.
    pub fn load_device_code(self, path: impl Into<PathBuf>) -> Config {
        self.path(c::FUT_SET_LOAD_CODE, SEALED, path.into())
    }

    /// Sets tuning parameters to measured values.
    ///
    /// Creating a context fails if the program does not have a parameter; the error lists similar names. A
    /// parameter that only another backend of the program has is skipped, as every parameter is on `c`,
    /// `multicore`: [`Context::warnings`](crate::Context::warnings) lists these.
    ///
    /// It replaces the tuning that the build script has embedded (see
    /// the module `build`); an empty one selects the defaults of the runtime.
    /// Of several values for one parameter, the one that was added last takes effect, and
    /// [`tuning_param`](Self::tuning_param) takes precedence over all.
    pub fn tuning(mut self, tuning: &Tuning) -> Config {
        self.tunings.push(tuning.clone());
        self
    }

    /// Sets tuning parameters to the values in a file that `futhark autotune` wrote: as
    /// [`tuning`](Self::tuning), with [`Tuning::read`].
    ///
    /// Reads the file at once. Creating a context fails if that fails.
    pub fn tuning_file(self, path: impl AsRef<Path>) -> Config {
        match Tuning::read(path) {
            Ok(tuning) => self.tuning(&tuning),
            Err(error) => self.invalid(error.to_string()),
        }
    }

    /// Sets the tuning parameter of this name, to a value of at most `i32::MAX`.
    pub fn tuning_param(self, name: impl Into<String>, value: u32) -> Config {
        match i32::try_from(value) {
            Ok(_) => self.text_and_number(c::FUT_SET_TUNING_PARAM, name.into(), value.into()),
            Err(_) => self.invalid(format!(
                "expected a tuning parameter of at most {}, got {value}",
                i32::MAX
            )),
        }
    }

    /// Logs to [`log_to`](Self::log_to), and enables more checks in the runtime.
    pub fn debugging(self, on: bool) -> Config {
        self.with(Setting::number(c::FUT_SET_DEBUGGING, on))
    }

    /// Measures the time of each step, for [`report`](crate::Context::report).
    pub fn profiling(self, on: bool) -> Config {
        self.with(Setting::number(c::FUT_SET_PROFILING, on))
    }

    /// Logs what the runtime does to [`log_to`](Self::log_to).
    pub fn logging(self, on: bool) -> Config {
        self.with(Setting::number(c::FUT_SET_LOGGING, on))
    }

    /// Writes everything that the runtime prints to this writer. Default: the standard error stream.
    ///
    /// [`logging`](Self::logging) and [`debugging`](Self::debugging) turn the log on; without them the runtime prints warnings
    /// only. The text that explains a failed call is part of its error instead.
    ///
    /// The writer runs when the operation that caused the text has ended, on the thread that made it. It can use
    /// contexts. Its errors and panics are ignored, also those of its destructor.
    ///
    /// Contexts of one configuration, or of its clones, share the writer: an operation on one of them can deliver the
    /// text of another.
    ///
    /// ```
    /// use futhark_safe::Config;
    ///
    /// let file = std::fs::File::create(std::env::temp_dir().join("futhark.log"))?;
    /// let config = Config::new().logging(true).log_to(file);
    /// # let _ = config;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn log_to(self, writer: impl Write + Send + 'static) -> Config {
        self.with(Setting::log_to(Log::new(Box::new(writer))))
    }

    /// Logs to the crate `tracing` (feature `tracing`): one event of level `DEBUG` and target
    /// `futhark_runtime` per line that the runtime prints. [`logging`](Self::logging) turns the log on.
    #[cfg(feature = "tracing")]
    pub fn log_to_tracing(self) -> Config {
        self.log_to(Lines::default())
    }

    /// GPU backends: the default number of threads per block.
    pub fn block_size(self, n: u32) -> Config {
        self.size(c::FUT_SET_BLOCK_SIZE, n)
    }

    /// GPU backends: the default number of blocks per launch.
    pub fn grid_size(self, n: u32) -> Config {
        self.size(c::FUT_SET_GRID_SIZE, n)
    }

    /// GPU backends: the size of tiles in local memory.
    pub fn tile_size(self, n: u32) -> Config {
        self.size(c::FUT_SET_TILE_SIZE, n)
    }

    /// GPU backends: the size of tiles in registers.
    pub fn reg_tile_size(self, n: u32) -> Config {
        self.size(c::FUT_SET_REG_TILE_SIZE, n)
    }

    /// GPU backends: the default amount of parallelism above which a code version is chosen.
    pub fn threshold(self, n: u32) -> Config {
        self.size(c::FUT_SET_THRESHOLD, n)
    }

    /// GPU backends: the default number of registers per thread that code is optimised for.
    pub fn registers(self, n: u32) -> Config {
        self.size(c::FUT_SET_REGISTERS, n)
    }

    /// GPU backends: the default size of the cache, in bytes, that code is optimised for.
    pub fn cache_size(self, n: u32) -> Config {
        self.size(c::FUT_SET_CACHE, n)
    }

    /// `cuda`, `hip`: uses memory that host and device share.
    pub fn unified_memory(self, on: bool) -> Config {
        self.with(Setting::number(c::FUT_SET_UNIFIED_MEMORY, on))
    }

    /// `opencl`: uses this command queue, its context and its device instead of new ones.
    ///
    /// The queue must execute in order, and for [`profiling`](Self::profiling) have
    /// `CL_QUEUE_PROFILING_ENABLE`; otherwise creating the context fails. The context retains the
    /// queue. Work that others enqueue runs before later work of the context, and after earlier work.
    ///
    /// `futhark-safe/examples/interop` in the repository shares a queue and buffers with the crate `opencl3`.
    ///
    /// # Safety
    /// `queue` is a `cl_command_queue`, of the same OpenCL loader that the backend loads (`libOpenCL.so.1`, or
    /// the file in `FUTHARK_LIBOPENCL`), and is valid until the context is created.
    #[allow(unsafe_code, reason = "an unsafe function of the public API")]
    pub unsafe fn command_queue(self, queue: NonNull<c_void>) -> Config {
        // SAFETY: the caller promises the same.
        self.with(unsafe { Setting::command_queue(queue) })
    }

    /// GPU backends: compiles this source instead of the program's device code. [`Context::device_source`](crate::Context::device_source)
    /// returns the original.
    ///
    /// # Safety
    /// For every context that is created from this configuration or a clone of it, also with settings added later,
    /// and of whichever program: the source defines the program's kernels with their parameters, and they access
    /// only the memory that the original kernels access.
    #[allow(unsafe_code, reason = "an unsafe function of the public API")]
    pub unsafe fn device_source(self, source: impl Into<String>) -> Config {
        self.text(c::FUT_SET_DEVICE_SOURCE, source.into())
    }

    /// `opencl`, `cuda`: loads compiled device code from this file without the checks of
    /// [`load_device_code`](Self::load_device_code).
    ///
    /// # Safety
    /// For every context that is created from this configuration or a clone of it, also with settings added later,
    /// and of whichever program: the file contains code of the program and backend, compiled for the device and
    /// driver with the same settings.
    #[allow(unsafe_code, reason = "an unsafe function of the public API")]
    pub unsafe fn load_device_code_unchecked(self, path: impl Into<PathBuf>) -> Config {
        self.path(c::FUT_SET_LOAD_CODE, UNSEALED, path.into())
    }

    /// A size, which is an `int` in C.
    fn size(self, what: u32, n: u32) -> Config {
        match i32::try_from(n) {
            Ok(n) => self.with(Setting::number(what, n)),
            Err(_) => self.invalid(format!("expected a size of at most {}, got {n}", i32::MAX)),
        }
    }

    /// The settings, or the first problem with them.
    pub(crate) fn settings(&self) -> Result<&[Setting]> {
        match &self.problem {
            None => Ok(&self.settings),
            Some(problem) => Err(Error::invalid("configuration", problem.clone())),
        }
    }

    fn with(mut self, setting: Setting) -> Config {
        self.settings.push(setting);
        self
    }

    /// Records a problem. Creating a context reports the first one.
    fn invalid(mut self, problem: impl Into<String>) -> Config {
        self.problem.get_or_insert_with(|| problem.into());
        self
    }

    fn text(self, what: u32, text: String) -> Config {
        self.text_and_number(what, text, 0)
    }

    /// A setting with text, which must not contain a NUL, since C text ends there.
    fn text_and_number(self, what: u32, text: String, number: i64) -> Config {
        match std::ffi::CString::new(text) {
            Ok(text) => self.with(Setting::text(what, text).with_number(number)),
            Err(error) => {
                let text = String::from_utf8_lossy(&error.into_vec()).into_owned();
                self.invalid(format!("the text {text:?} of a setting contains a NUL"))
            }
        }
    }

    /// The path of a file, which the runtime opens.
    fn path(self, what: u32, number: i64, path: PathBuf) -> Config {
        match path.into_os_string().into_string() {
            Ok(path) => self.text_and_number(what, path, number),
            Err(path) => self.invalid(format!("the path of a file {path:?} is not UTF-8")),
        }
    }
}

/// Writes each line as an event.
#[cfg(feature = "tracing")]
#[derive(Default)]
struct Lines(Vec<u8>);

#[cfg(feature = "tracing")]
impl Lines {
    fn emit(&mut self) {
        let line = String::from_utf8_lossy(&self.0);
        if !line.trim().is_empty() {
            tracing::debug!(target: "futhark_runtime", "{line}");
        }
        self.0.clear();
    }
}

#[cfg(feature = "tracing")]
impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for &byte in bytes {
            match byte {
                b'\n' => self.emit(),
                byte => self.0.push(byte),
            }
        }
        Ok(bytes.len())
    }

    /// The rest of a line comes with the next write.
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(feature = "tracing")]
impl Drop for Lines {
    fn drop(&mut self) {
        self.emit();
    }
}
