//! A context, its lock, and values that were dropped while a call was running.
//!
//! # The lock and dropped values
//!
//! One call at a time runs in a context: [`Locked`] holds the lock from before the arguments are
//! inspected until the error is fetched. Dropping a value must not wait for that, since a call can
//! take minutes. So [`Core::free`] only tries the lock. If a call is running, it adds the value to the list `dropped`,
//! and the thread that holds the lock frees the list before it unlocks.
//!
//! A value that is added after the holder's last look under the lock is freed by one of the two threads. The one that
//! adds it sets `any_dropped` and then tries the lock again. The other one unlocks and then looks at the flag again; if
//! it is set, it tries the lock as well. Each of them writes before it reads, with a fence in between, so one of them sees
//! what the other has written. Only the adding thread sets the flag: two threads that look again could otherwise make
//! each other do so without end. `fake_tests/models.rs` explores these orders.
//!
//! # Errors
//!
//! [`Locked::call`] calls all operations that can fail, except those that guarantee L exempts, and `context_new`,
//! `take_back` and `drain`, for which [`Core::new`], `plain` and [`Locked::drain`] read the status. After
//! a failure the C side has made the context usable again and reports up to two failures: the
//! call's own, and one that it found while it waited for work of earlier calls. [`Locked::failed`] makes one error of
//! them. The C side tells which earlier calls a failure can belong to, by the numbers of [`name_of`], and which values it
//! invalidates (`progress`).

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;
use std::slice;

use futhark_sys::table::{self as c, Table};

use super::progress::{Pending, Progress, order, verdicts};
use super::settings::{Log, Setting};
use super::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};
use super::sync::thread::{self, ThreadId};
use super::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, lock};
use super::table::{copy_text, no_memory, required};
use super::trace::count_held;
use crate::error::{Call, Error, ErrorKind, Origin, Result};
use crate::observe::Copies;

/// A context of the C side and everything that it owns. All its values share it.
pub(crate) struct Core {
    table: &'static Table,
    context: NonNull<c::Context>,
    /// Held around every call together with its sync and its error (guarantee L).
    state: Mutex<State>,
    /// Values that were dropped while a call was running, to be freed under the lock.
    dropped: Mutex<Vec<ToFree>>,
    /// Whether values were added to the list since it was taken.
    any_dropped: AtomicBool,
    /// The thread that makes plain calls and holds the lock meanwhile (see `plain`).
    lent_to: Mutex<Option<ThreadId>>,
    /// Whether the context is lost, or an error is deferred. Outside of the lock, so that downloads on host
    /// backends need not take it.
    has_failed: AtomicBool,
    /// Text that the runtime may still point to.
    _settings: Vec<Setting>,
    log: Option<Log>,
}

/// The state of a context that its lock protects, on the Rust side.
#[derive(Default)]
pub(super) struct State {
    /// An error that no call could return, such as that of a failing `free`. The next call
    /// reports it.
    deferred: Option<Error>,
    /// The call in which the context was lost.
    lost_in: Option<Call>,
    progress: Progress,
    /// How often operations have copied an argument before they overwrote it.
    copies: BTreeMap<(&'static str, String), u64>,
}

/// A value without a handle, to be freed.
pub(super) struct ToFree {
    pub(super) value: NonNull<c_void>,
    pub(super) ty: u32,
}

/// The transfers of a batch that were started, for the wait at its end (see `batch`).
#[derive(Default)]
pub(super) struct Transfers {
    /// Their distinct outcomes. `None`: the device accesses no host memory.
    outcomes: Mutex<Option<Vec<Pending>>>,
}

impl Transfers {
    /// Records a transfer that was started, and returns the outcome of its result.
    fn started(&self, locked: &mut Locked<'_>) -> Pending {
        let pending = locked.pending();
        if let Some(outcomes) = &mut *lock(&self.outcomes)
            && outcomes.last().map(order) != Some(order(&pending))
        {
            outcomes.push(pending.clone());
        }
        pending
    }

