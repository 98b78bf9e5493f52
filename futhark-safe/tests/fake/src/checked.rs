//! The parts of `std::sync` and `std::thread` that the core uses, with loom's types. The mutex is one on loom's
//! atomics, in the way of the standard library: loom's own makes a thread that is about to call `try_lock` wait until the
//! lock is free, so an attempt that fails is never explored there.

use std::ops::{Deref, DerefMut};

use atomic::{AtomicBool, Ordering};
use loom::cell::{MutPtr, UnsafeCell};
pub use loom::sync::Arc;
use loom::thread::Thread;
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

pub mod atomic {
    //! As `std::sync::atomic`.
    pub use loom::sync::atomic::{AtomicBool, Ordering, fence};
    pub use std::sync::atomic::compiler_fence;
}

pub mod thread {
    //! As `std::thread`.
    pub use loom::thread::{ThreadId, current};
}

/// A mutex that is never poisoned.
#[derive(Default)]
pub struct Mutex<T> {
    is_locked: AtomicBool,
    /// Threads that wait, which loom does not see.
    waiting: std::sync::Mutex<Vec<Thread>>,
    data: UnsafeCell<T>,
}

// SAFETY: the flag excludes all but one guard.
unsafe impl<T: Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Mutex<T> {}

/// Unlocks when it is dropped. The fields are dropped in this order.
pub struct MutexGuard<'a, T> {
    data: MutPtr<T>,
    _unlocks: Unlocks<'a, T>,
}

struct Unlocks<'a, T>(&'a Mutex<T>);

impl<T> Drop for Unlocks<'_, T> {
    fn drop(&mut self) {
        self.0.is_locked.swap(false, Ordering::Release);
        self.0
            .waiting()
            .drain(..)
            .for_each(|thread| thread.unpark());
    }
}

impl<T> Mutex<T> {
    /// As of the standard library.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        loop {
            if let Ok(guard) = self.try_lock() {
                return Ok(guard);
            }
            let this = loom::thread::current();
            self.waiting().push(this.clone());
            // Unlocked meanwhile, it does not wait.
            if let Ok(guard) = self.try_lock() {
                self.waiting().retain(|thread| thread.id() != this.id());
                return Ok(guard);
            }
            loom::thread::park();
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Thread>> {
        self.waiting.lock().unwrap()
    }

    /// As of the standard library.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        match self
            .is_locked
            .compare_exchange(false, true, acquire, relaxed)
        {
            Ok(_) => Ok(MutexGuard {
                data: self.data.get_mut(),
                _unlocks: Unlocks(self),
            }),
            Err(_) => Err(TryLockError::WouldBlock),
        }
    }

    /// As of the standard library.
    pub fn new(data: T) -> Mutex<T> {
        Mutex {
            is_locked: AtomicBool::default(),
            waiting: std::sync::Mutex::default(),
            data: UnsafeCell::new(data),
        }
    }

    /// As of the standard library.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        // SAFETY: the exclusive borrow excludes all guards.
        Ok(unsafe { &mut *self.data.get_mut().with(|data| data) })
    }

    /// As of the standard library.
    pub fn into_inner(self) -> LockResult<T> {
        Ok(self.data.into_inner())
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { self.data.deref() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held.
        unsafe { self.data.deref() }
    }
}
