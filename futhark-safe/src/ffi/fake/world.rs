//! What a test holds: makes contexts of the fake program and judges them in the end.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::program;
use crate::ffi::{Core, Setting};

thread_local! {
    /// Whose contexts are made on this thread.
    static CURRENT: RefCell<Option<Arc<Journal>>> = const { RefCell::new(None) };
}

/// Which backend the fake program pretends to be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    /// Everything is done when a call returns.
    Host,
    /// Arrays are computed later; what fails shows at the next wait.
    Gpu,
}

pub(super) const FLAVOURS: [Flavour; 2] = [Flavour::Host, Flavour::Gpu];

/// Everything that happens to the contexts made through it. When it is dropped, nothing
/// may be left of them, and nothing have gone wrong.
pub(super) struct World {
    journal: Arc<Journal>,
}

/// What contexts write down. Counters are relaxed, so that they order nothing between
/// threads that the core's lock should order.
#[derive(Default)]
pub(super) struct Journal {
    violations: Mutex<Vec<String>>,
    contexts: AtomicUsize,
    values: AtomicUsize,
    copies: AtomicUsize,
    frees_to_fail: AtomicUsize,
    gate: Mutex<Gate>,
    changed: Condvar,
}

#[derive(Default)]
struct Gate {
    waiting: usize,
    open: bool,
}

/// Far longer than anything takes, also under Miri; only a deadlock gets there.
const FOR_EVER: Duration = Duration::from_secs(120);

impl World {
    pub(super) fn new() -> World {
        let journal = Arc::<Journal>::default();
        CURRENT.set(Some(Arc::clone(&journal)));
        World { journal }
    }

    pub(super) fn core(&self, flavour: Flavour) -> Arc<Core> {
        self.start(flavour, &[]).expect("the fake context starts")
    }

    pub(super) fn start(&self, flavour: Flavour, settings: &[Setting]) -> crate::Result<Arc<Core>> {
        CURRENT.set(Some(Arc::clone(&self.journal)));
        Core::new(program::table(flavour), settings)
    }

    /// How many contexts there are.
    pub(super) fn contexts(&self) -> usize {
        self.journal.contexts.load(Relaxed)
    }

    /// How many values there are in all contexts together.
    pub(super) fn values(&self) -> usize {
        self.journal.values.load(Relaxed)
    }

    /// How many values were copied since this was last asked.
    pub(super) fn copies(&self) -> usize {
        self.journal.copies.swap(0, Relaxed)
    }

    /// The next `n` times that a value is freed, that reports a failure.
    pub(super) fn fail_frees(&self, n: usize) {
        self.journal.frees_to_fail.store(n, Relaxed);
    }

    /// Returns when a call of `gated` is inside the context.
    pub(super) fn await_gated(&self) {
        let gate = self.journal.gate();
        let (gate, _) = self
            .journal
            .changed
            .wait_timeout_while(gate, FOR_EVER, |gate| gate.waiting == 0)
            .unwrap_or_else(PoisonError::into_inner);
        assert!(gate.waiting > 0, "no call has arrived at the gate");
    }

    /// Lets calls of `gated` end.
    pub(super) fn open_gate(&self) {
        self.journal.gate().open = true;
        self.journal.changed.notify_all();
    }

    /// Takes back what was written down: for the tests of the model itself.
    pub(super) fn take_violations(&self) -> Vec<String> {
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
    /// The journal of whoever makes contexts on this thread.
    pub(super) fn current() -> Arc<Journal> {
        CURRENT
            .with_borrow(Clone::clone)
            .expect("a context of the fake program is made through a `World`")
    }

    pub(super) fn violation(&self, text: impl Into<String>) {
        self.violations().push(text.into());
    }

    pub(super) fn count_context(&self) {
        self.contexts.fetch_add(1, Relaxed);
    }

    pub(super) fn uncount_context(&self) {
        self.contexts.fetch_sub(1, Relaxed);
    }

    pub(super) fn count_value(&self) {
        self.values.fetch_add(1, Relaxed);
    }

    pub(super) fn uncount_value(&self) {
        self.values.fetch_sub(1, Relaxed);
    }

    pub(super) fn count_copy(&self) {
        self.copies.fetch_add(1, Relaxed);
    }

    /// Whether freeing a value is to report a failure this time.
    pub(super) fn free_fails(&self) -> bool {
        self.frees_to_fail
            .fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1))
            .is_ok()
    }

    /// Stays inside the call until the test opens the gate.
    pub(super) fn pass_gate(&self) {
        let mut gate = self.gate();
        gate.waiting += 1;
        self.changed.notify_all();
        let (mut gate, timeout) = self
            .changed
            .wait_timeout_while(gate, FOR_EVER, |gate| !gate.open)
            .unwrap_or_else(PoisonError::into_inner);
        gate.waiting -= 1;
        if timeout.timed_out() {
            self.violation("nobody opened the gate");
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
