//! A context lent to plain C calls: what raw modules use.
//!
//! `ffi::plain` does the work; here are the types that tell programs and backends apart.

#![allow(
    unsafe_code,
    reason = "declares what is unsafe for users; every contract is passed on to `ffi`"
)]

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use futhark_manifest::Backend;

use crate::context::Context;
use crate::error::{Error, Kind, Result};
use crate::ffi::{Core, Lent, backend_of};
use crate::program::handle::HasHandle as _;
use crate::program::{Program, Receive as _, ResultValue};

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
    type Value: ResultValue;
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
        let left = raw.lent.finish(result.is_err());
        // A result that is dropped now may make calls of its own.
        drop(raw);
        left.and(result)
    }
}

/// A context that is lent to plain C calls: see [`Context::with_raw`].
pub struct Raw<'a, C> {
    lent: Lent<'a>,
    // A pointer, since the context is lent to this thread only.
    types: PhantomData<*mut C>,
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
            return Err(Error::new(Kind::WrongContext, Lent::OPERATION, message));
        }
        Ok(Raw {
            lent: Lent::new(core)?,
            types: PhantomData,
        })
    }

    /// The context, for C functions. Null if [`check`](Self::check) found it beyond use.
    #[must_use]
    pub fn context(&self) -> *mut C {
        self.lent.context().cast()
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
        self.lent.check(code)
    }

    /// A value's pointer, for C functions that only read it. Valid until the value is dropped
    /// or moved into a call, and inside of this closure.
    ///
    /// # Errors
    ///
    /// [`Kind::WrongContext`]: the value belongs to another one. What the value's computation
    /// failed with.
    pub fn pointer<S: RawValue<Context = C>>(&mut self, value: &S::Value) -> Result<*mut S> {
        let pointer = self.lent.pointer(value.handle(), S::TYPE)?;
        Ok(pointer.cast())
    }

    /// Gives a value up to C: its pointer, to be freed there, consumed and freed, or
    /// [`adopt`](Self::adopt)ed again. What is left when the context ends is leaked.
    ///
    /// # Errors
    ///
    /// As for [`pointer`](Self::pointer); the value is dropped, then.
    pub fn release<S: RawValue<Context = C>>(&mut self, value: S::Value) -> Result<*mut S> {
        let pointer = self.lent.release(value.into_handle(), S::TYPE)?;
        Ok(pointer.cast())
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
        // SAFETY: the caller vouches for the pointer, and `RawValue` for its type being
        // `types()[TYPE]`.
        let handle = unsafe { self.lent.adopt(pointer.cast(), S::TYPE) }?;
        Ok(S::Value::finish(Some(handle)))
    }
}

impl<C> fmt::Debug for Raw<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Raw")
            .field("backend", &self.lent.backend())
            .finish_non_exhaustive()
    }
}
