//! A context, its lock, and the values that wait to be freed.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, ThreadId};

use futhark_sys::table::{self as c, Table};

use super::handle::Handle;
use super::progress::{Progress, Serial, Unchecked};
use super::setting::Setting;
use crate::error::{Call, Error, Kind, Origin, Result};

/// A context of the C side with everything that it owns. Shared by all its values.
pub(crate) struct Core {
    table: &'static Table,
    context: NonNull<c::Context>,
    /// Held around every call together with its sync and its error (guarantee L).
    lock: Mutex<State>,
    /// Values dropped while a call was running. Freed by whoever holds the lock next.
    waiting: Mutex<Vec<Doomed>>,
    any_waiting: AtomicBool,
    /// The thread that makes plain calls, which holds the lock (see `plain`).
    lent_to: Mutex<Option<ThreadId>>,
    /// Text that the runtime may still point to.
    _settings: Vec<Setting>,
}

/// What the lock protects on our side.
#[derive(Default)]
struct State {
    /// What a failing `free` said; the next call reports it.
    deferred: Option<Error>,
    /// The operation in which the context was lost.
    lost_in: Option<Call>,
    progress: Progress,
}

/// A value without an owner.
struct Doomed {
    value: NonNull<c_void>,
    ty: u32,
    serial: Serial,
}

// SAFETY: the C side allows any thread to use a context as long as no two do so at
// once, and guarantee L sees to that. `Doomed` values are pointers that only the
// holder of the lock follows.
unsafe impl Send for Core {}
// SAFETY: as above.
unsafe impl Sync for Core {}

/// The lock of a context, held.
pub(super) struct Locked<'a> {
    core: &'a Core,
    guard: Option<MutexGuard<'a, State>>,
}

impl Core {
    /// Makes a context, with no policy: see `start`.
    pub(crate) fn new(table: &'static Table, settings: &[Setting]) -> Result<Arc<Core>> {
        let settings = settings.to_vec();
        let for_c: Vec<c::Setting> = settings.iter().map(Setting::to_c).collect();
        let mut status = c::FUT_LOST as i32;
        let new = table.raw().context_new.expect("a table has context_new");
        // SAFETY: T; `for_c` holds as many settings as said, whose text lives in `settings`.
        let context = unsafe { new(for_c.as_ptr(), for_c.len() as u32, &raw mut status) };
        let Some(context) = NonNull::new(context) else {
            return Err(Error::new(
                Kind::OutOfMemory,
                "context",
                "no memory for a context",
            ));
        };
        let core = Core {
            table,
            context,
            lock: Mutex::default(),
            waiting: Mutex::default(),
            any_waiting: AtomicBool::new(false),
            lent_to: Mutex::default(),
            _settings: settings,
        };
        if status as u32 == c::FUT_OK {
            return Ok(Arc::new(core));
        }
        let mut locked = core.locked();
        let mut error = locked.error(status, || format!("{} context", table.backend()).into());
        drop(locked);
        // Other kinds describe a failing call, but this one made no context.
        if !matches!(
            error.kind(),
            Kind::OutOfMemory | Kind::Load | Kind::InvalidArgument
        ) {
            error = error.into_kind(Kind::Start);
        }
        Err(error)
    }

