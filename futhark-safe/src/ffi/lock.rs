//! The lock of a context.
//!
//! One atomic word is the whole lock unless threads wait for it: a call takes it and leaves it with
//! one compare-and-swap each. The word also has the mark that dropped values are queued (see `core`).
//! A dropping thread sets the mark, and a call cannot leave the lock while it is set, so either the
//! thread finds the lock free or the call finds the mark. With a mark of its own, beside a `std::sync::Mutex`, each
//! call needs a fence. Measured without other threads, taking and leaving takes 22 to 24 ns, with `Mutex` and fence 33 to
//! 35, with `Mutex` and no fence 22 to 27, and in a scope 2.
//!
//! A thread that holds the lock of a context for a *scope* (see `exclusive`) lists that in a
//! thread-local variable. Its calls find the scope there and use no atomic operation that waits for
//! another processor. In a scope, as elsewhere, at most one [`Hold`] that grants access exists at a
//! time: the scope has a flag for it.

use std::cell::{Cell, UnsafeCell};
use std::hint;
use std::io::Write as _;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// A thread holds the lock.
const HELD: u32 = 1;
/// Threads may wait for the lock.
const WAITERS: u32 = 2;
/// Values are queued.
const QUEUED: u32 = 4;

/// How often a thread looks again before it sleeps. Short calls take less time than waking up.
const SPINS: usize = if cfg!(test) { 0 } else { 100 };

/// A mutex around the state of a context.
#[derive(Default)]
pub(super) struct Lock<T> {
    word: AtomicU32,
    state: UnsafeCell<T>,
    waiting: Mutex<()>,
    left: Condvar,
}

// SAFETY: `Lock::state` gives access to the thread that holds the lock only.
unsafe impl<T: Send> Sync for Lock<T> {}

/// A thread holds the lock: by a call, or by one inside of a scope. Ended by [`Lock::leave`].
#[must_use]
pub(super) struct Hold<'a> {
    /// The scope, which does not end while the hold exists: `entered` is set, and the end of the scope ends the
    /// process then.
    scope: Option<NonNull<Scope>>,
    lock: PhantomData<&'a ()>,
}

/// The lock of a context is held by this thread for several calls. Lives on the stack of `exclusive`.
pub(super) struct Scope {
    /// The address of the lock.
    lock: *const (),
    /// The scope of this thread around this one, of another context, or null.
    outer: Cell<*const Scope>,
    /// A call runs inside of the scope.
    entered: Cell<bool>,
}

thread_local! {
    /// The innermost scope of this thread, or null.
    static INNERMOST: Cell<*const Scope> = const { Cell::new(ptr::null()) };
    /// Debug builds: how many locks of contexts this thread holds, without those of [`Lending`]s.
    static COUNT: Cell<isize> = const { Cell::new(0) };
}

/// Counts locks that this thread takes, or leaves.
#[inline]
pub(super) fn count_held(change: isize) {
    if cfg!(debug_assertions) {
        COUNT.set(COUNT.get() + change);
    }
}

/// Expects that this thread holds no lock of a context: code of the user comes next, and may wait for a thread
/// that waits for the lock.
#[inline]
pub(super) fn expect_none_held() {
    debug_assert_eq!(COUNT.get(), 0, "code of the user would run under a lock");
}

/// A held lock under which code of the user runs, as documented: of `exclusive` and `with_raw`.
pub(super) struct Lending(PhantomData<*mut ()>);

impl Lending {
    pub(super) fn new() -> Lending {
        count_held(-1);
        Lending(PhantomData)
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        count_held(1);
    }
}

