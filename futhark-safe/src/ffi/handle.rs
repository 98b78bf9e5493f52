//! A value: a pointer of the C side, with its type and its context.
//!
//! A call that consumes an argument through `&mut` leaves a spent handle behind: its value is freed
//! right after the call, so that the result does not share memory with it, and every later use is an
//! error. [`Handle::value`] and [`Handle::value_or_null`] are the only accesses to the pointer; for a
//! spent handle one fails, and the other is null.

use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

use futhark_sys::table as c;

use super::batch::Batch;
use super::core::{Core, Locked};
use super::failure::Serial;
use crate::error::{Call, Error, ErrorKind, Result};

/// A value of a context, of any type that is not a scalar.
///
/// Keeps its context alive. Dropping it frees the value, or leaves that to the running call.
pub struct Handle {
    core: Arc<Core>,
    state: State,
    ty: u32,
    serial: Serial,
}

#[derive(Clone, Copy)]
enum State {
    Live(NonNull<c_void>),
    /// Consumed through `&mut` by this function of the table, and freed.
    Spent {
        function: u32,
        failed: bool,
    },
}

// SAFETY: guarantee L: the pointer is followed only under the context's lock, from any thread,
// except by the functions that L exempts, which read fields that never change.
unsafe impl Send for Handle {}
// SAFETY: as above: access by a shared handle is locked or reads fields that never change.
unsafe impl Sync for Handle {}

impl Handle {
    /// # Safety
    ///
    /// Guarantee V: `value` is a live value of `core`'s context, of its table's type
    /// `types()[ty]`, and nothing else frees it.
    pub(super) unsafe fn new(
        core: Arc<Core>,
        value: NonNull<c_void>,
        ty: u32,
        serial: Serial,
    ) -> Handle {
        Handle {
            core,
            state: State::Live(value),
            ty,
            serial,
        }
    }

    /// Gives up ownership: the caller must free the value. Fails for a spent handle.
    pub(super) fn into_value(self, operation: &'static str) -> Result<NonNull<c_void>> {
        let value = self.live(operation)?;
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is neither dropped nor used again, so the core is moved out once.
        drop(unsafe { std::ptr::read(&raw const this.core) });
        Ok(value)
    }

