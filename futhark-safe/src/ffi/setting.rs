//! One configuration setting, and its conversion to the C struct.

use std::ffi::{CStr, CString, c_void};
use std::path::Path;
use std::ptr::NonNull;

use futhark_sys::table as c;

use super::log::Log;

/// One setting. Its text must outlive the context.
#[derive(Clone, Debug)]
pub(crate) enum Setting {
    Debugging(bool),
    Profiling(bool),
    Logging(bool),
    CacheFile(CString),
    TuningParam(CString, i64),
    NumThreads(i64),
    Device(CString),
    Platform(CString),
    BuildOption(CString),
    BlockSize(i64),
    GridSize(i64),
    TileSize(i64),
    RegTileSize(i64),
    Threshold(i64),
    Registers(i64),
    Cache(i64),
    UnifiedMemory(bool),
    DeviceSource(CString),
    DumpCode(CString),
    /// A path, and whether the file must be sealed (see `code_file`).
    LoadCode(CString, bool),
    Log(Log),
    CommandQueue(CommandQueue),
}

/// A `cl_command_queue` that its owner keeps alive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandQueue(NonNull<c_void>);

// SAFETY: OpenCL allows any thread to use a queue, also several at a time.
unsafe impl Send for CommandQueue {}
// SAFETY: as above.
unsafe impl Sync for CommandQueue {}

impl CommandQueue {
    /// # Safety
    ///
    /// The pointer is a `cl_command_queue`, which lives until the contexts with this setting are
    /// created.
    pub(crate) unsafe fn new(queue: NonNull<c_void>) -> CommandQueue {
        CommandQueue(queue)
    }
}

impl Setting {
    /// The path, if this setting is the cache file.
    pub(crate) fn cache_file(&self) -> Option<&Path> {
        match self {
            Setting::CacheFile(path) => path_of(path),
            _ => None,
        }
    }

    /// The name or number of the device.
    pub(crate) fn chosen_device(&self) -> Option<&str> {
        match self {
            Setting::Device(name) => name.to_str().ok(),
            _ => None,
        }
    }

    /// The log, if this is its setting.
    pub(super) fn log(&self) -> Option<Log> {
        match self {
            Setting::Log(log) => Some(log.clone()),
            _ => None,
        }
    }

    /// The path to write compiled device code to.
    pub(crate) fn dumped_code(&self) -> Option<&Path> {
        match self {
            Setting::DumpCode(path) => path_of(path),
            _ => None,
        }
    }

    /// The path to read compiled device code from, and whether the file must be sealed.
    pub(crate) fn loaded_code(&self) -> Option<(&Path, bool)> {
        match self {
            Setting::LoadCode(path, sealed) => Some((path_of(path)?, *sealed)),
            _ => None,
        }
    }

    /// Whether the compiled device code depends on this setting.
    pub(crate) fn changes_code(&self) -> bool {
        !matches!(
            self,
            Setting::CacheFile(_)
                | Setting::Profiling(_)
                | Setting::Logging(_)
                | Setting::NumThreads(_)
                | Setting::DumpCode(_)
                | Setting::LoadCode(..)
                | Setting::Log(_)
                | Setting::CommandQueue(_)
        )
    }

    /// Whether the setting only selects the device.
    pub(crate) fn selects_device(&self) -> bool {
        matches!(self, Setting::Device(_) | Setting::Platform(_))
    }

    /// Converts the setting to the C struct, which points into `self`.
    pub(super) fn to_c(&self) -> c::Setting {
        let flag = |what, on: bool| (what, i64::from(on), None);
        let (what, number, text): (u32, i64, Option<&CStr>) = match self {
            Setting::Debugging(on) => flag(c::FUT_SET_DEBUGGING, *on),
            Setting::Profiling(on) => flag(c::FUT_SET_PROFILING, *on),
            Setting::Logging(on) => flag(c::FUT_SET_LOGGING, *on),
            Setting::UnifiedMemory(on) => flag(c::FUT_SET_UNIFIED_MEMORY, *on),
            Setting::CacheFile(path) => (c::FUT_SET_CACHE_FILE, 0, Some(path)),
            Setting::TuningParam(name, value) => (c::FUT_SET_TUNING_PARAM, *value, Some(name)),
            Setting::Device(name) => (c::FUT_SET_DEVICE, 0, Some(name)),
            Setting::Platform(name) => (c::FUT_SET_PLATFORM, 0, Some(name)),
            Setting::BuildOption(option) => (c::FUT_SET_BUILD_OPTION, 0, Some(option)),
            Setting::DeviceSource(text) => (c::FUT_SET_DEVICE_SOURCE, 0, Some(text)),
            Setting::DumpCode(path) => (c::FUT_SET_DUMP_CODE, 0, Some(path)),
            Setting::LoadCode(path, _) => (c::FUT_SET_LOAD_CODE, 0, Some(path)),
            Setting::Log(_) => (c::FUT_SET_LOG, 0, None),
            Setting::CommandQueue(_) => (c::FUT_SET_COMMAND_QUEUE, 0, None),
            Setting::Registers(n) => (c::FUT_SET_REGISTERS, *n, None),
            Setting::Cache(n) => (c::FUT_SET_CACHE, *n, None),
            Setting::NumThreads(n) => (c::FUT_SET_NUM_THREADS, *n, None),
            Setting::BlockSize(n) => (c::FUT_SET_BLOCK_SIZE, *n, None),
            Setting::GridSize(n) => (c::FUT_SET_GRID_SIZE, *n, None),
            Setting::TileSize(n) => (c::FUT_SET_TILE_SIZE, *n, None),
            Setting::RegTileSize(n) => (c::FUT_SET_REG_TILE_SIZE, *n, None),
            Setting::Threshold(n) => (c::FUT_SET_THRESHOLD, *n, None),
        };
        let object: *const c_void = match self {
            Setting::Log(log) => log.raw().cast(),
            Setting::CommandQueue(queue) => queue.0.as_ptr(),
            _ => std::ptr::null(),
        };
        c::Setting {
            what,
            number,
            text: text.map_or(std::ptr::null(), CStr::as_ptr),
            object,
        }
    }
}

/// Passes text that the runtime logged to the writer of these settings. The caller holds no lock.
pub(crate) fn deliver_log(settings: &[Setting]) {
    let logs = settings.iter().filter_map(Setting::log);
    logs.for_each(|log| log.deliver());
}

/// `Config` accepts only paths in UTF-8.
fn path_of(path: &CStr) -> Option<&Path> {
    path.to_str().ok().map(Path::new)
}