    /// `None`: nothing was started on a device.
    pub(super) fn take(self) -> Option<Vec<Pending>> {
        let outcomes = self.outcomes.into_inner();
        outcomes.unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: the C side allows any thread to use a context as long as no two do so at
// once, which guarantee L ensures. `ToFree` values are pointers that are followed only under
// the lock.
unsafe impl Send for Core {}
// SAFETY: as above.
unsafe impl Sync for Core {}

/// The lock of a context, held. The fields are dropped in this order.
pub(super) struct Locked<'a> {
    core: &'a Core,
    state: MutexGuard<'a, State>,
    _released: Released<'a>,
}

/// Frees values that were dropped at the last moment and delivers the log, when the lock has been released.
struct Released<'a>(&'a Core);

impl Drop for Released<'_> {
    #[inline]
    fn drop(&mut self) {
        count_held(-1);
        compiler_fence(Ordering::SeqCst);
        // On these processors the exchange that unlocks orders the load after it.
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) || cfg!(loom) {
            fence(Ordering::SeqCst);
        }
        if self.0.any_dropped.load(Ordering::SeqCst) {
            self.0.try_free_dropped();
        }
        self.0.deliver_log();
    }
}

impl Core {
    /// Makes a context. `start` calls this after it has checked the device and the cache file.
    pub(crate) fn new(table: &'static Table, settings: &[Setting]) -> Result<Arc<Core>> {
        let settings = settings.to_vec();
        let for_c: Vec<c::Setting> = settings.iter().map(Setting::to_c).collect();
        let mut status = c::FUT_LOST as i32;
        let new = required(table.raw().context_new);
        // SAFETY: T; `for_c` has this length, and its text lives in `settings`.
        let context = unsafe { new(for_c.as_ptr(), for_c.len() as u32, &raw mut status) };
        let context = NonNull::new(context).ok_or_else(|| no_memory("context"))?;
        let core = Core {
            table,
            context,
            state: Mutex::default(),
            dropped: Mutex::default(),
            any_dropped: AtomicBool::new(false),
            lent_to: Mutex::default(),
            has_failed: AtomicBool::new(false),
            log: settings.iter().filter_map(Setting::log).next_back(),
            _settings: settings,
        };
        if status as u32 == c::FUT_OK {
            core.deliver_log();
            return Ok(Arc::new(core));
        }
        let mut locked = core.locked();
        let operation = format!("{} context", table.backend());
        let mut error = locked.failed(status, operation.into()).error;
        drop(locked);
        // Other kinds describe a failing call, but this one made no context.
        if !matches!(
            error.kind(),
            ErrorKind::OutOfMemory | ErrorKind::Load | ErrorKind::InvalidArgument
        ) {
            error = error.into_kind(ErrorKind::Start);
        }
        Err(error)
    }

