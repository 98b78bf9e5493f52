//! Plain C calls beside safe ones: a context is lent for the length of a closure.

use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use futhark_manifest::Backend;
use futhark_sys::table::CallFn;

use super::core::{Core, Locked};
use super::handle::Handle;
use crate::context::{Context, backend_of};
use crate::error::{Error, Kind, Result};
use crate::program::handle::HasHandle as _;
use crate::program::{Program, Receive, Value};

/// The C type of contexts, `struct futhark_context`, of one program and backend.
///
/// Implemented in raw modules, by generated code.
///
/// # Safety
///
/// It is what `lend` of that program's table for that backend gives a pointer to.
pub unsafe trait RawContext: Sized {
    /// The program.
    type Program: Program;
    /// The backend.
    const BACKEND: Backend;
}

/// The C type of a value, such as `struct futhark_f32_1d`, of one program and backend.
///
/// Implemented in raw modules, by generated code.
///
/// # Safety
///
/// Values of type `types()[TYPE]` in the context's table are of this C type, and `Value` is
/// the safe type for them.
pub unsafe trait RawValue: Sized {
    /// The context that its values belong to.
    type Context: RawContext;
    /// The safe type.
    type Value: Value + Receive<Room = Option<Handle>>;
    /// The number of the type.
    #[doc(hidden)]
    const TYPE: u32;
}

