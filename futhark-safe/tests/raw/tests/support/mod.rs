//! What the tests share: contexts, and turns with the one device that needs them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futhark_safe::{Backend, Config};
use futhark_safe_raw_tests::stats;

/// Oclgrind cannot be used by two contexts of a process at a time (see SAFETY.md).
static DEVICE: Mutex<()> = Mutex::new(());

/// A context, with the turn that it needs; dropped before that.
pub struct Turn {
    pub ctx: stats::Context,
    _device: Option<MutexGuard<'static, ()>>,
}

pub fn turn(backend: Backend) -> Turn {
    let lock = || DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let device = (backend == Backend::OpenCl).then(lock);
    Turn {
        ctx: stats::Context::new(&Config::new().backend(backend)).unwrap(),
        _device: device,
    }
}
