//! A context: its ledger of values, and its failures.

use std::cell::{Cell, UnsafeCell};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use futhark_sys::table as c;

use crate::value::{Array, Value, Word};
use crate::world::Journal;

thread_local! {
    /// Whether this thread runs a call by `enter`, or `take_back`.
    static ENTERED: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn entering(call: impl FnOnce() -> i32) -> i32 {
    ENTERED.set(true);
    let status = call();
    ENTERED.set(false);
    status
}

/// The target of a `*mut` [`c::Context`].
struct Shell {
    /// Whether a call is running.
    inside: AtomicBool,
    journal: Arc<Journal>,
    /// Accessed only by the running call.
    context: UnsafeCell<Context>,
    /// Reports accesses that no lock orders.
    #[cfg(loom)]
    accesses: loom::cell::UnsafeCell<()>,
}

/// The state that calls access.
pub(crate) struct Context {
    pub(crate) journal: Arc<Journal>,
    pub(crate) gpu: bool,
    /// Every live value by its address, with its type.
    ledger: HashMap<usize, (*mut Value, u32)>,
    /// A constant of the program, whose memory results may share.
    pub(crate) constant: Array,
    /// GPU: the text of a failed computation, which the next wait reports.
    pub(crate) failing: Option<String>,
    /// GPU: the calls with pending checks, as the table's `unchecked` returns them.
    pub(crate) unchecked: i32,
    /// Whether this call has waited.
    waited: bool,
    /// GPU: whether earlier calls had pending checks when the running call began.
    pending: bool,
    /// GPU: transfers that the next wait completes.
    transfers: Vec<Transfer>,
    /// Lent: only plain calls are allowed.
    pub(crate) lent: bool,
    /// The failure of a plain call that was not fetched yet.
    pub(crate) left: Option<Failure>,
    /// The next attempt to lend the context fails.
    pub(crate) stalled: bool,
    lost: bool,
    failures: [Option<Record>; 2],
    log: Option<c::Log>,
}

/// A transfer with `later`.
pub(crate) enum Transfer {
    /// The words that were read, which are compared with the memory at the wait.
    Upload(Vec<Word>, *const u8),
    /// The words that are written to the memory at the wait.
    Download(Vec<Word>, *mut u8),
}

/// A failure in the table's form.
struct Record {
    raw: c::Failure,
    /// The text that `raw` points to.
    /// Shared, because moving a box would invalidate the pointer in `raw`.
    _text: Option<Arc<CStr>>,
}

pub(crate) type Answer = Result<(), Failure>;

pub(crate) struct Failure {
    status: u32,
    cause: u32,
    origin: u32,
    code: i32,
    text: Option<String>,
}

impl Failure {
    pub(crate) fn new(status: u32, code: i32, text: impl Into<String>) -> Failure {
        Failure {
            status,
            code,
            text: Some(text.into()),
            ..Failure::silent()
        }
    }

    /// A failure of an entry point on the host, in the runtime's wording.
    pub(crate) fn program(text: &str) -> Failure {
        let text = format!("Error: {text}\n\nBacktrace:\n-> #0  fake.fut:1:1-2\n");
        Failure {
            cause: c::FUT_CAUSE_PROGRAM,
            ..Failure::new(c::FUT_FAILED, 2, text)
        }
    }

    /// The failure of an operation on values that rejects its arguments.
    pub(crate) fn argument(text: &str) -> Failure {
        Failure {
            cause: c::FUT_CAUSE_ARGUMENT,
            ..Failure::new(c::FUT_FAILED, 1, text)
        }
    }

    pub(crate) fn silent() -> Failure {
        Failure {
            status: c::FUT_FAILED,
            cause: c::FUT_CAUSE_UNKNOWN,
            origin: c::FUT_OF_CALL,
            code: 1,
            text: None,
        }
    }

    fn record(self) -> Record {
        let text = self.text.and_then(|text| CString::new(text).ok());
        let text: Option<Arc<CStr>> = text.map(Arc::from);
        let raw = c::Failure {
            cause: self.cause,
            origin: self.origin,
            code: self.code,
            words: std::ptr::null(),
            text: text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr()),
        };
        Record { raw, _text: text }
    }
}

