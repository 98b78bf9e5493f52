//! Configuration settings, as C takes them, and a writer that receives the runtime's log.
//!
//! # The log
//!
//! C calls [`write`](write()) in the middle of calls, on any thread of the context. The writer is code of the user, which
//! may use contexts, and a call inside of a call would change state of the runtime that belongs to the outer
//! one. So C only adds to a buffer, and the writer runs after the context's lock was released
//! ([`Log::deliver`]).

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use futhark_sys::table as c;

use super::sync::atomic::{AtomicBool, Ordering, fence};
use super::sync::{Mutex, PoisonError, TryLockError, lock};
use super::trace::expect_none_held;

/// One setting: `FUT_SET_…` and its value. Its text must outlive the context.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    what: u32,
    number: i64,
    text: Option<CString>,
    object: Object,
}

#[derive(Clone, Debug)]
enum Object {
    None,
    Log(Log),
    Queue(CommandQueue),
}

/// A `cl_command_queue` that its owner keeps alive.
#[derive(Clone, Copy, Debug)]
struct CommandQueue(NonNull<c_void>);

// SAFETY: OpenCL allows any thread to use a queue, also several at a time.
unsafe impl Send for CommandQueue {}
// SAFETY: as above.
unsafe impl Sync for CommandQueue {}

impl Setting {
    pub(crate) fn number(what: u32, number: impl Into<i64>) -> Setting {
        Setting {
            what,
            number: number.into(),
            text: None,
            object: Object::None,
        }
    }

    pub(crate) fn text(what: u32, text: CString) -> Setting {
        Setting {
            text: Some(text),
            ..Setting::number(what, 0)
        }
    }

    pub(crate) fn with_number(self, number: impl Into<i64>) -> Setting {
        let number = number.into();
        Setting { number, ..self }
    }

    pub(crate) fn log_to(log: Log) -> Setting {
        Setting {
            object: Object::Log(log),
            ..Setting::number(c::FUT_SET_LOG, 0)
        }
    }

    /// # Safety
    /// The pointer is a `cl_command_queue`, which lives until the contexts with this setting are
    /// created.
    pub(crate) unsafe fn command_queue(queue: NonNull<c_void>) -> Setting {
        Setting {
            object: Object::Queue(CommandQueue(queue)),
            ..Setting::number(c::FUT_SET_COMMAND_QUEUE, 0)
        }
    }

    pub(crate) fn is(&self, what: u32) -> bool {
        self.what == what
    }

    /// The text and the number of the last of these settings for `what`, which counts, as in the runtime.
    pub(crate) fn last(settings: &[Setting], what: u32) -> Option<(&str, i64)> {
        let setting = settings.iter().rfind(|setting| setting.is(what))?;
        // `Config` accepts only UTF-8.
        Some((setting.text.as_ref()?.to_str().ok()?, setting.number))
    }

    pub(super) fn log(&self) -> Option<Log> {
        match &self.object {
            Object::Log(log) => Some(log.clone()),
            Object::None | Object::Queue(_) => None,
        }
    }

    pub(crate) fn changes_code(&self) -> bool {
        !matches!(
            self.what,
            c::FUT_SET_CACHE_FILE
                | c::FUT_SET_PROFILING
                | c::FUT_SET_LOGGING
                | c::FUT_SET_NUM_THREADS
                | c::FUT_SET_DUMP_CODE
                | c::FUT_SET_LOAD_CODE
                | c::FUT_SET_LOG
                | c::FUT_SET_COMMAND_QUEUE
        )
    }

    /// The C struct, which points into `self`.
    pub(super) fn to_c(&self) -> c::Setting {
        c::Setting {
            what: self.what,
            number: self.number,
            text: self.text.as_deref().map_or(std::ptr::null(), CStr::as_ptr),
            object: match &self.object {
                Object::None => std::ptr::null(),
                Object::Log(log) => log.raw().cast(),
                Object::Queue(queue) => queue.0.as_ptr().cast_const(),
            },
        }
    }
}

/// Passes text that the runtime logged to the writer of these settings. The caller holds no lock.
pub(crate) fn deliver_log(settings: &[Setting]) {
    let logs = settings.iter().filter_map(Setting::log);
    logs.for_each(|log| log.deliver());
}

/// How often a delivery repeats because a writer caused more text. The rest comes with the next operation.
const MOST_ROUNDS: usize = 8;

thread_local! {
    /// While this thread delivers: the logs whose text its writers caused.
    static CAUSED: RefCell<Option<Vec<Log>>> = const { RefCell::new(None) };
    static QUIET: Cell<usize> = const { Cell::new(0) };
}

/// Suspends deliveries on this thread, which holds a lock of this crate.
pub(crate) struct Quiet(std::marker::PhantomData<*mut ()>);

impl Quiet {
    pub(crate) fn new() -> Quiet {
        QUIET.set(QUIET.get() + 1);
        Quiet(std::marker::PhantomData)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(QUIET.get() - 1);
    }
}

/// A writer, shared by the contexts of one configuration and its clones.
#[derive(Clone)]
pub(crate) struct Log(Arc<Target>);