impl<P: Program> Context<P> {
    /// Lends the context to plain C calls: those of a raw module, whose context type `C` is. The
    /// build script asks for such modules by `raw(true)` (feature `raw`).
    ///
    /// ```text
    /// use stats::raw::c; // the header for backend `c`
    ///
    /// let mean = ctx.with_raw(|raw: &mut Raw<'_, c::futhark_context>| {
    ///     let (xs, mut mean) = (raw.pointer(&xs)?, 0.0);
    ///     // SAFETY: pointers of this context; `mean` is written before the call returns.
    ///     let code = unsafe { c::futhark_entry_mean(raw.context(), &mut mean, xs) };
    ///     raw.check(code)?;
    ///     Ok(mean)
    /// })?;
    /// ```
    ///
    /// Waits for calls of other threads, which then wait until the closure is done; values
    /// that are dropped inside are freed afterwards. Everything that was started is complete
    /// before the closure runs, and what it started is complete when this returns.
    /// Threads that lend the same contexts inside of each other must do so in the same order:
    /// two that lend two contexts crosswise wait for each other for ever.
    ///
    /// On cuda and hip the context's device is current on the thread while the closure runs, and
    /// afterwards what was current before. Of contexts that are lent inside of each other, it
    /// is that of the one that was lent or [`check`](Raw::check)ed last.
    ///
    /// # Errors
    ///
    /// [`Kind::WrongContext`]: the context computes on another backend than `C` is for; the
    /// closure did not run. The closure's error. A failure that it left in the context, as
    /// [`Raw::check`] would give it: no later call is confused by that.
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    ///
    /// # Panics
    ///
    /// A safe call on the same context inside of the closure would wait for ever and panics
    /// instead. A panic of the closure goes on; the context works.
    ///
    /// # What calls of C functions must see to
    ///
    /// Getting pointers is safe, and each call of a C function is `unsafe`:
    ///
    /// * Pointers are of this context, and are used inside of the closure only, on this thread.
    /// * An argument that the function consumes is overwritten: it must be a value that was
    ///   [`release`](Raw::release)d or that C made, and share its memory with no value that
    ///   anybody still uses. Results of calls, parts of records and constants of the
    ///   program may share memory. Nothing is copied here.
    /// * A pointer that [`pointer`](Raw::pointer) gave is not freed.
    /// * On GPU backends, what C copies between host and device is complete after
    ///   `futhark_context_sync`, not before.
    /// * There is no call to return to: where the runtime gives up, the process ends, as it
    ///   does in a C program.
    pub fn with_raw<C, T>(&self, calls: impl FnOnce(&mut Raw<'_, C>) -> Result<T>) -> Result<T>
    where
        C: RawContext<Program = P>,
    {
        let mut raw = Raw::new(self.core())?;
        let result = calls(&mut raw);
        let left = match (&result, raw.end(0)) {
            (Err(_), Err(left)) => {
                raw.locked.defer(left);
                Ok(())
            }
            (_, left) => left,
        };
        // A result that is dropped now may make calls of its own.
        drop(raw);
        left.and(result)
    }
}

/// A context that is lent to plain C calls: see [`Context::with_raw`].
pub struct Raw<'a, C> {
    core: &'a Arc<Core>,
    locked: Locked<'a>,
    /// Null while it is not lent. Keeps this type on its thread, where the C side has a note.
    context: *mut C,
}

impl<'a, C: RawContext> Raw<'a, C> {
    fn new(core: &'a Arc<Core>) -> Result<Raw<'a, C>> {
        let backend = backend_of(core.table())?;
        if backend != C::BACKEND {
            let message = format!(
                "the context computes on backend {backend}, these C types are those of backend {}: \
                 use the module `raw::{backend}`, or make a context for {}",
                C::BACKEND,
                C::BACKEND
            );
            return Err(Error::new(Kind::WrongContext, OPERATION, message));
        }
        let mut locked = core.locked();
        locked.check([])?;
        let mut raw = Raw {
            core,
            locked,
            context: std::ptr::null_mut(),
        };
        *core.lent() = Some(std::thread::current().id());
        raw.lend()?;
        Ok(raw)
    }

    /// The context, for C functions. Null if [`check`](Self::check) found it beyond use.
    #[must_use]
    pub fn context(&self) -> *mut C {
        self.context
    }

    /// The error of a C function that answered `code`, unless that is 0: with the text that
    /// `futhark_context_get_error` would give, which the context is then rid of.
    ///
    /// What fails after a function has answered, on GPU backends, is reported by the
    /// next one, or when the closure is done.
    ///
    /// Functions that answer with a pointer have failed if it is null; [`adopt`](Self::adopt)
    /// looks at that. A code of `futhark_context_sync` that is not 0 must come here: that
    /// function fetches and clears what failed on the device, so nobody else sees it, and
    /// results of the failed calls would be believed.
    ///
    /// # Errors
    ///
    /// That failure, of kind [`Kind::Program`], [`Kind::OutOfMemory`] or [`Kind::Backend`], after
    /// which calls go on. [`Kind::ContextLost`], or a device that cannot even wait: no call can
    /// follow, and [`context`](Self::context) is null.
    pub fn check(&mut self, code: i32) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        let was_lent = !self.context.is_null();
        match (self.end(code), self.lend()) {
            (Ok(()), Ok(())) if !was_lent => {
                let message = format!(
                    "a C function answered {code} after the context was found beyond use; \
                     it works again, so later calls can be made"
                );
                Err(Error::from_c(Kind::Backend, OPERATION, message, None, code))
            }
            (answer, Ok(())) => answer,
            (Err(lost), Err(_)) if lost.kind() == Kind::ContextLost => Err(lost),
            (answer, Err(error)) => {
                if let Err(other) = answer {
                    self.locked.defer(other);
                }
                Err(error)
            }
        }
    }

    /// A value's pointer, for C functions that only read it. Valid until the value is dropped
    /// or moved into a call, and inside of this closure.
    ///
    /// # Errors
    ///
    /// [`Kind::WrongContext`]: the value belongs to another one. What the value's computation
    /// failed with.
    pub fn pointer<S: RawValue<Context = C>>(&mut self, value: &S::Value) -> Result<*mut S> {
        let handle = value.handle();
        self.check_handle::<S>(handle)?;
        Ok(handle.value().cast())
    }

