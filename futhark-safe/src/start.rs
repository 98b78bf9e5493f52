//! Starts contexts: rejects devices that are known to be bad, and guards files of device code.

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
    // The last one counts, as in the runtime. Backends without device code accept a cache file and
    // ignore it.
    let last = |path: fn(&Setting) -> Option<&std::path::Path>| {
        settings.iter().filter_map(path).next_back()
    };
    let cache = last(Setting::cache_file).filter(|_| table.is_gpu());
    let cache = cache.map(|path| CacheFile::lock(path, compiled_with(table, settings, true)));
    let code = |path| CodeFile::new(path, compiled_with(table, settings, false));
    let loaded = last(Setting::sealed_code).map(code);
    let expected = loaded.as_ref().map(CodeFile::check).transpose()?;

    let since = std::time::Instant::now();
    let core = Core::new(table, settings)?;
    ffi::started(&core, since);
    if let (Some(file), Some(device)) = (loaded, expected) {
        file.check_device(&core, &device)?;
    }
    if let Some(file) = last(Setting::dumped_code).map(code) {
        file.seal(&core)?;
    }
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
    format!("{} {code:?}", table.program())
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

/// The runtime of cuda uses another device if none matches the setting.
fn reject_missing_device(table: &Table, settings: &[Setting]) -> Result<()> {
    let mut chosen = settings.iter().filter_map(Setting::chosen_device);
    let Some(chosen) = chosen.next_back().filter(|_| table.backend() == "cuda") else {
        return Ok(());
    };
    let Some(text) = ffi::devices(table)? else {
        return Ok(());
    };
    let devices = Device::parse(&text);
    // As the runtime reads it: a number counts the devices whose names contain the rest.
    let (number, name) = match chosen.strip_prefix('#') {
        None => (0, chosen),
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_digit());
            let (digits, name) = rest.split_at(end.unwrap_or(rest.len()));
            (digits.parse().unwrap_or(0), name.trim_start())
        }
    };
    let matching = devices.iter().filter(|device| device.name.contains(name));
    if matching.count() > number {
        return Ok(());
    }
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
