//! A context: its ledger of values, and what it says about failures.

use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use futhark_sys::table::{self as c, RawContext};

use super::value::{Array, Value};
use super::world::Journal;

/// What a [`RawContext`] of the fake program is.
struct Shell {
    /// A call is running.
    inside: AtomicBool,
    journal: Arc<Journal>,
    /// Only for the call that is running.
    context: UnsafeCell<Context>,
}

/// What a call works on.
pub(super) struct Context {
    pub(super) journal: Arc<Journal>,
    pub(super) gpu: bool,
    /// Every live value by its address, with its type.
    ledger: HashMap<usize, (*mut Value, u32)>,
    /// A constant of the program, which results may share.
    pub(super) constant: Array,
    /// GPU: a computation has failed, which the next wait will show.
    pub(super) failing: Option<String>,
    /// Plain calls may come, and nothing else.
    pub(super) lent: bool,
    /// What a plain call has left behind.
    pub(super) left: Option<Failure>,
    /// The context cannot be lent next time.
    pub(super) stalled: bool,
    lost: bool,
    message: Option<CString>,
    code: i32,
    late: i32,
}

/// How a call ends.
pub(super) type Answer = Result<(), Failure>;

/// Why a call did not succeed.
pub(super) struct Failure {
    status: u32,
    code: i32,
    text: Option<String>,
    late: bool,
}

impl Failure {
    pub(super) fn new(status: u32, code: i32, text: impl Into<String>) -> Failure {
        Failure {
            status,
            code,
            text: Some(text.into()),
            late: false,
        }
    }

    /// A failure of an entry point that the host notices, worded as the runtime does.
    pub(super) fn program(text: &str) -> Failure {
        Failure::new(
            c::FUT_FAILED,
            2,
            format!("Error: {text}\n\nBacktrace:\n-> #0  fake.fut:1:1-2\n"),
        )
    }

    pub(super) fn silent() -> Failure {
        Failure {
            status: c::FUT_FAILED,
            code: 1,
            text: None,
            late: false,
        }
    }
}

impl Context {
    fn new(gpu: bool) -> Context {
        let journal = Journal::current();
        journal.count_context();
        Context {
            journal,
            gpu,
            ledger: HashMap::new(),
            constant: Array::of_ints([10, 20, 30, 40]),
            failing: None,
            lent: false,
            left: None,
            stalled: false,
            lost: false,
            message: None,
            code: 0,
            late: 0,
        }
    }

    /// Runs `body` as a call, alone. A lost context is not entered.
    ///
    /// # Safety
    ///
    /// `ctx` came out of [`context_new`] and was not freed.
    pub(super) unsafe fn enter(
        ctx: *mut RawContext,
        what: &str,
        body: impl FnOnce(&mut Context) -> Answer,
    ) -> i32 {
        // SAFETY: as the caller promises.
        unsafe {
            Context::alone(ctx, what, |context| {
                if context.lost {
                    let text = "the context was lost in an earlier call; make a new one";
                    return context.settle(Err(Failure::new(c::FUT_LOST, -1, text)));
                }
                let answer = match context.lent {
                    true => {
                        Err(context.breach(format!("{what} was called in a context that is lent")))
                    }
                    false => body(context),
                };
                context.settle(answer)
            })
        }
        .unwrap_or(c::FUT_FAILED as i32)
    }

    /// `body` with nobody else in the context; `None` if there is somebody.
    ///
    /// # Safety
    ///
    /// As for [`Context::enter`].
    pub(super) unsafe fn alone<T>(
        ctx: *mut RawContext,
        what: &str,
        body: impl FnOnce(&mut Context) -> T,
    ) -> Option<T> {
        // SAFETY: the context lives; what a call changes is in a cell.
        let shell = unsafe { &*ctx.cast::<Shell>() };
        if shell.inside.swap(true, Relaxed) {
            let text = format!("{what} was called while another call was running");
            shell.journal.violation(text);
            return None;
        }
        // SAFETY: the flag was free, so nobody else has borrowed it.
        let result = body(unsafe { &mut *shell.context.get() });
        shell.inside.store(false, Relaxed);
        Some(result)
    }

    /// Ends a call as futhark-sys does: keeps the message, and after a failure waits for
    /// what is still under way, which may have failed as well.
    fn settle(&mut self, answer: Answer) -> i32 {
        let Err(mut failure) = answer else {
            return c::FUT_OK as i32;
        };
        let mut place = 0;
        if let Err(other) = self.wait() {
            const FURTHERMORE: &str = "\nFurthermore: ";
            if let (false, Some(own)) = (failure.late, &failure.text) {
                place = own.len() + FURTHERMORE.len();
            }
            failure.late = true;
            let both = [failure.text.take(), other.text].into_iter().flatten();
            failure.text = Some(both.collect::<Vec<_>>().join(FURTHERMORE));
        }
        self.lost |= failure.status == c::FUT_LOST;
        self.message = failure.text.and_then(|text| CString::new(text).ok());
        self.code = failure.code;
        if failure.late {
            self.late = 1 + i32::try_from(place).expect("messages are short");
        }
        failure.status as i32
    }

    /// GPU: waits for everything that was started.
    pub(super) fn wait(&mut self) -> Answer {
        match self.failing.take() {
            None => Ok(()),
            Some(text) => Err(Failure {
                status: c::FUT_FAILED,
                code: 2,
                text: Some(text),
                late: true,
            }),
        }
    }