    /// Frees the value, which the call of `function` has consumed. Nothing happens if it is spent.
    pub(super) fn spend(&mut self, locked: &mut Locked<'_>, function: usize, failed: bool) {
        let State::Live(value) = self.state else {
            return;
        };
        // First, so that the value is freed once even if freeing it panics.
        self.state = State::Spent {
            function: u32::try_from(function).unwrap_or(u32::MAX),
            failed,
        };
        locked.free_value(value, self.ty, self.serial);
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// The serial of its computation (see `failure`).
    pub(super) fn serial(&self) -> Serial {
        self.serial
    }

    /// An index into the table's types.
    pub(crate) fn ty(&self) -> u32 {
        self.ty
    }

    /// Spends the handle without a call.
    #[cfg(all(test, feature = "dynamic"))]
    pub(crate) fn spend_now(&mut self, function: usize) {
        let core = Arc::clone(&self.core);
        self.spend(&mut core.locked(), function, false);
    }

    /// The pointer, for `operation`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: the handle is spent.
    #[inline]
    pub(super) fn value(&self, operation: &'static str) -> Result<*mut c_void> {
        self.live(operation).map(NonNull::as_ptr)
    }

    /// The pointer, or null if the handle is spent.
    #[inline]
    pub(super) fn value_or_null(&self) -> *mut c_void {
        match self.state {
            State::Live(value) => value.as_ptr(),
            State::Spent { .. } => std::ptr::null_mut(),
        }
    }

    #[inline]
    fn live(&self, operation: &'static str) -> Result<NonNull<c_void>> {
        match self.state {
            State::Live(value) => Ok(value),
            State::Spent { .. } => Err(self.spent(operation, "the value")),
        }
    }

    /// Formats a value of an opaque type, with its name.
    pub(crate) fn debug(&self, f: &mut fmt::Formatter<'_>, ty: &str) -> fmt::Result {
        let spent = if self.is_spent() { "(spent)" } else { "" };
        write!(f, "Opaque<{ty}>{spent}")
    }

    pub(crate) fn is_spent(&self) -> bool {
        matches!(self.state, State::Spent { .. })
    }

    /// The error for a use of a spent handle; `what` names the value.
    #[cold]
    pub(super) fn spent(&self, operation: &'static str, what: &str) -> Error {
        let State::Spent { function, failed } = self.state else {
            unreachable!("the handle is spent");
        };
        let functions = self.core.table().functions();
        let call = functions.get(function as usize).map_or("?", |f| f.label());
        let message = match failed {
            false => format!(
                "{what} was consumed by {call}: assign the result of that call to it, or keep a copy \
                 (`try_clone`)"
            ),
            true => format!(
                "{what} was consumed by {call}, which failed: assign another value to it, such as a \
                 copy (`try_clone`) from before that call"
            ),
        };
        Error::invalid(operation, message)
    }

    pub(super) fn table_type(&self) -> &'static futhark_sys::table::Type {
        &self.core.table().types()[self.ty as usize]
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let State::Live(value) = self.state {
            self.core.free(value, self.ty, self.serial);
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Value")
            .field(&self.table_type().name())
            .finish()
    }
}

impl Core {
    /// Calls an operation that makes a value of `types()[ty]` and reads the values `uses`. Fails if one of them is
    /// invalid.
    ///
    /// # Safety
    ///
    /// `call` belongs to this context's table and has one result, a value of this type that is complete when it
    /// returns; `input` holds its arguments. With a batch, `input` says that a later call waits, and what the call
    /// reads stays until the batch ends.
    pub(super) unsafe fn make<'v>(
        self: &Arc<Core>,
        ty: u32,
        operation: &'static str,
        (call, input): (c::Call, &[*const c_void]),
        uses: impl IntoIterator<Item = &'v Handle>,
        batch: Option<&Batch<'_>>,
    ) -> Result<Handle> {
        // Before the call: an atomic operation after it would wait until its writes have reached the cache.
        let core = Arc::clone(self);
        let mut locked = self.locked();
        locked.check(uses)?;
        if let Some(batch) = batch {
            batch.starts(&locked);
        }
        // SAFETY: L; the caller promises the rest.
        let value = unsafe { locked.new_value(call, input, || operation.into()) }?;
        let serial = match batch {
            Some(batch) => batch.started(&mut locked, operation),
            None => 0,
        };
        locked.hold(serial);
        // SAFETY: T: a successful call returns a new value of the type.
        Ok(unsafe { Handle::new(core, value, ty, serial) })
    }
}

impl Locked<'_> {
    /// Calls a function of the table whose only result is a new value.
    ///
    /// # Safety
    ///
    /// `call` belongs to this context's table, and `input` holds the arguments that `futhark_table.h`
    /// documents for it.
    pub(super) unsafe fn new_value(
        &mut self,
        call: c::Call,
        input: &[*const c_void],
        operation: impl Fn() -> Call,
    ) -> Result<NonNull<c_void>> {
        let mut value: *mut c_void = std::ptr::null_mut();
        // SAFETY: L; the caller promises the rest; `value` is the place of the result.
        unsafe { self.call(call, &[(&raw mut value).cast()], input, &operation) }?;
        returned(value, operation)
    }
}

/// The value that a successful call has returned.
#[inline]
pub(super) fn returned(
    value: *mut c_void,
    operation: impl FnOnce() -> Call,
) -> Result<NonNull<c_void>> {
    NonNull::new(value).ok_or_else(|| no_value(operation()))
}

#[cold]
fn no_value(operation: Call) -> Error {
    let message = "the call succeeded, but returned no value";
    Error::new(ErrorKind::Backend, operation, message)
}