    /// Gives a value up to C: its pointer, to be freed there, consumed and freed, or
    /// [`adopt`](Self::adopt)ed again. What is left when the context ends is leaked.
    ///
    /// # Errors
    ///
    /// As for [`pointer`](Self::pointer); the value is dropped, then.
    pub fn release<S: RawValue<Context = C>>(&mut self, value: S::Value) -> Result<*mut S> {
        let handle = value.into_handle();
        self.check_handle::<S>(&handle)?;
        self.locked.let_go(handle.serial());
        Ok(handle.into_value().as_ptr().cast())
    }

    /// Takes a value over that C made: it is freed when the safe value is dropped.
    ///
    /// # Errors
    ///
    /// The pointer is null: what the C function failed with.
    ///
    /// # Safety
    ///
    /// The pointer is null, or that of a live value of this context which a C function gave
    /// that succeeded, or [`release`](Self::release). It is adopted once and used, freed
    /// and consumed by nobody else from now on. If `futhark_context_sync` has failed since
    /// the closure began, its code went to [`check`](Self::check).
    pub unsafe fn adopt<S: RawValue<Context = C>>(&mut self, pointer: *mut S) -> Result<S::Value> {
        let Some(value) = NonNull::new(pointer.cast::<c_void>()) else {
            self.check(1)?;
            return Err(Error::new(Kind::Backend, OPERATION, "null is no value"));
        };
        let serial = self.locked.start(OPERATION);
        self.locked.hold(serial);
        // SAFETY: V: the caller says that the value is live, of this context and nobody else's;
        // `RawValue` says that the pointer's type is that of `types()[TYPE]`.
        let handle = unsafe { Handle::new(self.core, value, S::TYPE, serial) };
        Ok(S::Value::finish(Some(handle)))
    }

    fn check_handle<S: RawValue>(&mut self, handle: &Handle) -> Result<()> {
        if !Arc::ptr_eq(handle.core(), self.core) {
            let message =
                "the value belongs to another context; values cannot pass between contexts";
            return Err(Error::new(Kind::WrongContext, OPERATION, message));
        }
        if handle.ty() != S::TYPE {
            // Only a hand-written `HasArray` can say so.
            let name = handle.table_type().name();
            let message = format!("a value of type {name} was taken for one of another");
            return Err(Error::new(Kind::InvalidArgument, OPERATION, message));
        }
        self.locked.check([handle])
    }
}

impl<C> Raw<'_, C> {
    fn lend(&mut self) -> Result<()> {
        let lend = there(self.core.table().raw().lend);
        let mut context: *mut c_void = std::ptr::null_mut();
        let out = [(&raw mut context).cast::<c_void>()];
        // SAFETY: T and L; there is room for one pointer.
        unsafe { self.locked.call(lend, &out, &[], || OPERATION.into()) }?;
        self.locked.confirm();
        self.context = context.cast();
        Ok(())
    }

    /// Takes the context back, and fetches the error of the call that answered `code` or of
    /// whatever left one.
    fn end(&mut self, code: i32) -> Result<()> {
        if self.context.is_null() {
            return Ok(());
        }
        self.context = std::ptr::null_mut();
        let take_back = there(self.core.table().raw().take_back);
        let input = [(&raw const code).cast::<c_void>()];
        // SAFETY: T and L; the one argument is an `int32_t`, and the context was lent.
        unsafe {
            self.locked
                .call(take_back, &[], &input, || OPERATION.into())
        }?;
        self.locked.confirm();
        Ok(())
    }
}

impl<C> Drop for Raw<'_, C> {
    fn drop(&mut self) {
        // After a panic of the closure.
        if let Err(error) = self.end(0) {
            self.locked.defer(error);
        }
        // Only now: the lock is held until here, even if no call can follow.
        *self.core.lent() = None;
    }
}

impl<C> fmt::Debug for Raw<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Raw")
            .field("backend", &self.core.table().backend())
            .finish_non_exhaustive()
    }
}

/// What these are, for messages.
const OPERATION: &str = "plain C call";

fn there(call: CallFn) -> futhark_sys::table::Call {
    call.expect("a table lends its context")
}