impl Context {
    fn new(gpu: bool) -> Context {
        let journal = Journal::current();
        journal.contexts.fetch_add(1, Relaxed);
        Context {
            journal,
            gpu,
            ledger: HashMap::new(),
            constant: Array::of_ints([10, 20, 30, 40]),
            failing: None,
            unchecked: 0,
            waited: false,
            pending: false,
            transfers: Vec::new(),
            lent: false,
            left: None,
            stalled: false,
            lost: false,
            failures: [None, None],
            log: None,
        }
    }

    /// Runs `body` as a call, unless the context is lost or lent.
    ///
    /// # Safety
    /// [`context_new`] made `ctx`, and it was not freed.
    pub(crate) unsafe fn enter(
        ctx: *mut c::Context,
        what: &str,
        body: impl FnOnce(&mut Context) -> Answer,
    ) -> i32 {
        // SAFETY: as the caller promises.
        unsafe {
            Context::alone(ctx, what, |context| {
                if context.lost {
                    let text = "the context was lost in an earlier call; create a new one";
                    return context.settle(Err(Failure::new(c::FUT_LOST, -1, text)));
                }
                let answer = if context.lent {
                    Err(context.breach(format!("{what} was called in a context that is lent")))
                } else if !ENTERED.get() {
                    Err(context.breach(format!("{what} was not called by `enter`")))
                } else {
                    context.begin();
                    body(context)
                };
                context.settle(answer)
            })
        }
        .unwrap_or(c::FUT_FAILED as i32)
    }

    /// Runs `body` with exclusive access. `None`, and a violation, if a call is running.
    ///
    /// # Safety
    /// As for [`Context::enter`].
    pub(crate) unsafe fn alone<T>(
        ctx: *mut c::Context,
        what: &str,
        body: impl FnOnce(&mut Context) -> T,
    ) -> Option<T> {
        // SAFETY: the context lives; the state that calls change is in a cell.
        let shell = unsafe { &*ctx.cast::<Shell>() };
        if shell.inside.swap(true, Relaxed) {
            let text = format!("{what} was called while another call was running");
            shell.journal.violation(text);
            return None;
        }
        #[cfg(loom)]
        shell.accesses.with_mut(|_| ());
        // SAFETY: the flag was not set, so no other call borrows it.
        let result = body(unsafe { &mut *shell.context.get() });
        shell.inside.store(false, Relaxed);
        Some(result)
    }

    /// Ends a call as futhark-sys does: keeps the message, and after a failure waits for
    /// pending work, which may have failed as well.
    fn settle(&mut self, answer: Answer) -> i32 {
        let Err(failure) = answer else {
            return c::FUT_OK as i32;
        };
        self.lost |= failure.status == c::FUT_LOST;
        let other = match self.lost {
            true => None,
            false => self.wait().err(),
        };
        let status = failure.status as i32;
        self.failures = [Some(failure.record()), other.map(Failure::record)];
        status
    }

    fn begin(&mut self) {
        self.waited = false;
        self.pending = self.unchecked != 0;
        if self.pending {
            self.unchecked = 2;
        }
    }

    /// GPU: starts a transfer, which is complete after the next wait.
    pub(crate) fn start(&mut self, transfer: Transfer) {
        self.transfers.push(transfer);
    }