struct Target {
    /// For C: its `data` points to this struct.
    raw: c::Log,
    /// Written by C, not yet passed to the writer.
    pending: Mutex<Vec<u8>>,
    any_pending: AtomicBool,
    writer: Mutex<Box<dyn Write + Send>>,
}

// SAFETY: the pointer in `raw` is used only to reach the other fields, which are `Sync`.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

impl Log {
    pub(crate) fn new(writer: Box<dyn Write + Send>) -> Log {
        Log(Arc::new_cyclic(|target: &Weak<Target>| Target {
            raw: c::Log {
                write: Some(write),
                data: target.as_ptr().cast_mut().cast(),
            },
            pending: Mutex::default(),
            any_pending: AtomicBool::new(false),
            writer: Mutex::new(writer),
        }))
    }

    pub(super) fn raw(&self) -> *const c::Log {
        &raw const self.0.raw
    }

    /// Passes the buffered text to the writer. The calling thread does not hold the lock of the log's context.
    #[inline]
    pub(super) fn deliver(&self) {
        if self.0.any_pending.load(Ordering::Acquire) {
            self.deliver_now();
        }
    }

    #[cold]
    fn deliver_now(&self) {
        if QUIET.get() > 0 {
            return;
        }
        let outermost = CAUSED.try_with(|caused| match &mut *caused.borrow_mut() {
            // Inside of a writer.
            Some(caused) => {
                if !caused.iter().any(|log| Arc::ptr_eq(&log.0, &self.0)) {
                    caused.push(self.clone());
                }
                false
            }
            caused @ None => {
                *caused = Some(Vec::new());
                true
            }
        });
        // While the thread ends, destructors of its variables can drop values. Another thread delivers their text.
        if outermost != Ok(true) {
            return;
        }
        expect_none_held();
        self.write_pending();
        for _ in 0..MOST_ROUNDS {
            let caused = CAUSED.with_borrow_mut(|caused| caused.as_mut().map(std::mem::take));
            let caused = caused.unwrap_or_default();
            if caused.is_empty() {
                break;
            }
            caused.iter().for_each(Log::write_pending);
        }
        // Drops logs, and with them writers, outside of the borrow.
        drop(CAUSED.take());
    }

    /// Writes the text, unless another thread is writing. That thread looks for more text after it has
    /// unlocked, so either it sees this text, or this thread sees that the writer is free.
    fn write_pending(&self) {
        for _ in 0..MOST_ROUNDS {
            fence(Ordering::SeqCst);
            if !self.0.any_pending.load(Ordering::Acquire) {
                return;
            }
            let mut writer = match self.0.writer.try_lock() {
                Ok(writer) => writer,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            self.0.any_pending.store(false, Ordering::Relaxed);
            let text = std::mem::take(&mut *lock(&self.0.pending));
            // The hook of the panic has printed its message.
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let _ = writer.write_all(&text).and_then(|()| writer.flush());
            }));
            // Dropping the payload of a panic could panic again.
            std::mem::forget(outcome);
        }
    }
}

impl Drop for Target {
    /// Drops the writer, whose destructor is code of the user, without a panic. A log can be dropped
    /// wherever an operation ends (`deliver_now`), and a panic there would unwind from the operation.
    fn drop(&mut self) {
        expect_none_held();
        let writer = self.writer.get_mut();
        let writer = writer.unwrap_or_else(PoisonError::into_inner);
        let writer = std::mem::replace(writer, Box::new(std::io::sink()));
        let outcome = catch_unwind(AssertUnwindSafe(|| drop(writer)));
        // As in `write_pending`.
        std::mem::forget(outcome);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// Called by C. Without memory the text is lost.
unsafe extern "C" fn write(data: *mut c_void, text: *const c_char, length: usize) {
    // SAFETY: T: `data` is that of `raw`, a `Target`: the context's settings own it, and C does not
    // call this after `context_free`.
    let target = unsafe { &*data.cast::<Target>() };
    // SAFETY: T: `text` has this length.
    let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    let mut pending = lock(&target.pending);
    if pending.try_reserve(length).is_ok() {
        pending.extend_from_slice(text);
        drop(pending);
        target.any_pending.store(true, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::fake_tests::models::explore;

    struct Writer(Arc<std::sync::Mutex<Vec<u8>>>);

    impl Write for Writer {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(text)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Two threads log and deliver: one of them passes all text on, once.
    #[test]
    fn all_text_is_delivered_when_both_threads_are_done() {
        explore("a log", Some(3), || {
            let written = Arc::new(std::sync::Mutex::default());
            let log = Log::new(Box::new(Writer(Arc::clone(&written))));
            let print = |log: &Log, text: &str| {
                // SAFETY: `data` is that of the log, and the text has this length.
                unsafe { write(log.0.raw.data, text.as_ptr().cast(), text.len()) };
                // Not by `deliver`: the threads of a model share the thread's list of logs.
                log.write_pending();
            };
            let theirs = log.clone();
            let other = loom::thread::spawn(move || print(&theirs, "a"));
            print(&log, "b");
            other.join().unwrap();
            let mut written = written.lock().unwrap().clone();
            written.sort_unstable();
            assert_eq!(written, b"ab");
        });
    }
}