    pub(crate) fn table(&self) -> &'static Table {
        self.table
    }

    pub(super) fn context(&self) -> *mut c::Context {
        self.context.as_ptr()
    }

    /// Takes the lock. Waits for the running call, if any.
    ///
    /// # Panics
    /// If this thread holds it, having lent the context to plain calls.
    #[inline]
    pub(super) fn locked(&self) -> Locked<'_> {
        self.try_locked().unwrap_or_else(|| self.wait_for_lock())
    }

    #[cold]
    fn wait_for_lock(&self) -> Locked<'_> {
        assert!(
            *self.lent() != Some(thread::current().id()),
            "a safe call was made inside of `with_raw` on the same context, which would deadlock: make it before or after"
        );
        self.locked_at_once()
    }

    /// Takes the lock, without the check for plain calls, which panics.
    pub(super) fn locked_at_once(&self) -> Locked<'_> {
        // A panic leaves the state whole: what it protects is the C side, whose calls do not panic.
        self.hold(lock(&self.state))
    }

    #[inline]
    fn try_locked(&self) -> Option<Locked<'_>> {
        match self.state.try_lock() {
            Ok(state) => Some(self.hold(state)),
            Err(TryLockError::Poisoned(state)) => Some(self.hold(state.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    #[inline]
    fn hold<'a>(&'a self, state: MutexGuard<'a, State>) -> Locked<'a> {
        count_held(1);
        Locked {
            core: self,
            state,
            _released: Released(self),
        }
    }

    /// The thread that the context is lent to, if any. It holds the lock.
    pub(super) fn lent(&self) -> MutexGuard<'_, Option<ThreadId>> {
        lock(&self.lent_to)
    }

    /// Whether the context is lost, or an error is deferred. Then a call is needed, which reports that.
    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Frees a value now, or when the running call ends. Never waits for a call.
    #[inline]
    pub(super) fn free(&self, to_free: ToFree) {
        if let Some(mut locked) = self.try_locked() {
            return locked.free(&to_free);
        }
        lock(&self.dropped).push(to_free);
        self.any_dropped.swap(true, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        self.try_free_dropped();
    }

    /// Frees the values on the list, unless a call is running: then the thread that holds the lock frees them.
    #[cold]
    fn try_free_dropped(&self) {
        drop(self.try_locked());
    }

    /// Passes the runtime's log to its writer. The caller holds no lock.
    #[inline]
    fn deliver_log(&self) {
        if let Some(log) = &self.log {
            log.deliver();
        }
    }

    /// Takes the lock and calls an operation that uses values of these outcomes. Fails if one of them is invalid.
    /// Returns the lock, and the outcome of the result, which is pending only in a batch, and never on host backends.
    ///
    /// # Safety
    /// As for [`Locked::call`]. With a batch, `input` says that a later call waits, and host memory that the call
    /// accesses stays until the batch ends.
    pub(super) unsafe fn run<'v>(
        &self,
        operation: &'static str,
        call: c::Call,
        out: &[*mut c_void],
        input: &[*const c_void],
        uses: impl IntoIterator<Item = &'v Pending>,
        batch: Option<&Transfers>,
    ) -> Result<(Locked<'_>, Pending)> {
        let mut locked = self.locked();
        locked.expect_valid(uses)?;
        // After the lock was taken, which can panic: if nothing was started, the end of the batch does not wait.
        if let Some(batch) = batch
            && self.table.is_gpu()
        {
            lock(&batch.outcomes).get_or_insert_default();
        }
        let number = batch.map_or(NO_WORK, |_| number_of(operation));
        // SAFETY: L; as the caller promises.
        unsafe { locked.call(number, call, out, input, || operation.into()) }?;
        let pending = batch.and_then(|batch| batch.started(&mut locked));
        Ok((locked, pending))
    }

    /// The copies so far of values that would have been overwritten.
    pub(crate) fn copies(&self) -> Vec<Copies> {
        let copies = self.locked().state.copies.clone().into_iter();
        let counted = copies.map(|((operation, argument), count)| Copies {
            operation: operation.to_owned(),
            argument,
            count,
        });
        counted.collect()
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        let free = required(self.table.raw().context_free);
        // SAFETY: T; no value is left: handles keep the core alive, and a thread that dropped one, or held the lock
        // meanwhile, frees it before its own handle ends. The context is not used again.
        unsafe { free(self.context()) };
        self.deliver_log();
    }
}

impl Locked<'_> {
    /// Calls a function of the table and fetches its error.
    ///
    /// # Safety
    /// `call` belongs to this context's table, and `out` and `input` hold the arguments that
    /// `futhark_table.h` documents for it. Places for pointers in `out` are null.
    #[inline]
    pub(super) unsafe fn call(
        &mut self,
        number: u32,
        call: c::Call,
        out: &[*mut c_void],
        input: &[*const c_void],
        operation: impl FnOnce() -> Call,
    ) -> Result<(), Failed> {
        let enter = required(self.core.table.raw().enter);
        let (context, out, input) = (self.core.context(), out.as_ptr(), input.as_ptr());
        // SAFETY: the caller promises the arguments; L: `self` is the lock.
        let status = unsafe { enter(Some(call), number, context, out, input) };
        self.ended(status, operation)
    }

    /// Calls a function of the table's list and fetches its error.
    ///
    /// # Safety
    /// As for [`call`](Self::call), and `copies` has a place for each argument.
    #[inline]
    pub(super) unsafe fn call_function(
        &mut self,
        number: u32,
        out: &[*mut c_void],
        input: &[*const c_void],
        copies: &mut [*const c_void],
        label: impl FnOnce() -> &'static str,
    ) -> Result<(), Failed> {
        let (table, context) = (self.core.table.raw(), self.core.context());
        let call = required(table.call);
        let (out, input, copies) = (out.as_ptr(), input.as_ptr(), copies.as_mut_ptr());
        // SAFETY: the caller promises the arguments; L: `self` is the lock.
        let status = unsafe { call(table, number, context, out, input, copies) };
        self.ended(status, || label().into())
    }

    /// The result of a call that returned `status`.
    #[inline]
    pub(super) fn ended(
        &mut self,
        status: i32,
        operation: impl FnOnce() -> Call,
    ) -> Result<(), Failed> {
        match status as u32 {
            c::FUT_OK => Ok(()),
            _ => Err(self.failed(status, operation())),
        }
    }

    /// The failure of the call that returned `status`, with the error that the user gets.
    #[cold]
    pub(super) fn failed(&mut self, status: i32, operation: Call) -> Failed {
        let status = status as u32;
        let own = self
            .recorded(0)
            .expect("T: a call that failed has a failure");
        let (cause, started) = (own.cause, own.started != 0);
        let mut error = self.error(own, status, &operation);
        if let Some(other) = self.recorded(1) {
            error = error.with_also(self.error(other, c::FUT_FAILED, &operation));
        }
        if status == c::FUT_LOST {
            self.core.has_failed.store(true, Ordering::Relaxed);
            match &self.state.lost_in {
                Some(earlier) => {
                    error = error.with_origin(Origin::Earlier(Some(vec![earlier.clone()])));
                }
                // Otherwise it is refused to a forked process.
                None if started => self.state.lost_in = Some(operation),
                None => {}
            }
        }
        Failed {
            error,
            cause,
            started,
        }
    }

    /// The error of a failure, which the values that it invalidates keep.
    fn error(&mut self, failure: c::Failure, status: u32, operation: &Call) -> Error {
        // SAFETY: T: NULL, or NUL-terminated text that lives until the next call; L: there is none meanwhile.
        let [words, text] = [failure.words, failure.text].map(|text| unsafe { copy_text(text) });
        let suspects = (!failure.suspects.is_null()).then(|| {
            let n = failure.n_suspects as usize;
            // SAFETY: T: a list of this length, which lives until the next call; L: there is none meanwhile.
            let numbers = unsafe { slice::from_raw_parts(failure.suspects, n) };
            let names = numbers
                .iter()
                .map(|&number| name_of(self.core.table, number));
            names.map(Call::from).collect()
        });
        let origin = match failure.origin {
            c::FUT_OF_CALL => Origin::Operation,
            c::FUT_OF_EARLIER => Origin::Earlier(suspects),
            _ => Origin::Either(suspects),
        };
        let kind = kind(status, failure.cause);
        let words = match words {
            Some(words) => words.into(),
            None if text.is_some() => "".into(),
            None if kind == ErrorKind::OutOfMemory => "not enough memory".into(),
            None if kind == ErrorKind::ContextLost => {
                "the runtime failed, and there was no memory for its message".into()
            }
            None => Call::from(format!(
                "failed with code {} and without a message",
                failure.code
            )),
        };
        let error = Error::new(kind, operation.clone(), words).with_c(text, failure.code);
        let error = error.with_origin(origin);
        if failure.invalidates != 0 {
            self.state.progress.invalidate(failure.invalidates, &error);
        }
        error
    }

    /// Verifies that a call can start: reports a deferred error, or the failure that invalidated a value of one of
    /// these outcomes.
    #[inline]
    pub(super) fn expect_valid<'v>(
        &mut self,
        uses: impl IntoIterator<Item = &'v Pending>,
    ) -> Result<()> {
        if self.state.deferred.is_some() {
            return self.report_deferred();
        }
        match self.core.table.is_gpu() {
            true => verdicts(uses),
            false => Ok(()),
        }
    }

    /// Returns the deferred error, if there is one. Then downloads need no call again.
    #[cold]
    fn report_deferred(&mut self) -> Result<()> {
        let state = &mut *self.state;
        let (deferred, is_lost) = (state.deferred.take(), state.lost_in.is_some());
        self.core.has_failed.store(is_lost, Ordering::Relaxed);
        deferred.map_or(Ok(()), |error| {
            let operation = error.operation().to_owned();
            Err(error.into_earlier(operation.into()))
        })
    }

    pub(super) fn wait(&mut self, operation: &'static str) -> Result<()> {
        let sync = required(self.core.table.raw().sync);
        // SAFETY: T and L; it takes no arguments.
        unsafe { self.call(NO_WORK, sync, &[], &[], || operation.into()) }?;
        Ok(())
    }

    /// GPU backends: waits for the driver, also in a lost context. Returns whether the device no
    /// longer accesses host memory.
    pub(super) fn drain(&mut self) -> bool {
        let Some(drain) = self.core.table.raw().drain else {
            return false;
        };
        // SAFETY: T and L.
        let status = unsafe { drain(self.core.context()) };
        status as u32 == c::FUT_OK
    }

    /// The outcome of the work that the last call has left, if any.
    pub(super) fn pending(&mut self) -> Pending {
        let pending = self.core.table.raw().pending?;
        // SAFETY: T and L. The last function has entered the context.
        let number = unsafe { pending(self.core.context()) };
        self.state.progress.outcome(number)
    }

    #[cold]
    pub(super) fn count_copy(&mut self, operation: &'static str, argument: &str) {
        let of = (operation, argument.to_owned());
        *self.state.copies.entry(of).or_default() += 1;
    }

    /// Keeps an error for the next call, unless one is kept already.
    pub(super) fn defer(&mut self, error: Error) {
        // Every later call on a lost context reports the loss anyway.
        if error.kind() != ErrorKind::ContextLost {
            self.core.has_failed.store(true, Ordering::Relaxed);
            self.state.deferred.get_or_insert(error);
        }
    }

    /// The C side's record of the last failing call, with pointers that live until the next one: 0 is its own failure, 1 one
    /// that was found by the wait after it.
    fn recorded(&self, which: u32) -> Option<c::Failure> {
        let failure = required(self.core.table.raw().failure);
        // SAFETY: T and L.
        let failure = unsafe { failure(self.core.context(), which) };
        // SAFETY: T: NULL, or lives until the next call; L: there is none meanwhile.
        unsafe { failure.as_ref() }.copied()
    }

    pub(super) fn table(&self) -> &'static Table {
        self.core.table
    }

    #[cold]
    fn free_list(&mut self) {
        while self.core.any_dropped.swap(false, Ordering::AcqRel) {
            let dropped = std::mem::take(&mut *lock(&self.core.dropped));
            dropped.iter().for_each(|dropped| self.free(dropped));
        }
    }

    /// Frees a value that no handle holds any more.
    pub(super) fn free(&mut self, to_free: &ToFree) {
        let ty = &self.core.table.types()[to_free.ty as usize];
        let free = ty.raw().free.expect("every type can be freed");
        let value = [to_free.value.as_ptr().cast_const()];
        // SAFETY: T and L; V: the value is of this type, and its handle was dropped.
        let result = unsafe { self.call(NO_WORK, free, &[], &value, || "free".into()) };
        if let Err(error) = result {
            self.defer(error.into());
        }
    }
}

