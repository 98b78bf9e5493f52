//! The world of a test: watches contexts of the fake program, and fails the test if one of them
//! was misused or leaked.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

thread_local! {
    /// The journal of contexts that this thread makes.
    static CURRENT: RefCell<Option<Arc<Journal>>> = const { RefCell::new(None) };
}

/// The kind of backend that the fake program pretends to be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Everything is done when a call returns.
    Host,
    /// Arrays are computed later; a failure shows at the next wait.
    Gpu,
}

/// Every flavour.
pub const FLAVOURS: [Flavour; 2] = [Flavour::Host, Flavour::Gpu];

/// Watches the contexts that are made in it. When it is dropped, it panics if one of them, or a
/// value, is left, or if a violation was recorded.
pub struct World {
    journal: Arc<Journal>,
}

/// Records of contexts. Counters are relaxed, so that they do not hide a data race that the core's
/// lock should prevent.
#[derive(Default)]
pub(crate) struct Journal {
    violations: Mutex<Vec<String>>,
    pub(crate) contexts: AtomicUsize,
    pub(crate) values: AtomicUsize,
    pub(crate) copies: AtomicUsize,
    frees_to_fail: AtomicUsize,
    driver_is_broken: AtomicBool,
    gate: Mutex<Gate>,
    changed: Condvar,
}

#[derive(Default)]
struct Gate {
    waiting: usize,
    open: bool,
}

/// Far longer than any test takes, also under Miri; only a deadlock reaches it.
const TIMEOUT: Duration = Duration::from_secs(120);

impl World {
    /// A world without contexts, in which this thread makes contexts from now on.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "changes the thread's world, which `default` should not"
    )]
    pub fn new() -> World {
        let world = World {
            journal: Arc::default(),
        };
        world.enter();
        world
    }

    /// Contexts of the fake program that this thread makes from now on belong to this world.
    pub fn enter(&self) {
        CURRENT.set(Some(Arc::clone(&self.journal)));
    }

    /// How many contexts there are.
    pub fn contexts(&self) -> usize {
        self.journal.contexts.load(Relaxed)
    }

    /// How many values there are in all contexts together.
    pub fn values(&self) -> usize {
        self.journal.values.load(Relaxed)
    }

    /// How many values were copied since the last call of this function.
    pub fn take_copies(&self) -> usize {
        self.journal.copies.swap(0, Relaxed)
    }

    /// Makes the next `n` calls of `free` report a failure.
    pub fn fail_frees(&self, n: usize) {
        self.journal.frees_to_fail.store(n, Relaxed);
    }

    /// From now on, no driver can wait for its device.
    pub fn break_driver(&self) {
        self.journal.driver_is_broken.store(true, Relaxed);
    }

    /// Waits until a call of `gated` is inside the context.
    pub fn await_gated(&self) {
        let gate = self.journal.gate();
        let (gate, _) = self
            .journal
            .changed
            .wait_timeout_while(gate, TIMEOUT, |gate| gate.waiting == 0)
            .unwrap_or_else(PoisonError::into_inner);
        assert!(gate.waiting > 0, "no call has arrived at the gate");
    }

    /// Lets calls of `gated` end.
    pub fn open_gate(&self) {
        self.journal.gate().open = true;
        self.journal.changed.notify_all();
    }

    /// Later calls of `gated` wait again.
    pub fn close_gate(&self) {
        self.journal.gate().open = false;
    }

    /// Takes the recorded violations: for the tests of the fake program itself.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut *self.journal.violations())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let violations = self.take_violations();
        assert!(violations.is_empty(), "{}", violations.join("\n"));
        assert_eq!(self.values(), 0, "values were never freed");
        assert_eq!(self.contexts(), 0, "contexts were never freed");
    }
}

impl Journal {
    pub(crate) fn current() -> Arc<Journal> {
        CURRENT
            .with_borrow(Clone::clone)
            .expect("a context of the fake program is made in a `World`")
    }

    pub(crate) fn violation(&self, text: impl Into<String>) {
        self.violations().push(text.into());
    }

    pub(crate) fn driver_is_broken(&self) -> bool {
        self.driver_is_broken.load(Relaxed)
    }

    /// Whether freeing a value is to report a failure this time.
    pub(crate) fn free_fails(&self) -> bool {
        self.frees_to_fail
            .fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1))
            .is_ok()
    }

    /// Stays inside the call until the test opens the gate.
    pub(crate) fn pass_gate(&self) {
        let mut gate = self.gate();
        gate.waiting += 1;
        self.changed.notify_all();
        let (mut gate, timeout) = self
            .changed
            .wait_timeout_while(gate, TIMEOUT, |gate| !gate.open)
            .unwrap_or_else(PoisonError::into_inner);
        gate.waiting -= 1;
        if timeout.timed_out() {
            self.violation("the gate was not opened in time");
        }
    }

    fn gate(&self) -> std::sync::MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn violations(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.violations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