    /// Completes the transfers.
    fn transfer(&mut self) {
        for transfer in std::mem::take(&mut self.transfers) {
            match transfer {
                Transfer::Upload(words, data) => {
                    let mut now = words.clone();
                    // SAFETY: T: the caller keeps the data until a wait.
                    unsafe { data.copy_to_nonoverlapping(now.as_mut_ptr().cast(), 4 * now.len()) };
                    if now.iter().zip(&words).any(|(now, word)| now.0 != word.0) {
                        self.breach("the data of an upload changed before a wait".to_owned());
                    }
                }
                Transfer::Download(words, place) => {
                    let words_ = words.as_ptr().cast::<u8>();
                    // SAFETY: T: the caller keeps the place until a wait.
                    unsafe { words_.copy_to_nonoverlapping(place, 4 * words.len()) };
                }
            }
        }
    }

    /// GPU: waits for pending work.
    pub(crate) fn wait(&mut self) -> Answer {
        self.transfer();
        let own = std::mem::take(&mut self.unchecked) == 1;
        let origin = match (self.pending, own) {
            (false, _) => c::FUT_OF_CALL,
            (true, false) => c::FUT_OF_EARLIER,
            (true, true) => c::FUT_OF_EITHER,
        };
        self.waited = self.failing.is_none();
        match self.failing.take() {
            None => Ok(()),
            Some(text) => Err(Failure {
                cause: c::FUT_CAUSE_PROGRAM,
                origin,
                ..Failure::new(c::FUT_FAILED, 2, text)
            }),
        }
    }

    /// As `wait`, for the work of several plain calls.
    pub(crate) fn wait_for_plain_calls(&mut self) -> Answer {
        self.pending = self.gpu;
        self.unchecked = self.unchecked.min(1);
        self.wait()
    }

    /// GPU: records that this call has a pending check.
    pub(crate) fn check_later(&mut self) {
        self.unchecked = i32::from(self.gpu);
    }

    /// The value that an argument points to.
    pub(crate) fn find(
        &self,
        what: &str,
        value: *const c_void,
        ty: u32,
    ) -> Result<&Value, Failure> {
        match self.ledger.get(&value.addr()) {
            Some(&(value, is)) if is == ty => {
                // SAFETY: the ledger contains the values that were made and not freed.
                Ok(unsafe { &*value })
            }
            Some((_, is)) => Err(self.breach(format!(
                "{what}: expected a value of type {ty}, got one of type {is}"
            ))),
            None => Err(self.breach(format!("{what}: expected a value of this context"))),
        }
    }

    pub(crate) fn breach(&self, text: String) -> Failure {
        self.journal.violation(text.clone());
        Failure::new(c::FUT_FAILED, 1, text)
    }

    pub(crate) fn adopt(&mut self, value: Value, ty: u32) -> *mut c_void {
        let pointer = Box::into_raw(Box::new(value));
        self.ledger.insert(pointer.addr(), (pointer, ty));
        self.journal.values.fetch_add(1, Relaxed);
        pointer.cast()
    }

    /// Writes text to the log, if there is one.
    pub(crate) fn print(&self, text: &str) {
        let log = self.log.as_ref();
        if let Some((write, data)) = log.and_then(|log| Some((log.write?, log.data))) {
            // SAFETY: T: the log may be called until the context is freed.
            unsafe { write(data, text.as_ptr().cast(), text.len()) };
        }
    }

    pub(crate) fn release(&mut self, what: &str, value: *mut c_void, ty: u32) -> Answer {
        self.find(what, value, ty)?;
        self.ledger.remove(&value.addr());
        self.journal.values.fetch_sub(1, Relaxed);
        // SAFETY: it was in the ledger, so `adopt` made it and it was not freed.
        drop(unsafe { Box::from_raw(value.cast::<Value>()) });
        Ok(())
    }