/// A call that failed.
pub(super) struct Failed {
    pub(super) error: Error,
    /// `FUT_CAUSE_…`
    pub(super) cause: u32,
    /// Whether it can have overwritten the arguments that it consumes.
    pub(super) started: bool,
}

/// The number of calls that leave no work pending.
pub(super) const NO_WORK: u32 = u32::MAX;

/// Operations that can leave work pending, besides the functions of the table. Their numbers precede [`NO_WORK`].
const OTHERS: [&str; 3] = [NEW, READ, PLAIN];
pub(super) const READ: &str = "read array";
pub(super) const NEW: &str = "new array";
pub(super) const PLAIN: &str = "plain C call";

pub(super) fn number_of(operation: &str) -> u32 {
    let found = OTHERS.iter().position(|other| *other == operation);
    found.map_or(NO_WORK, |i| NO_WORK - 1 - i as u32)
}

fn name_of(table: &'static Table, number: u32) -> &'static str {
    let function = table.functions().get(number as usize);
    let other = OTHERS.get((NO_WORK - 1).wrapping_sub(number) as usize);
    function.map_or(other.unwrap_or(&"?"), |function| function.label())
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Error {
        failed.error
    }
}

/// The status first: it is known, and the cause is derived from the function that set the text.
fn kind(status: u32, cause: u32) -> ErrorKind {
    match (status, cause) {
        (c::FUT_MEMORY, _) => ErrorKind::OutOfMemory,
        (c::FUT_LOST, _) => ErrorKind::ContextLost,
        (c::FUT_UNAVAILABLE, _) => ErrorKind::Load,
        (c::FUT_REFUSED, _) | (_, c::FUT_CAUSE_ARGUMENT) => ErrorKind::InvalidArgument,
        (_, c::FUT_CAUSE_PROGRAM | c::FUT_CAUSE_SIZES) => ErrorKind::Program,
        _ => ErrorKind::Backend,
    }
}

impl Drop for Locked<'_> {
    /// Frees the values that were dropped meanwhile, before the lock is released.
    #[inline]
    fn drop(&mut self) {
        if self.core.any_dropped.load(Ordering::Relaxed) {
            self.free_list();
        }
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("backend", &self.table.backend())
            .field("program", &self.table.program())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom), feature = "dynamic"))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use futhark_fake::{Flavour, World, program};

    use super::super::trace::expect_none_held;
    use super::*;
    use crate::fake_tests::in_time;

    /// The list is emptied while the lock is held, and a panic there releases the lock.
    #[test]
    fn a_panic_while_values_are_freed_releases_the_lock() {
        in_time(|| {
            let world = World::new();
            world.enter();
            let core = Core::new(program::table(Flavour::Host), &[]).unwrap();
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let locked = core.locked();
                // Of a type that the table does not have.
                core.free(ToFree {
                    value: NonNull::dangling(),
                    ty: u32::MAX,
                });
                drop(locked);
            }));
            assert!(panicked.is_err());
            expect_none_held();
            thread::scope(|scope| scope.spawn(|| drop(core.locked())).join().unwrap());
        });
    }
}
