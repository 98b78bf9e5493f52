//! `std::sync` and `std::thread`; in models, what loom checks instead (`futhark-safe/tests/fake/src/checked.rs`).

#[cfg(all(test, loom))]
pub(crate) use futhark_fake::checked::*;
#[cfg(not(all(test, loom)))]
pub(crate) use std::{sync::*, thread};

/// Takes a lock, also after a panic of another thread that held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