    /// Frees a value, also in a lost context, where the call still returns `FUT_LOST`.
    ///
    /// # Safety
    /// As for [`Context::enter`].
    pub(crate) unsafe fn free(ctx: *mut c::Context, value: *mut c_void, ty: u32) -> i32 {
        // SAFETY: as the caller promises.
        unsafe {
            Context::alone(ctx, "free", |context| {
                if context.lent {
                    context.breach("free was called in a context that is lent".to_owned());
                }
                if !ENTERED.get() {
                    context.breach("free was not called by `enter`".to_owned());
                }
                context.begin();
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

/// Makes a context. Fails for a device named `none`, and is out of memory with debugging.
pub(crate) unsafe extern "C" fn context_new<const GPU: bool>(
    settings: *const c::Setting,
    n: u32,
    status: *mut i32,
) -> *mut c::Context {
    let mut context = Context::new(GPU);
    let settings = match n {
        0 => &[],
        // SAFETY: T: there are `n` settings.
        n => unsafe { std::slice::from_raw_parts(settings, n as usize) },
    };
    let mut answer = Ok(());
    for setting in settings {
        answer = match setting.what {
            c::FUT_SET_DEBUGGING => Err(Failure {
                status: c::FUT_MEMORY,
                ..Failure::silent()
            }),
            c::FUT_SET_LOG => {
                // SAFETY: T: this setting comes with a log.
                context.log = Some(unsafe { setting.object.cast::<c::Log>().read() });
                answer
            }
            c::FUT_SET_DEVICE if !GPU => Err(Failure::new(c::FUT_REFUSED, 0, "no devices here")),
            c::FUT_SET_DEVICE => {
                // SAFETY: T: this setting comes with NUL-terminated text.
                let name = unsafe { CStr::from_ptr(setting.text) };
                match name.to_bytes() {
                    b"none" => Err(Failure::new(c::FUT_FAILED, 1, "no acceptable device")),
                    _ => answer,
                }
            }
            _ => answer,
        };
    }
    let answer = context.settle(answer);
    // SAFETY: T: `status` is writable.
    unsafe { status.write(answer) };
    let shell = Shell {
        inside: AtomicBool::new(false),
        journal: Arc::clone(&context.journal),
        context: UnsafeCell::new(context),
        #[cfg(loom)]
        accesses: loom::cell::UnsafeCell::new(()),
    };
    Box::into_raw(Box::new(shell)).cast()
}

pub(crate) unsafe extern "C" fn context_free(ctx: *mut c::Context) {
    let free = |context: &mut Context| {
        context.journal.contexts.fetch_sub(1, Relaxed);
        let left = std::mem::take(&mut context.ledger);
        if !left.is_empty() {
            context.breach(format!("a context was freed with {} values", left.len()));
        }
        for (value, _) in left.into_values() {
            context.journal.values.fetch_sub(1, Relaxed);
            // SAFETY: it was in the ledger, so `adopt` made it and it was not freed.
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

pub(crate) unsafe extern "C" fn failure(ctx: *mut c::Context, which: u32) -> *const c::Failure {
    let record = |context: &mut Context| {
        let record = context.failures[which as usize].as_ref();
        record.map_or(std::ptr::null(), |record| &raw const record.raw)
    };
    // SAFETY: T: the context lives.
    unsafe { Context::alone(ctx, "failure", record) }.unwrap_or(std::ptr::null())
}

pub(crate) unsafe extern "C" fn unchecked(ctx: *mut c::Context) -> i32 {
    // SAFETY: T: the context lives.
    unsafe { Context::alone(ctx, "unchecked", |context| context.unchecked) }.unwrap_or(0)
}

pub(crate) unsafe extern "C" fn waited(ctx: *mut c::Context) -> i32 {
    // SAFETY: T: the context lives.
    let waited = unsafe { Context::alone(ctx, "waited", |context| context.waited) };
    waited.unwrap_or(false).into()
}

/// Waits for the device, also in a lost context, unless [`World::break_driver`](crate::World::break_driver).
pub(crate) unsafe extern "C" fn drain(ctx: *mut c::Context) -> i32 {
    let wait = |context: &mut Context| {
        if context.journal.driver_is_broken() {
            return c::FUT_LOST;
        }
        context.transfer();
        c::FUT_OK
    };
    // SAFETY: T: the context lives.
    let status = unsafe { Context::alone(ctx, "drain", wait) };
    status.unwrap_or(c::FUT_LOST) as i32
}
