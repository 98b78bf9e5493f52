//! Contexts, and the lock for OpenCL.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futhark_safe::{Backend, Config};
use futhark_safe_raw_tests::stats;

unsafe extern "C" {
    /// Frees memory that a function of C returned.
    #[link_name = "free"]
    pub fn free_text(text: *mut std::ffi::c_char);
}

/// Oclgrind cannot be used by two contexts of a process at a time (see SAFETY.md).
static DEVICE: Mutex<()> = Mutex::new(());

/// A context with its lock, which is released after it.
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