    pub(crate) fn table(&self) -> &'static Table {
        self.table
    }

    pub(super) fn context(&self) -> *mut c::Context {
        self.context.as_ptr()
    }

    /// Waits for the running call, if there is one, and takes the lock.
    #[inline]
    pub(super) fn locked(&self) -> Locked<'_> {
        let guard = match self.lock.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => self.waited(),
        };
        if self.any_waiting.load(Ordering::Acquire) {
            return self.locked_and_swept(guard);
        }
        // Nobody has taken its address, so it is made where the caller wants it. Moving
        // it right after it was written would stall for as long as an atomic operation.
        Locked {
            core: self,
            guard: Some(guard),
        }
    }

    /// The lock, when whoever holds it is done.
    #[cold]
    fn waited(&self) -> MutexGuard<'_, State> {
        assert!(
            *self.lent() != Some(thread::current().id()),
            "a safe call was made inside of `with_raw` on the same context, and would wait for ever: \
             make it before or after"
        );
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To which thread the context is lent; its lock is held, then.
    pub(super) fn lent(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.lent_to.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    fn locked_and_swept<'a>(&'a self, guard: MutexGuard<'a, State>) -> Locked<'a> {
        let mut locked = Locked {
            core: self,
            guard: Some(guard),
        };
        locked.free_waiting();
        locked
    }

    /// The lock, unless a call is running.
    fn try_locked(&self) -> Option<Locked<'_>> {
        let guard = match self.lock.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(Locked {
            core: self,
            guard: Some(guard),
        })
    }

    /// Frees a value now, or as soon as the running call is over. Never blocks on a call.
    pub(super) fn free(&self, value: NonNull<c_void>, ty: u32, serial: Serial) {
        let doomed = Doomed { value, ty, serial };
        if let Some(mut locked) = self.try_locked() {
            locked.free(&doomed);
            return;
        }
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(doomed);
        self.any_waiting.store(true, Ordering::Release);
        // The call may have ended in between: look again, see `Locked::drop`.
        self.sweep();
    }

    /// Frees what waits, unless a call is running; its end will do it then.
    #[inline]
    fn sweep(&self) {
        // Pairs with itself: either this thread sees the lock free, or the one that
        // unlocks it sees `any_waiting`.
        fence(Ordering::SeqCst);
        if self.any_waiting.load(Ordering::Acquire) {
            self.sweep_now();
        }
    }

    #[cold]
    fn sweep_now(&self) {
        while self.any_waiting.load(Ordering::Acquire) {
            let Some(mut locked) = self.try_locked() else {
                return;
            };
            locked.free_waiting();
            // Not `Locked::drop`, which would come back here.
            locked.guard = None;
            std::mem::forget(locked);
            fence(Ordering::SeqCst);
        }
    }

    /// Ends the context, unless anything else still uses it, or something failed that nobody
    /// was told of yet.
    pub(crate) fn close(self: Arc<Core>) -> Result<(), (Arc<Core>, Error)> {
        // Whoever could make another owner would be one.
        let others = Arc::strong_count(&self) - 1;
        if others > 0 {
            let message = format!(
                "{others} values or other handles of the context are in use; drop them first"
            );
            let error = Error::new(Kind::InvalidArgument, "close", message);
            return Err((self, error));
        }
        match self.simple("close", |raw| raw.sync) {
            Ok(()) => Ok(()),
            Err(error) => Err((self, error)),
        }
    }

    /// An operation without arguments: sync, clear_caches, ….
    pub(crate) fn simple(
        &self,
        operation: &'static str,
        which: fn(&c::Raw) -> c::CallFn,
    ) -> Result<()> {
        let call = which(self.table.raw()).expect("a table has every operation on contexts");
        let mut locked = self.locked();
        locked.check([])?;
        // SAFETY: T and L; these operations take no arguments.
        unsafe { locked.call(call, &[], &[], || operation.into()) }?;
        if matches!(operation, "sync" | "clear_caches") {
            locked.confirm();
        }
        Ok(())
    }

    /// The report of the runtime, a JSON text.
    pub(crate) fn report(&self) -> Result<String> {
        let raw = self.table.raw();
        let call = raw.report.expect("a table has report");
        let free = raw.free_text.expect("a table has free_text");
        let mut text: *mut std::ffi::c_char = std::ptr::null_mut();
        let mut locked = self.locked();
        locked.check([])?;
        // SAFETY: T and L; the operation writes one pointer.
        unsafe { locked.call(call, &[(&raw mut text).cast()], &[], || "report".into()) }?;
        locked.confirm();
        // SAFETY: T: on success it is NUL-terminated text that is ours.
        let report = unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned();
        // SAFETY: T: text from `report` goes back by `free_text`.
        unsafe { free(text) };
        Ok(report)
    }

    /// Name and class of every tuning parameter.
    pub(crate) fn tuning_params(table: &Table) -> Vec<(String, String)> {
        let raw = table.raw();
        let text = |get: Option<unsafe extern "C" fn(u32) -> *const std::ffi::c_char>, i| {
            // SAFETY: T: any number may be asked for, constant text or NULL is the answer.
            let text = unsafe { get.expect("a table names its tuning parameters")(i) };
            if text.is_null() {
                return String::new();
            }
            // SAFETY: T: constant NUL-terminated text.
            unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned()
        };
        (0..raw.n_tuning_params)
            .map(|i| {
                (
                    text(raw.tuning_param_name, i),
                    text(raw.tuning_param_class, i),
                )
            })
            .collect()
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // The last value is gone, so nobody else is here.
        drop(self.locked());
        let free = self
            .table
            .raw()
            .context_free
            .expect("a table has context_free");
        // SAFETY: T; no value is left (each keeps the core alive, and those that waited
        // were freed just now), and the context is not used again.
        unsafe { free(self.context()) };
    }
}