    /// The value of a pointer that a call was given.
    pub(super) fn find(
        &self,
        what: &str,
        value: *const c_void,
        ty: u32,
    ) -> Result<&Value, Failure> {
        match self.ledger.get(&value.addr()) {
            Some(&(value, is)) if is == ty => {
                // SAFETY: in the ledger are the values that were made and not freed.
                Ok(unsafe { &*value })
            }
            Some((_, is)) => {
                Err(self.breach(format!("{what} was given a value of type {is} for {ty}")))
            }
            None => Err(self.breach(format!("{what} was given no value of this context"))),
        }
    }

    pub(super) fn breach(&self, text: String) -> Failure {
        self.journal.violation(text.clone());
        Failure::new(c::FUT_FAILED, 1, text)
    }

    /// Makes a value.
    pub(super) fn adopt(&mut self, value: Value, ty: u32) -> *mut c_void {
        let pointer = Box::into_raw(Box::new(value));
        self.ledger.insert(pointer.addr(), (pointer, ty));
        self.journal.count_value();
        pointer.cast()
    }

    /// Frees a value.
    pub(super) fn release(&mut self, what: &str, value: *mut c_void, ty: u32) -> Answer {
        self.find(what, value, ty)?;
        self.ledger.remove(&value.addr());
        self.journal.uncount_value();
        // SAFETY: it was in the ledger, so `adopt` made it and nobody has freed it.
        drop(unsafe { Box::from_raw(value.cast::<Value>()) });
        Ok(())
    }

    /// Frees a value also in a lost context, to which the table answers the same in any case.
    ///
    /// # Safety
    ///
    /// As for [`Context::enter`].
    pub(super) unsafe fn free(ctx: *mut RawContext, value: *mut c_void, ty: u32) -> i32 {
        // SAFETY: as the caller promises.
        unsafe {
            Context::alone(ctx, "free", |context| {
                if context.lent {
                    context.breach("free was called in a context that is lent".to_owned());
                }
                let mut answer = context.release("free", value, ty);
                if context.lost {
                    answer = Err(Failure::new(c::FUT_LOST, -1, "lost"));
                } else if answer.is_ok() && context.journal.free_fails() {
                    answer = Err(Failure::new(c::FUT_FAILED, 1, "the device refused to free"));
                }
                context.settle(answer)
            })
        }
        .unwrap_or(c::FUT_FAILED as i32)
    }
}

/// A device is found unless it is named `none`; a debugging context has no memory.
pub(super) unsafe extern "C" fn context_new<const GPU: bool>(
    settings: *const c::Setting,
    n: u32,
    status: *mut i32,
) -> *mut RawContext {
    let mut context = Context::new(GPU);
    let settings = match n {
        0 => &[],
        // SAFETY: T: so many settings are there.
        n => unsafe { std::slice::from_raw_parts(settings, n as usize) },
    };
    let mut answer = Ok(());
    for setting in settings {
        answer = match setting.what {
            c::FUT_SET_DEBUGGING => Err(Failure {
                status: c::FUT_MEMORY,
                ..Failure::silent()
            }),
            c::FUT_SET_DEVICE if !GPU => Err(Failure::new(c::FUT_REFUSED, 0, "no devices here")),
            c::FUT_SET_DEVICE => {
                // SAFETY: T: this setting comes with NUL-terminated text.
                let name = unsafe { std::ffi::CStr::from_ptr(setting.text) };
                match name.to_bytes() {
                    b"none" => Err(Failure::new(c::FUT_FAILED, 1, "no acceptable device")),
                    _ => answer,
                }
            }
            _ => answer,
        };
    }
    let answer = context.settle(answer);
    // SAFETY: T: there is room for a status.
    unsafe { status.write(answer) };
    let shell = Shell {
        inside: AtomicBool::new(false),
        journal: Arc::clone(&context.journal),
        context: UnsafeCell::new(context),
    };
    Box::into_raw(Box::new(shell)).cast()
}

pub(super) unsafe extern "C" fn context_free(ctx: *mut RawContext) {
    let free = |context: &mut Context| {
        context.journal.uncount_context();
        let left = std::mem::take(&mut context.ledger);
        if !left.is_empty() {
            context.breach(format!("a context was freed with {} values", left.len()));
        }
        for (value, _) in left.into_values() {
            context.journal.uncount_value();
            // SAFETY: it was in the ledger, so `adopt` made it and nobody has freed it.
            drop(unsafe { Box::from_raw(value) });
        }
    };
    // SAFETY: T: the context lives.
    let alone = unsafe { Context::alone(ctx, "context_free", free) };
    if alone.is_some() {
        // SAFETY: `context_new` boxed it, and it is freed once.
        drop(unsafe { Box::from_raw(ctx.cast::<Shell>()) });
    }
}

pub(super) unsafe extern "C" fn message(ctx: *mut RawContext) -> *const c_char {
    let text = |context: &mut Context| {
        let text = context.message.as_ref();
        text.map_or(std::ptr::null(), |text| text.as_ptr())
    };
    // SAFETY: T: the context lives.
    unsafe { Context::alone(ctx, "message", text) }.unwrap_or(std::ptr::null())
}

pub(super) unsafe extern "C" fn code(ctx: *mut RawContext) -> i32 {
    // SAFETY: T: the context lives.
    unsafe { Context::alone(ctx, "code", |context| context.code) }.unwrap_or(0)
}

pub(super) unsafe extern "C" fn late(ctx: *mut RawContext) -> i32 {
    let take = |context: &mut Context| std::mem::take(&mut context.late);
    // SAFETY: T: the context lives.
    unsafe { Context::alone(ctx, "late", take) }.unwrap_or(0)
}
