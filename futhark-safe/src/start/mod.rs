//! Starts contexts: rejects devices that are known to be bad, and guards files of device code.

mod config;
mod device_code;
mod known_bad;

use std::path::Path;

use futhark_manifest::Backend;
use futhark_sys::table::{self as c, Table};

use crate::observe::Device;
pub use config::Config;
use device_code::{CodeFile, Turn};
use known_bad::reject_known_bad;

use crate::error::{Error, ErrorKind, Result};
use crate::ffi::sync::Arc;
use crate::ffi::{self, Core, Setting};
use crate::tuning;

/// A context as both interfaces hold it.
#[derive(Clone, Debug)]
pub(crate) struct Started {
    pub core: Arc<Core>,
    pub backend: Backend,
    /// Settings that have no effect.
    pub warnings: Arc<Vec<String>>,
    /// The backends that were tried before.
    pub refused: Arc<Vec<(Backend, Error)>>,
}

impl Started {
    pub(crate) fn close(self) -> Result<(), (Started, Error)> {
        let core = Core::close(self.core);
        core.map_err(|(core, error)| (Started { core, ..self }, error))
    }
}

/// Makes a context of this table's program.
///
/// A device that is known to compute wrong results is rejected before its compiler runs.
///
/// `others` are the tables of the program for other backends. `embedded` is the tuning of GPU backends, unless
/// `config` has one.
pub(crate) fn start(
    table: &'static Table,
    config: &Config,
    others: &[&'static Table],
    embedded: &str,
) -> Result<Started> {
    let applied = tuning::apply(&config.tunings, embedded, table, others)?;
    // A later setting takes effect: the explicit ones of the configuration.
    let settings = [&applied.settings, config.settings()?].concat();
    let settings = &settings[..];
    if !config.allow_known_bad_device
        && let Some(text) = ffi::describe_device(table, settings)
        && let Some(device) = Device::parse(&text).pop()
    {
        reject_known_bad(table.backend(), &device)?;
    }
    // The runtime of cuda uses another device if none matches the setting.
    if table.backend() == "cuda" && settings.iter().any(|s| s.is(c::FUT_SET_DEVICE)) {
        matching_devices(table, settings)?;
    }
    let since = std::time::Instant::now();
    let core = start_with_files(table, settings);
    ffi::deliver_log(settings);
    let core = core?;
    ffi::started(table, since);
    Ok(Started {
        core,
        backend: ffi::backend_of(table)?,
        warnings: applied.warnings.into(),
        refused: Arc::default(),
    })
}

/// Starts the context while no other start uses its files of device code.
fn start_with_files(table: &'static Table, settings: &[Setting]) -> Result<Arc<Core>> {
    // Backends without device code ignore a cache file, and refuse the other settings.
    if !table.is_gpu() {
        return Core::new(table, settings);
    }
    let path = |settings, what| Setting::last(settings, what).map(|(path, _)| Path::new(path));
    let loaded = path(settings, c::FUT_SET_LOAD_CODE);
    let dumped = path(settings, c::FUT_SET_DUMP_CODE);
    // A cache file that is set beside loaded code would be written with an invalid header.
    let is_used = |setting: &&Setting| loaded.is_none() || !setting.is(c::FUT_SET_CACHE_FILE);
    let used: Vec<Setting> = settings.iter().filter(is_used).cloned().collect();
    let cached = path(&used, c::FUT_SET_CACHE_FILE);

    let written = dumped.into_iter().chain(cached).map(|path| (path, true));
    let files: Vec<_> = written.chain(loaded.map(|path| (path, false))).collect();
    let turn = (!files.is_empty()).then(|| Turn::wait_for(&files));
    if let Some((path, config::SEALED)) = Setting::last(settings, c::FUT_SET_LOAD_CODE) {
        check_code(table, settings, Path::new(path))?;
    }
    let cache = cached.map(|path| CodeFile::new(path, compiled_with(table, &used, true)));
    if let Some(cache) = &cache {
        cache.remove_if_stale();
    }
    let core = Core::new(table, &used)?;
    if let Some(path) = dumped {
        CodeFile::new(path, compiled_with(table, settings, false)).seal(&core)?;
    }
    if let Some(cache) = cache {
        cache.seal_cache();
    }
    drop(turn);
    Ok(core)
}

/// Everything that the compiled device code depends on, except the device itself.
fn compiled_with(table: &Table, settings: &[Setting], with_selection: bool) -> String {
    let selects = |s: &Setting| s.is(c::FUT_SET_DEVICE) || s.is(c::FUT_SET_PLATFORM);
    let code = settings
        .iter()
        .filter(|s| s.changes_code() && (with_selection || !selects(s)));
    let code: Vec<_> = code.collect();
    format!("{} {} {code:?}", table.backend(), table.program())
}

/// Checks a file of device code before the driver reads it: its seal, and that the context will use the
/// device that the code was compiled for, because sizes in the code depend on the device.
fn check_code(table: &Table, settings: &[Setting], path: &Path) -> Result<()> {
    let file = CodeFile::new(path, compiled_with(table, settings, false));
    let expected = file.check()?;
    let possible = match ffi::describe_device(table, settings) {
        Some(text) => Device::parse(&text),
        None => matching_devices(table, settings)?,
    };
    let mut possible = possible.iter();
    match possible.find(|device| **device != expected) {
        None => Ok(()),
        Some(other) => Err(file.wrong_device(&expected, other)),
    }
}

/// The devices of cuda and hip that the context may use: the chosen one, or all.
fn matching_devices(table: &Table, settings: &[Setting]) -> Result<Vec<Device>> {
    let devices = ffi::devices(table)?.unwrap_or_default();
    let devices = Device::parse(&devices);
    let Some((chosen, _)) = Setting::last(settings, c::FUT_SET_DEVICE) else {
        return Ok(devices);
    };
    // As the runtime reads it: a number counts the devices whose names contain the rest.
    let (number, name) = match chosen.strip_prefix('#') {
        None => (0, chosen),
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_digit());
            let (digits, name) = rest.split_at(end.unwrap_or(rest.len()));
            (digits.parse().unwrap_or(usize::MAX), name.trim_start())
        }
    };
    let mut matching = devices.iter().filter(|device| device.name.contains(name));
    match matching.nth(number) {
        Some(device) => Ok(vec![device.clone()]),
        None => {
            let names: Vec<String> = devices.iter().map(Device::to_string).collect();
            let names = names.join(", ");
            let message = format!("no device matches {chosen:?}; there are {names}");
            let operation = format!("{} context", table.backend());
            Err(Error::new(ErrorKind::Start, operation, message))
        }
    }
}