impl Locked<'_> {
    /// Calls a function of the table and fetches its error: the choke point.
    ///
    /// # Safety
    ///
    /// `call` belongs to this context's table, and `out` and `input` hold what
    /// `futhark_table.h` says that it takes.
    pub(super) unsafe fn call(
        &mut self,
        call: c::Call,
        out: &[*mut c_void],
        input: &[*const c_void],
        operation: impl FnOnce() -> Call,
    ) -> Result<()> {
        // SAFETY: the caller vouches for the arguments; L: `self` is the lock.
        let status = unsafe { call(self.core.context(), out.as_ptr(), input.as_ptr()) };
        if status as u32 == c::FUT_OK {
            return Ok(());
        }
        Err(self.error(status, operation))
    }

    /// Whether a new call makes sense: reports what an earlier `free` could not tell
    /// anyone, and values whose computation failed.
    pub(super) fn check<'v>(&mut self, values: impl IntoIterator<Item = &'v Handle>) -> Result<()> {
        let gpu = self.core.table.is_gpu();
        let state = self.state();
        if let Some(error) = state.deferred.take() {
            let operation = error.operation().to_owned();
            return Err(error.into_earlier(operation.into()));
        }
        if gpu {
            for value in values {
                state.progress.verdict(value.serial())?;
            }
        }
        Ok(())
    }

    /// A wait succeeded: everything that was started is complete.
    pub(super) fn confirm(&mut self) {
        if self.core.table.is_gpu() {
            self.state().progress.confirm();
        }
    }

    /// A call succeeded whose results are still being computed.
    pub(super) fn start(&mut self, call: &'static str) -> Serial {
        if !self.core.table.is_gpu() {
            return 0;
        }
        let unchecked = there(self.core.table.raw().unchecked);
        // SAFETY: T and L.
        let unchecked = match unsafe { unchecked(self.core.context()) } {
            0 => Unchecked::Nothing,
            1 => Unchecked::Last,
            _ => Unchecked::Earlier,
        };
        self.state().progress.start(call, unchecked)
    }

    /// There is one more value of this serial.
    pub(super) fn hold(&mut self, serial: Serial) {
        if serial != 0 {
            self.state().progress.hold(serial);
        }
    }

    /// There is one value less of this serial: somebody else will free it.
    pub(super) fn let_go(&mut self, serial: Serial) {
        if serial != 0 {
            self.state().progress.release(serial);
        }
    }

    /// Keeps an error for the next call, unless one is kept already.
    pub(super) fn defer(&mut self, error: Error) {
        // Of a lost context nothing is expected any more.
        if error.kind() != Kind::ContextLost {
            self.state().deferred.get_or_insert(error);
        }
    }

    fn state(&mut self) -> &mut State {
        self.guard.as_mut().expect("held until it is dropped")
    }

    /// The error of the call that answered `status`.
    #[cold]
    fn error(&mut self, status: i32, operation: impl FnOnce() -> Call) -> Error {
        let status = status as u32;
        let is_gpu = self.core.table.is_gpu();
        let (own, mut other) = (self.failure(0), self.failure(1));
        let operation = operation();
        let state = self.state();
        if status == c::FUT_LOST {
            let error = own.unwrap_or_default().error(status, operation.clone());
            // A code says that the context was lost, not only refused to a forked process.
            return match &state.lost_in {
                Some(earlier) => error.with_origin(Origin::Earlier(Some(vec![earlier.clone()]))),
                None => {
                    state.lost_in = error.code().filter(|&code| code != 0).map(|_| operation);
                    error
                }
            };
        }
        let mut own = own.unwrap_or_default();
        // A code without a reason, and a reason that came later.
        if status == c::FUT_FAILED && own.is_silent() {
            own = other.take().unwrap_or(own);
        }
        let origin = own.origin(&state.progress, &operation);
        let is_suspect = own.origin != c::FUT_OF_CALL;
        let mut error = own.error(status, operation.clone()).with_origin(origin);
        // The C side has waited after the failure; what failed then is the second one.
        let waited = matches!(status, c::FUT_FAILED | c::FUT_MEMORY);
        if is_gpu && is_suspect {
            state.progress.fail(&error);
        }
        if let Some(other) = other {
            let origin = other.origin(&state.progress, &operation);
            let is_suspect = other.origin != c::FUT_OF_CALL;
            let other = other.error(c::FUT_FAILED, operation).with_origin(origin);
            if is_gpu && is_suspect {
                state.progress.fail(&other);
            }
            error = error.with_also(other);
        }
        if is_gpu && waited {
            state.progress.confirm();
        }
        error
    }

    /// Whether the last call, an entry point that failed, has refused its arguments because of
    /// their sizes.
    #[cold]
    pub(super) fn has_refused_sizes(&mut self) -> bool {
        let failure = self.failure(0);
        failure.is_some_and(|failure| failure.cause == c::FUT_CAUSE_SIZES)
    }

    /// What the C side says about the last call that failed.
    fn failure(&mut self, which: u32) -> Option<Failure> {
        let failure = there(self.core.table.raw().failure);
        // SAFETY: T and L.
        let failure = unsafe { failure(self.core.context(), which) };
        // SAFETY: T: NULL, or lives until the next call; L: there is none meanwhile.
        let failure = unsafe { failure.as_ref() }?;
        let text = |text: *const std::ffi::c_char| {
            if text.is_null() {
                return None;
            }
            // SAFETY: T: NUL-terminated text that lives until the next call; L: there is none meanwhile.
            let text = unsafe { CStr::from_ptr(text) };
            Some(text.to_string_lossy().into_owned())
        };
        Some(Failure {
            cause: failure.cause,
            origin: failure.origin,
            code: failure.code,
            words: text(failure.words),
            text: text(failure.text),
        })
    }

    fn free_waiting(&mut self) {
        while self.core.any_waiting.load(Ordering::Acquire) {
            // Cleared before the list is taken: what comes later sets it again.
            self.core.any_waiting.store(false, Ordering::Release);
            let list = std::mem::take(
                &mut *self
                    .core
                    .waiting
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner),
            );
            for doomed in &list {
                self.free(doomed);
            }
        }
    }

    fn free(&mut self, doomed: &Doomed) {
        self.let_go(doomed.serial);
        let ty = &self.core.table.types()[doomed.ty as usize];
        let free = ty.raw().free.expect("every type can be freed");
        // SAFETY: T and L; V: the value is of this type, and its owner gave it up.
        let result = unsafe { self.call(free, &[], &[doomed.value.as_ptr()], || "free".into()) };
        if let Err(error) = result {
            self.defer(error);
        }
    }
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.guard = None;
        self.core.sweep();
    }
}

