//! `std::sync` and `std::thread`, as the core uses them.

pub(crate) use std::{sync::*, thread};

/// Takes a lock, also after a panic of another thread that held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
