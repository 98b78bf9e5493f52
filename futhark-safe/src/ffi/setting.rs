//! One configuration setting, and its conversion to the C struct.

use std::ffi::{CStr, CString};
use std::path::Path;

use futhark_sys::table as c;

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
    UnifiedMemory(bool),
}

impl Setting {
    /// The path, if this setting is the cache file.
    pub(crate) fn cache_file(&self) -> Option<&Path> {
        match self {
            // `Config::cache_file` accepts only UTF-8.
            Setting::CacheFile(path) => path.to_str().ok().map(Path::new),
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
        )
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
            Setting::NumThreads(n) => (c::FUT_SET_NUM_THREADS, *n, None),
            Setting::BlockSize(n) => (c::FUT_SET_BLOCK_SIZE, *n, None),
            Setting::GridSize(n) => (c::FUT_SET_GRID_SIZE, *n, None),
            Setting::TileSize(n) => (c::FUT_SET_TILE_SIZE, *n, None),
            Setting::RegTileSize(n) => (c::FUT_SET_REG_TILE_SIZE, *n, None),
            Setting::Threshold(n) => (c::FUT_SET_THRESHOLD, *n, None),
        };
        c::Setting {
            what,
            number,
            text: text.map_or(std::ptr::null(), CStr::as_ptr),
        }
    }
}
