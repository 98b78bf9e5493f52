//! Starts contexts: rejects devices that are known to be bad, and guards files of device code.

use std::path::Path;
use std::sync::Arc;

use futhark_sys::table::Table;

use crate::cache::CacheFile;
use crate::code_file::CodeFile;
use crate::config::Config;
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{self, Core, Setting};
use crate::known_bad;
use crate::tuning::{self, Tuning};

/// A context that has started.
pub(crate) struct Started {
    pub core: Arc<Core>,
    /// Settings that have no effect.
    pub warnings: Arc<[String]>,
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
    let applied = match config.tunings() {
        [] if table.is_gpu() => tuning::apply_embedded(&Tuning::embedded(embedded)?, table),
        tunings => tuning::apply(tunings, table, others)?,
    };
    // A later setting takes effect: the explicit ones of the configuration.
    let settings = [&applied.settings, config.settings()?].concat();
    let settings = &settings[..];
    if !config.allows_known_bad_device() {
        reject_known_bad_device(table, settings)?;
    }
    reject_missing_device(table, settings)?;
    // The last one counts, as in the runtime.
    let loaded = settings.iter().filter_map(Setting::loaded_code).next_back();
    if let Some((path, true)) = loaded {
        check_code(table, settings, path)?;
    }
    // Backends without device code accept a cache file and ignore it. One that is set beside loaded code
    // would be written with an invalid header.
    let settings: Vec<Setting> = settings
        .iter()
        .filter(|setting| loaded.is_none() || setting.cache_file().is_none())
        .cloned()
        .collect();
    let settings = &settings[..];
    let cache = settings.iter().filter_map(Setting::cache_file).next_back();
    let cache = cache.filter(|_| table.is_gpu());
    let cache = cache.map(|path| CacheFile::lock(path, compiled_with(table, settings, true)));
    let dumped = settings.iter().filter_map(Setting::dumped_code).next_back();
    let dumped = dumped.map(|path| CodeFile::new(path, compiled_with(table, settings, false)));
    let dumping = dumped.as_ref().map(CodeFile::lock);

    let since = std::time::Instant::now();
    let core = Core::new(table, settings)?;
    ffi::started(&core, since);
    if let Some(file) = dumped {
        file.seal(&core)?;
    }
    drop(dumping);
    if let Some(cache) = cache {
        cache.seal();
    }
    Ok(Started {
        core,
        warnings: applied.warnings.into(),
    })
}

/// Everything that the compiled device code depends on, except the device itself.
fn compiled_with(table: &Table, settings: &[Setting], with_selection: bool) -> String {
    let code: Vec<_> = settings
        .iter()
        .filter(|s| s.changes_code() && (with_selection || !s.selects_device()))
        .collect();
    format!("{} {} {code:?}", table.backend(), table.program())
}

fn reject_known_bad_device(table: &Table, settings: &[Setting]) -> Result<()> {
    let text = ffi::describe_device(table, settings);
    let Some(device) = text.and_then(|text| Device::parse(&text).pop()) else {
        return Ok(());
    };
    match known_bad::find(table.backend(), &device) {
        None => Ok(()),
        Some(known) => Err(Error::new(
            ErrorKind::Unsupported,
            format!("{} context", table.backend()),
            known.refusal(&device),
        )),
    }
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
    match possible
        .iter()
        .find(|&device| Some(device) != expected.as_ref())
    {
        None => Ok(()),
        Some(other) => Err(file.wrong_device(expected.as_ref(), other)),
    }
}

/// The devices of cuda and hip that the context may use: the chosen one, or all.
fn matching_devices(table: &Table, settings: &[Setting]) -> Result<Vec<Device>> {
    let devices = ffi::devices(table)?.unwrap_or_default();
    let devices = Device::parse(&devices);
    let Some(chosen) = settings
        .iter()
        .filter_map(Setting::chosen_device)
        .next_back()
    else {
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
            Err(Error::new(
                ErrorKind::Start,
                format!("{} context", table.backend()),
                format!(
                    "no device matches {chosen:?}; there are {}",
                    names.join(", ")
                ),
            ))
        }
    }
}

/// The runtime of cuda uses another device if none matches the setting.
fn reject_missing_device(table: &Table, settings: &[Setting]) -> Result<()> {
    if table.backend() == "cuda" && settings.iter().any(|s| s.chosen_device().is_some()) {
        matching_devices(table, settings)?;
    }
    Ok(())
}
