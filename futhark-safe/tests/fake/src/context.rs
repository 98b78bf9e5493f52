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
    /// The number of the last call by `enter`.
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

pub(crate) fn entering(number: Option<u32>, call: impl FnOnce() -> i32) -> i32 {
    NUMBER.set(number.unwrap_or(NUMBER.get()));
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
    /// GPU: the number of outcomes so far.
    outcomes: u64,
    /// GPU: whether results or transfers of the last call are pending.
    pub(crate) leaves: bool,
    /// GPU: the numbers of the calls with pending checks.
    checking: Vec<u32>,
    /// GPU: how many there were when the running call began.
    earlier: usize,
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
    /// What `raw` points to.
    /// Shared, because moving a box would invalidate the pointers in `raw`.
    _text: Option<Arc<CStr>>,
    _suspects: Arc<[u32]>,
}

pub(crate) type Answer = Result<(), Failure>;

pub(crate) struct Failure {
    status: u32,
    cause: u32,
    origin: u32,
    suspects: Vec<u32>,
    invalidates: u64,
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
            suspects: Vec::new(),
            invalidates: 0,
            code: 1,
            text: None,
        }
    }

    fn record(self, started: bool) -> Record {
        let suspects: Arc<[u32]> = self.suspects.into();
        let text = self.text.and_then(|text| CString::new(text).ok());
        let text: Option<Arc<CStr>> = text.map(Arc::from);
        let raw = c::Failure {
            cause: self.cause,
            origin: self.origin,
            code: self.code,
            words: std::ptr::null(),
            text: text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr()),
            started: started.into(),
            suspects: suspects.as_ptr(),
            n_suspects: suspects.len() as u32,
            invalidates: self.invalidates,
        };
        Record {
            raw,
            _text: text,
            _suspects: suspects,
        }
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
            outcomes: 0,
            leaves: false,
            checking: Vec::new(),
            earlier: 0,
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
        let (status, was_lost) = (failure.status, self.lost);
        self.lost |= status == c::FUT_LOST;
        let other = match self.lost {
            true => None,
            false => self.wait().err(),
        };
        let refused = status == c::FUT_REFUSED || failure.cause == c::FUT_CAUSE_SIZES;
        // The text of the cause can come with the wait.
        let (failure, other) = match other {
            Some(other) if status == c::FUT_FAILED && failure.text.is_none() => (other, None),
            other => (failure, other),
        };
        let own = failure.record(!refused && !was_lost);
        self.failures = [Some(own), other.map(|other| other.record(false))];
        status as i32
    }

    fn begin(&mut self) {
        self.leaves = false;
        self.earlier = self.checking.len();
    }

    /// GPU: starts a transfer, which is complete after the next wait.
    pub(crate) fn start(&mut self, transfer: Transfer) {
        self.transfers.push(transfer);
        self.leaves = true;
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
        self.wait_for(self.earlier > 0)
    }

    fn wait_for(&mut self, can_be_earlier: bool) -> Answer {
        self.transfer();
        let mut suspects = std::mem::take(&mut self.checking);
        let own = suspects.split_off(self.earlier.min(suspects.len()));
        self.outcomes += 1;
        (self.leaves, self.earlier) = (false, 0);
        let Some(text) = self.failing.take() else {
            return Ok(());
        };
        suspects.dedup();
        suspects.retain(|number| !own.contains(number));
        let origin = match (suspects.is_empty(), own.is_empty()) {
            (true, _) => c::FUT_OF_CALL,
            (false, true) => c::FUT_OF_EARLIER,
            (false, false) => c::FUT_OF_EITHER,
        };
        Err(Failure {
            cause: c::FUT_CAUSE_PROGRAM,
            origin,
            suspects,
            invalidates: if can_be_earlier { self.outcomes } else { 0 },
            ..Failure::new(c::FUT_FAILED, 2, text)
        })
    }

    /// As `wait`, for the work of several plain calls.
    pub(crate) fn wait_for_plain_calls(&mut self) -> Answer {
        self.wait_for(self.gpu)
    }

    /// GPU: records that this call has a pending check.
    pub(crate) fn check_later(&mut self) {
        self.checking.extend(self.gpu.then_some(NUMBER.get()));
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

    /// The failure of the last call was not its own.
    ///
    /// # Safety
    /// As for [`Context::enter`].
    pub(crate) unsafe fn did_not_start(ctx: *mut c::Context) {
        let mark = |context: &mut Context| {
            let record = context.failures[0].as_mut();
            record.expect("a call has failed").raw.started = 0;
        };
        // SAFETY: as the caller promises.
        unsafe { Context::alone(ctx, "a copy", mark) };
    }

    /// Frees the copy of an argument.
    ///
    /// # Safety
    /// As for [`Context::enter`].
    pub(crate) unsafe fn drop_copy(ctx: *mut c::Context, value: *mut c_void, ty: u32) {
        let free = |context: &mut Context| {
            let _ = context.release("a copy", value, ty);
        };
        // SAFETY: as the caller promises.
        unsafe { Context::alone(ctx, "a copy", free) };
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

pub(crate) unsafe extern "C" fn pending(ctx: *mut c::Context) -> u64 {
    let serial = |context: &mut Context| match context.leaves {
        true => context.outcomes + 1,
        false => 0,
    };
    // SAFETY: T: the context lives.
    unsafe { Context::alone(ctx, "pending", serial) }.unwrap_or(0)
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
