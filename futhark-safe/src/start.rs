//! Starts contexts: rejects devices that are known to be bad, and guards the cache file.

use std::sync::Arc;

use futhark_sys::table::Table;

use crate::cache::CacheFile;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{self, Core, Setting};
use crate::known_bad::{self, Device};

/// Makes a context of this table's program.
///
/// A device that is known to compute wrong results is rejected before its compiler runs.
pub(crate) fn start(table: &'static Table, config: &Config) -> Result<Arc<Core>> {
    let settings = config.settings()?;
    if !config.allows_known_bad_device() {
        reject_known_bad_device(table, settings)?;
    }
    // Other backends accept a cache file and ignore it.
    let cache = settings.iter().filter_map(Setting::cache_file).next_back();
    let cache = cache.filter(|_| table.is_gpu()).map(|path| {
        let code: Vec<_> = settings.iter().filter(|s| s.changes_code()).collect();
        CacheFile::lock(path, format!("{} {code:?}", table.program()))
    });
    let core = Core::new(table, settings)?;
    if let Some(cache) = cache {
        cache.seal();
    }
    Ok(core)
}

fn reject_known_bad_device(table: &Table, settings: &[Setting]) -> Result<()> {
    let Some(device) = ffi::describe_device(table, settings)
        .as_deref()
        .and_then(Device::parse)
    else {
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