/// What the driver says about the device that a context with these settings would use, where
/// the backend can tell: see `futhark_table.h` for its lines.
pub(crate) fn describe_device(table: &Table, settings: &[Setting]) -> Option<String> {
    let device = table.raw().device?;
    let for_c: Vec<c::Setting> = settings.iter().map(Setting::to_c).collect();
    // SAFETY: T; `for_c` holds as many settings as said, whose text lives in `settings`.
    let text = unsafe { device(for_c.as_ptr(), for_c.len() as u32) };
    if text.is_null() {
        return None;
    }
    // SAFETY: T: NUL-terminated text that is ours.
    let lines = unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned();
    let free = table.raw().free_text.expect("a table has free_text");
    // SAFETY: T: text from `device` goes back by `free_text`.
    unsafe { free(text) };
    Some(lines)
}

/// As the C side's `struct fut_failure`.
#[derive(Default)]
struct Failure {
    cause: u32,
    origin: u32,
    code: i32,
    words: Option<String>,
    text: Option<String>,
}

impl Failure {
    fn is_silent(&self) -> bool {
        self.words.is_none() && self.text.is_none()
    }

    /// The call that failed, where it is reported by `operation`.
    fn origin(&self, progress: &Progress, operation: &Call) -> Origin {
        let by_check = self.cause == c::FUT_CAUSE_PROGRAM;
        let suspects = match self.origin {
            c::FUT_OF_CALL => return Origin::Operation,
            _ => progress.suspects(by_check),
        };
        let others = suspects.map(|mut calls| {
            calls.retain(|call| self.origin == c::FUT_OF_EARLIER || call != operation);
            calls
        });
        // What a wait reports with nothing under way is a failure of the wait.
        let nothing = others.as_ref().is_some_and(Vec::is_empty);
        match self.origin {
            c::FUT_OF_EARLIER if by_check || !nothing => {
                Origin::Earlier(others.filter(|_| !nothing))
            }
            c::FUT_OF_EITHER if !nothing => Origin::Either(others),
            _ => Origin::Operation,
        }
    }

    fn error(self, status: u32, operation: Call) -> Error {
        let kind = match (status, self.cause) {
            (c::FUT_MEMORY, _) => Kind::OutOfMemory,
            (c::FUT_LOST, _) => Kind::ContextLost,
            (c::FUT_UNAVAILABLE, _) => Kind::Load,
            (c::FUT_REFUSED, _) | (_, c::FUT_CAUSE_ARGUMENT) => Kind::InvalidArgument,
            (_, c::FUT_CAUSE_PROGRAM | c::FUT_CAUSE_SIZES) => Kind::Program,
            _ => Kind::Backend,
        };
        let words = match self.words {
            Some(words) => words.into(),
            None if !self.is_silent() => "".into(),
            None if kind == Kind::OutOfMemory => "not enough memory".into(),
            None => Call::from(format!(
                "failed with code {} and without a message",
                self.code
            )),
        };
        Error::from_c(kind, operation, words, self.text, self.code)
    }
}

/// A function that every table has.
fn there<F>(function: Option<F>) -> F {
    function.expect("a table has every operation on contexts")
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("backend", &self.table.backend())
            .field("program", &self.table.program())
            .finish_non_exhaustive()
    }
}
