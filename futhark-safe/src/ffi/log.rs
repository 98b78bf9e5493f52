//! A writer that receives the runtime's log.

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futhark_sys::table as c;

thread_local! {
    /// Whether this thread is inside of a writer.
    static WRITING: Cell<bool> = const { Cell::new(false) };
}

/// A writer, shared by the contexts of one configuration and its clones.
#[derive(Clone)]
pub(crate) struct Log(Arc<Target>);

struct Target {
    /// For C: its `data` points to this struct.
    raw: c::Log,
    writer: Mutex<Box<dyn Write + Send>>,
}

// SAFETY: the pointer in `raw` is used only to reach `writer`, which a mutex protects.
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
            writer: Mutex::new(writer),
        }))
    }

    pub(super) fn raw(&self) -> *const c::Log {
        &raw const self.0.raw
    }

    /// Whether this thread is inside of a writer, so it holds the lock of a context.
    pub(super) fn is_writing() -> bool {
        WRITING.get()
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// Called by C during a call, on any thread of the context.
unsafe extern "C" fn write(data: *mut c_void, text: *const c_char, length: usize) {
    // SAFETY: T: `data` is that of `raw`, a `Target`: the context's settings own it, and C does not
    // call this after `context_free`.
    let target = unsafe { &*data.cast::<Target>() };
    // SAFETY: T: `text` has this length.
    let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    // A writer that makes calls, although it must not, would wait for itself.
    if WRITING.replace(true) {
        let _ = std::io::stderr().write_all(text);
        return;
    }
    // A panic must not reach C. The hook has printed its message.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut writer = target.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writer.write_all(text).and_then(|()| writer.flush());
    }));
    WRITING.set(false);
    // Dropping the payload of a panic could panic again.
    std::mem::forget(outcome);
}
