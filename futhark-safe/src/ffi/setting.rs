//! One configuration setting, as C takes it.

use std::ffi::{CStr, CString, c_void};
use std::ptr::NonNull;

use futhark_sys::table as c;

use super::log::Log;

/// One setting: `FUT_SET_…` and its value. Its text must outlive the context.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    what: u32,
    number: i64,
    text: Option<CString>,
    log: Option<Log>,
    queue: Option<CommandQueue>,
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
            log: None,
            queue: None,
        }
    }

    pub(crate) fn text(what: u32, text: CString) -> Setting {
        let text = Some(text);
        Setting {
            text,
            ..Setting::number(what, 0)
        }
    }

    pub(crate) fn with_number(self, number: impl Into<i64>) -> Setting {
        let number = number.into();
        Setting { number, ..self }
    }

    pub(crate) fn log_to(log: Log) -> Setting {
        let log = Some(log);
        Setting {
            log,
            ..Setting::number(c::FUT_SET_LOG, 0)
        }
    }

    /// # Safety
    ///
    /// The pointer is a `cl_command_queue`, which lives until the contexts with this setting are
    /// created.
    pub(crate) unsafe fn command_queue(queue: NonNull<c_void>) -> Setting {
        let queue = Some(CommandQueue(queue));
        Setting {
            queue,
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
        self.log.clone()
    }

    /// Whether the compiled device code depends on this setting.
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
        let log = self.log.as_ref().map(|log| log.raw().cast());
        let object = log.or(self.queue.map(|queue| queue.0.as_ptr().cast_const()));
        c::Setting {
            what: self.what,
            number: self.number,
            text: self.text.as_deref().map_or(std::ptr::null(), CStr::as_ptr),
            object: object.unwrap_or_default(),
        }
    }
}

/// Passes text that the runtime logged to the writer of these settings. The caller holds no lock.
pub(crate) fn deliver_log(settings: &[Setting]) {
    let logs = settings.iter().filter_map(Setting::log);
    logs.for_each(|log| log.deliver());
}