impl<T> Lock<T> {
    /// Takes the lock. `before_wait` runs if another call holds it.
    ///
    /// # Panics
    ///
    /// If a call of this thread runs inside of a scope of the same lock: it would wait for itself.
    #[inline]
    pub(super) fn take(&self, before_wait: impl FnOnce()) -> Hold<'_> {
        if let Some(hold) = self.in_scope(Hold::enter) {
            return hold;
        }
        let taken = self
            .word
            .compare_exchange(0, HELD, Ordering::Acquire, Ordering::Relaxed);
        match taken {
            Ok(_) => Hold::new(None),
            Err(_) => self.take_contended(before_wait),
        }
    }

    #[cold]
    fn take_contended(&self, before_wait: impl FnOnce()) -> Hold<'_> {
        if self.take_if_free() {
            return Hold::new(None);
        }
        before_wait();
        for () in std::iter::repeat_n((), SPINS) {
            if self.take_if_free() {
                return Hold::new(None);
            }
            hint::spin_loop();
        }
        // The thread that leaves locks `waiting` after it has cleared `HELD`. So it wakes this thread
        // if that happened after the word was read here.
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // If it is free now, this takes it. Other threads may still wait, so the mark is kept.
        while self.word.fetch_or(HELD | WAITERS, Ordering::Acquire) & HELD != 0 {
            waiting = self
                .left
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        Hold::new(None)
    }

    /// Takes the lock, unless a call runs.
    #[inline]
    pub(super) fn try_take(&self) -> Option<Hold<'_>> {
        match self.in_scope(Hold::try_enter) {
            Some(hold) => hold,
            None => self.take_if_free().then(|| Hold::new(None)),
        }
    }

    /// Takes the lock if it is free, whether or not values are queued.
    fn take_if_free(&self) -> bool {
        let take = |word: u32| (word & HELD == 0).then_some(word | HELD);
        let taken = self
            .word
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, take);
        taken.is_ok()
    }

    /// Leaves the lock and returns true, if that takes no more than that: no values are queued, and no
    /// thread waits.
    #[inline]
    pub(super) fn leave_at_once(&self, hold: &Hold<'_>) -> bool {
        match hold.scope() {
            None => {
                let left =
                    self.word
                        .compare_exchange(HELD, 0, Ordering::Release, Ordering::Relaxed);
                left.is_ok()
            }
            Some(scope) => {
                let left = !self.has_queued();
                scope.entered.set(!left);
                left
            }
        }
    }

    /// Leaves the lock and returns true, unless values are queued.
    pub(super) fn leave_unless_queued(&self, hold: &Hold<'_>) -> bool {
        if hold.is_in_scope() {
            return self.leave_at_once(hold);
        }
        let leave = |word: u32| (word & QUEUED == 0).then_some(0);
        let left = self
            .word
            .fetch_update(Ordering::Release, Ordering::Relaxed, leave);
        if let Ok(word) = left {
            self.wake(word);
        }
        left.is_ok()
    }

    /// Leaves the lock, whether or not values are queued.
    pub(super) fn leave(&self, hold: &Hold<'_>) {
        match hold.scope() {
            None => self.wake(self.word.fetch_and(!(HELD | WAITERS), Ordering::Release)),
            Some(scope) => scope.entered.set(false),
        }
    }

    /// Wakes one thread, if any waits: it keeps the mark for the others.
    fn wake(&self, left: u32) {
        if left & WAITERS != 0 {
            drop(self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            self.left.notify_one();
        }
    }

    /// Whether values are queued. The caller takes them under the lock of the queue.
    #[inline]
    pub(super) fn has_queued(&self) -> bool {
        self.word.load(Ordering::Relaxed) & QUEUED != 0
    }

    /// Marks that values are queued. Returns whether the lock is held: then its holder finds the mark
    /// before it leaves, or in a scope before its next call.
    pub(super) fn mark_queued(&self) -> bool {
        self.word.fetch_or(QUEUED, Ordering::AcqRel) & HELD != 0
    }

    /// Removes the mark, before the queue is emptied. Returns whether there was one.
    pub(super) fn unmark_queued(&self) -> bool {
        self.has_queued() && self.word.fetch_and(!QUEUED, Ordering::AcqRel) & QUEUED != 0
    }

    /// The state.
    ///
    /// # Safety
    ///
    /// `hold` is of this lock.
    #[inline]
    pub(super) unsafe fn state<'a>(&'a self, hold: &'a mut Hold<'_>) -> &'a mut T {
        let _ = hold;
        // SAFETY: this thread holds the lock, and of all its holds one at a time gives access: in a
        // scope, `entered` admits one, and the hold of the scope itself is not used meanwhile.
        unsafe { &mut *self.state.get() }
    }

    /// Keeps the lock for a scope, which lasts until the returned value is dropped. The hold stays with
    /// the caller, who leaves the lock after that.
    ///
    /// # Safety
    ///
    /// `scope` is of this lock. The caller drops the returned value on this thread before `scope` is
    /// moved or dropped, and does not use its hold meanwhile.
    pub(super) unsafe fn begin<'a>(&self, scope: &'a Scope) -> Listed<'a> {
        scope.outer.set(INNERMOST.replace(scope));
        Listed(scope)
    }

    /// Calls `found` with the scope of this thread and this lock, if there is one.
    #[inline]
    fn in_scope<R>(&self, found: impl FnOnce(&Scope) -> R) -> Option<R> {
        let mut next = INNERMOST.get();
        // SAFETY: the list has scopes of this thread that have begun and not ended, and `Lock::begin` requires that
        // they live until then. No code of the user runs here, which could end one.
        while let Some(scope) = unsafe { next.as_ref() } {
            if ptr::eq(scope.lock, ptr::from_ref(self).cast()) {
                return Some(found(scope));
            }
            next = scope.outer.get();
        }
        None
    }
}

