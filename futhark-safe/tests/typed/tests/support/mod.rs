//! What several tests share: backends, and turns with the one device that needs them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futhark_safe::{Backend, Config};
use futhark_safe_typed_tests::arrays;

pub const BACKENDS: [Backend; 3] = [Backend::C, Backend::Multicore, Backend::OpenCl];

/// Oclgrind cannot be used by two contexts of a process at a time, not even from plain C
/// (see SAFETY.md), so tests take turns with it.
static DEVICE: Mutex<()> = Mutex::new(());

pub fn alone(backend: Backend) -> Option<MutexGuard<'static, ()>> {
    let lock = || DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    (backend == Backend::OpenCl).then(lock)
}

/// Runs a check of `arrays.fut` on every backend.
#[allow(dead_code, reason = "not every test file is about arrays")]
pub fn each(check: impl Fn(arrays::Context)) {
    for backend in BACKENDS {
        eprintln!("{backend}");
        let _device = alone(backend);
        check(arrays::Context::new(&Config::new().backend(backend)).unwrap());
    }
}
