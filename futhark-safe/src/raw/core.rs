//! A context, its lock, and the values that wait to be freed.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, ThreadId};

use futhark_sys::table::{self as c, RawContext, Table};

use super::handle::Handle;
use super::progress::{Progress, Serial};
use super::setting::Setting;
use crate::cache::CacheFile;
use crate::error::{Error, Kind, Result};

/// A context of the C side with everything that it owns. Shared by all its values.
pub(crate) struct Core {
    table: &'static Table,
    context: NonNull<RawContext>,
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
    /// Makes a context.
    pub(crate) fn new(table: &'static Table, settings: &[Setting]) -> Result<Arc<Core>> {
        let settings = settings.to_vec();
        let for_c: Vec<c::Setting> = settings.iter().map(Setting::to_c).collect();
        // Other backends take a cache file and ignore it.
        let cache = settings.iter().filter_map(Setting::cache_file).next_back();
        let cache = cache.filter(|_| table.is_gpu()).map(|path| {
            let code: Vec<_> = settings.iter().filter(|s| s.changes_code()).collect();
            CacheFile::check(path, format!("{} {code:?}", table.program()))
        });
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
            if let Some(cache) = cache {
                cache.seal();
            }
            return Ok(Arc::new(core));
        }
        let mut locked = core.locked();
        let mut error = locked.error(status, || format!("{} context", table.backend()).into());
        drop(locked);
        // Whatever the reason, from outside it is that the context did not start.
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

    pub(super) fn context(&self) -> *mut RawContext {
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
        operation: impl FnOnce() -> std::borrow::Cow<'static, str>,
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
            return Err(error);
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
    pub(super) fn start(&mut self) -> Serial {
        if self.core.table.is_gpu() {
            self.state().progress.start()
        } else {
            0
        }
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
    fn error(
        &mut self,
        status: i32,
        operation: impl FnOnce() -> std::borrow::Cow<'static, str>,
    ) -> Error {
        let raw = self.core.table.raw();
        let message = raw.message.expect("a table has message");
        let code = raw.code.expect("a table has code");
        let late = raw.late.expect("a table has late");
        // SAFETY: T and L.
        let text = unsafe { message(self.core.context()) };
        let text = if text.is_null() {
            None
        } else {
            // SAFETY: T: NUL-terminated text that lives until the next call; L: there is none meanwhile.
            Some(
                unsafe { CStr::from_ptr(text) }
                    .to_string_lossy()
                    .into_owned(),
            )
        };
        // SAFETY: T and L.
        let code = unsafe { code(self.core.context()) };
        // SAFETY: T and L.
        let late = unsafe { late(self.core.context()) };
        // A scalar that is read inside of a call can show the failure of an earlier one.
        let suspect = late != 0 || text.as_deref().is_some_and(is_from_kernel);
        // Where something goes before it, that is this call's own failure.
        let place = usize::try_from(late - 1).unwrap_or(0);
        let of_wait = text.as_deref().and_then(|text| text.get(place..));
        let of_wait = of_wait.filter(|text| place > 0 && !text.is_empty());
        let of_earlier = of_wait.map(failure_of_wait);
        let error = classify(status as u32, code, text, operation());
        if suspect && self.core.table.is_gpu() && error.kind() != Kind::ContextLost {
            let progress = &mut self.state().progress;
            progress.fail(of_earlier.as_ref().unwrap_or(&error));
        }
        error
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

/// What `futhark_context_sync` answers when a kernel failed, and when anything else did.
const PROGRAM_ERROR: i32 = 2;
const ERROR: i32 = 1;

/// Messages of kernels have no "Error:" in front, those of host code do.
fn is_from_kernel(text: &str) -> bool {
    text.contains("-> #") && !text.starts_with("Error: ")
}

/// What a wait tells of an earlier call.
fn failure_of_wait(text: &str) -> Error {
    let code = if is_from_kernel(text) {
        PROGRAM_ERROR
    } else {
        ERROR
    };
    classify(c::FUT_FAILED, code, Some(text.to_owned()), "sync".into())
}

fn classify(
    status: u32,
    code: i32,
    text: Option<String>,
    operation: std::borrow::Cow<'static, str>,
) -> Error {
    let program = code == PROGRAM_ERROR
        || text.as_ref().is_some_and(|t| {
            t.starts_with("Error: ") || t.contains("\nBacktrace:\n") || t.contains("\n-> #0 ")
        });
    let kind = match status {
        c::FUT_MEMORY => Kind::OutOfMemory,
        c::FUT_LOST => Kind::ContextLost,
        c::FUT_UNAVAILABLE => Kind::Load,
        c::FUT_REFUSED => Kind::InvalidArgument,
        _ if program => Kind::Program,
        _ => Kind::Backend,
    };
    match text {
        Some(text) => Error::from_c(kind, operation, text, code),
        None if kind == Kind::OutOfMemory => {
            Error::from_c(kind, operation, "not enough memory".into(), code)
        }
        None => Error::silent(kind, operation, code),
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
