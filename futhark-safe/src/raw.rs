//! Plain C calls: a context is lent to the functions that a raw module declares.
//!
//! `ffi::plain` does the work. The types here keep programs and backends apart.

#![allow(
    unsafe_code,
    reason = "declares unsafe functions and traits of the public API"
)]

use std::fmt;
use std::marker::PhantomData;

use futhark_manifest::Backend;

use crate::call::{Receive, Value};
use crate::context::{Context, Linked as _, Program};
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::sync::Arc;
use crate::ffi::{Core, Lent, Output, backend_of};

/// The C type of contexts, `struct futhark_context`, of one program and backend.
///
/// Implemented in raw modules, by generated code.
///
/// # Safety
/// A pointer that `lend` of that program's table for that backend returns is of this type.
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
/// Values of type `types()[TYPE]` in the context's table are of this C type, and `Value` is
/// the safe type for them.
pub unsafe trait RawValue: Sized {
    /// The context that its values belong to.
    type Context: RawContext;
    /// The safe type.
    type Value: Value + Receive;
    /// The number of the type.
    #[doc(hidden)]
    const TYPE: u32;
}

impl<P: Program> Context<P> {
    /// Lends the context to plain C calls. `C` is the context type of a raw module, which the build
    /// script requests by `raw(true)` (feature `raw`).
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
    /// Waits for calls of other threads, and holds the context's lock while the closure runs. Values
    /// that are dropped meanwhile are freed afterwards. Pending work is complete before the closure
    /// runs, and the work of the closure is complete when this returns.
    ///
    /// Threads that nest contexts (lend one inside the closure of another) must do so in the same
    /// order, or they deadlock. For the same reason the closure, and subscribers of the crate `tracing` and writers
    /// of the logs of other contexts that run in it, must not wait for threads that use this context.
    ///
    /// On cuda and hip the context's device is current on the thread while the closure runs;
    /// afterwards the previous one is restored. With nested contexts, the device of the
    /// one that was lent or [`check`](Raw::check)ed last is current.
    ///
    /// # Errors
    /// * [`ErrorKind::WrongContext`]: the context is of another backend than `C`, or of a
    ///   library (`Context::with_library`); the closure did not run.
    /// * The closure's error.
    /// * A failure that the closure left in the context, as from [`Raw::check`], so no later call
    ///   reports it.
    ///
    /// # Panics
    /// A safe call on the same context inside of the closure panics, since it would deadlock; views, and downloads
    /// on host backends, wait for no call and work. If the closure panics, the panic continues and the context
    /// remains usable.
    ///
    /// # Rules for calls of C functions
    ///
    /// Getting pointers is safe, but each call of a C function is `unsafe`:
    ///
    /// * Pointers belong to this context, and are used only inside of the closure, on this thread. This
    ///   includes pointers to elements, which C functions return: a safe call can free them, and a slice
    ///   from [`HostArray::to_mut`](crate::HostArray::to_mut) must be the only way to its elements.
    /// * An argument that the function consumes is overwritten. It must be a value that was
    ///   [`release`](Raw::release)d or that C made, and must not share memory with a value that is
    ///   still in use. Results of calls, parts of records and constants of the program may share
    ///   memory; plain calls do not copy them.
    /// * A pointer from [`pointer`](Raw::pointer) is not freed.
    /// * On GPU backends, copies between host and device are complete only after
    ///   `futhark_context_sync`.
    /// * Fatal failures of the runtime end the process, as in a C program.
    pub fn with_raw<C, T>(&self, calls: impl FnOnce(&mut Raw<'_, C>) -> Result<T>) -> Result<T>
    where
        C: RawContext<Program = P>,
    {
        let mut raw = Raw::new(self.core())?;
        let result = calls(&mut raw);
        let left = raw.lent.finish(result.is_err());
        // Unlock first: if the result is dropped, its destructor may make calls.
        drop(raw);
        left.and(result)
    }
}

/// A context that is lent to plain C calls: see [`Context::with_raw`].
pub struct Raw<'a, C> {
    lent: Lent<'a>,
    // A pointer, which is not `Send`: the context is lent to this thread only.
    types: PhantomData<*mut C>,
}

impl<'a, C: RawContext> Raw<'a, C> {
    fn new(core: &'a Arc<Core>) -> Result<Raw<'a, C>> {
        let wrong_context = |message| Error::new(ErrorKind::WrongContext, Lent::OPERATION, message);
        let backend = backend_of(core.table())?;
        if backend != C::BACKEND {
            let message = format!(
                "the context runs on backend {backend}, but the C types are of backend {}: \
                 use the module `raw::{backend}`, or make a context for {}",
                C::BACKEND,
                C::BACKEND
            );
            return Err(wrong_context(message));
        }
        // The C functions of a raw module are those of the linked table.
        let table = core.table();
        if !C::Program::tables().iter().any(|linked| linked.is(table)) {
            let message = "the context belongs to a shared object, but the C functions are linked into \
                           this binary: make the context with `Context::new`";
            return Err(wrong_context(message.to_owned()));
        }
        Ok(Raw {
            lent: Lent::new(core)?,
            types: PhantomData,
        })
    }

    /// The context, for C functions. Null after [`check`](Self::check) found it unusable.
    #[must_use]
    pub fn context(&self) -> *mut C {
        self.lent.context().cast()
    }

    /// Turns the return code of a C function into an error, unless it is 0. The error has the text of
    /// `futhark_context_get_error`, which is cleared.
    ///
    /// On GPU backends, work can fail after a function has returned. The next function, or the end of
    /// the closure, reports it.
    ///
    /// Functions that return a pointer have failed if it is null; [`adopt`](Self::adopt) checks
    /// that. Every nonzero code of `futhark_context_sync` must be passed to this method: that function
    /// fetches and clears failures of the device, so nothing else can invalidate the results of
    /// the failed calls.
    ///
    /// # Errors
    /// The failure: [`ErrorKind::Program`], [`ErrorKind::OutOfMemory`] or [`ErrorKind::Backend`], after which more
    /// calls can follow. [`ErrorKind::ContextLost`], or a device that cannot synchronize: no call can
    /// follow, and [`context`](Self::context) is null.
    pub fn check(&mut self, code: i32) -> Result<()> {
        self.lent.settle(code)
    }

    /// A value's pointer, for C functions that only read it. Valid inside of the closure, until the
    /// value is dropped or consumed.
    ///
    /// # Errors
    /// [`ErrorKind::WrongContext`]: the value belongs to another context.
    pub fn pointer<S: RawValue<Context = C>>(&mut self, value: &S::Value) -> Result<*mut S> {
        let pointer = self.lent.pointer(value.handle(), S::TYPE)?;
        Ok(pointer.cast())
    }

    /// Transfers ownership of a value to C code, which must free its pointer, or consume and free it,
    /// or [`adopt`](Self::adopt) it again. Otherwise it is leaked.
    ///
    /// # Errors
    /// As for [`pointer`](Self::pointer). The value is dropped in that case.
    pub fn release<S: RawValue<Context = C>>(&mut self, value: S::Value) -> Result<*mut S> {
        let pointer = self.lent.release(value.into_handle(), S::TYPE)?;
        Ok(pointer.cast())
    }

    /// Takes ownership of a value that C made. Dropping the result frees it.
    ///
    /// # Errors
    /// If the pointer is null, the failure of the C function.
    ///
    /// # Safety
    /// The pointer is null, or points to a live value of this context, from a C function that
    /// succeeded or from [`release`](Self::release). It is adopted once; from now on, nothing else
    /// uses, frees or consumes it. If `futhark_context_sync` has failed since the closure
    /// began, its code was passed to [`check`](Self::check).
    pub unsafe fn adopt<S: RawValue<Context = C>>(&mut self, pointer: *mut S) -> Result<S::Value> {
        // SAFETY: the caller's promise about the pointer is that of `Lent::adopt`, and `RawValue`
        // promises that its type is `types()[TYPE]`.
        let handle = unsafe { self.lent.adopt(pointer.cast(), S::TYPE) }?;
        Ok(S::Value::finish(&mut Output::of(handle)))
    }
}

impl<C> fmt::Debug for Raw<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Raw")
            .field("backend", &self.lent.backend())
            .finish_non_exhaustive()
    }
}