impl Hold<'_> {
    fn new(scope: Option<&Scope>) -> Self {
        Hold {
            scope: scope.map(NonNull::from),
            lock: PhantomData,
        }
    }

    #[inline]
    fn try_enter(scope: &Scope) -> Option<Self> {
        (!scope.entered.replace(true)).then(|| Hold::new(Some(scope)))
    }

    #[inline]
    fn enter(scope: &Scope) -> Self {
        Hold::try_enter(scope).unwrap_or_else(|| super::core::within_plain())
    }

    #[inline]
    fn scope(&self) -> Option<&Scope> {
        // SAFETY: the scope lives longer than the hold: see the field.
        self.scope.map(|scope| unsafe { scope.as_ref() })
    }

    /// Whether it is part of a scope.
    pub(super) fn is_in_scope(&self) -> bool {
        self.scope.is_some()
    }
}

impl Scope {
    /// A scope of this lock, to be [begun](Lock::begin).
    pub(super) fn of<T>(lock: &Lock<T>) -> Scope {
        Scope {
            lock: ptr::from_ref(lock).cast(),
            outer: Cell::new(ptr::null()),
            entered: Cell::new(false),
        }
    }
}

/// A scope in the list of its thread.
pub(super) struct Listed<'a>(&'a Scope);

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        if self.0.entered.get() {
            ended_inside();
        }
        // Not always the innermost: code of the user can switch between stacks (coroutines), and end scopes in
        // any order.
        INNERMOST.with(|innermost| {
            let mut place = innermost;
            while !ptr::eq(place.get(), self.0) {
                // SAFETY: as in `Lock::in_scope`.
                match unsafe { place.get().as_ref() } {
                    Some(scope) => place = &scope.outer,
                    None => return,
                }
            }
            place.set(self.0.outer.get());
        });
    }
}

/// Ends the process: a `with_raw` inside of the scope, on another stack of the thread, refers to the scope.
/// A panic would free this stack just as well.
#[cold]
fn ended_inside() -> ! {
    // Unlike `eprintln`, never panics.
    let _ = writeln!(
        std::io::stderr(),
        "futhark-safe: `exclusive` ended while `with_raw` was running inside of it, on another stack of the same \
         thread; the process ends"
    );
    std::process::abort()
}

#[cfg(all(test, feature = "dynamic"))]
mod tests;
