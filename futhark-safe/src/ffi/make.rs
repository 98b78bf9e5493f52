//! Calls of operations that make a value, which is complete when they return, or in a batch when that
//! ends. Results of entry points may be pending as well (see `call`).

use std::borrow::Cow;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use futhark_sys::table as c;

use super::batch::Batch;
use super::core::Core;
use super::handle::Handle;
use super::progress::Serial;
use crate::error::{Error, ErrorKind, Result};

/// A value to be made.
pub(super) struct Make<'a> {
    pub(super) core: &'a Arc<Core>,
    /// The number of its type.
    pub(super) ty: u32,
    pub(super) operation: &'static str,
    /// The kind of error for a failure without a text.
    pub(super) refusal: ErrorKind,
}

impl Make<'_> {
    /// Calls the function, which reads the values `uses`. Fails if one of them is invalid.
    ///
    /// # Safety
    ///
    /// `call` belongs to this context's table and has one result, a value of this type that is
    /// complete when it returns; `input` holds its arguments.
    pub(super) unsafe fn by<'v>(
        &self,
        call: c::Call,
        input: &[*const c_void],
        uses: impl IntoIterator<Item = &'v Handle>,
    ) -> Result<Handle> {
        // SAFETY: as the caller promises.
        unsafe { self.start(call, input, uses, None) }
    }

    /// As [`by`](Self::by), but the value is pending until the batch ends, if there is one.
    ///
    /// # Safety
    ///
    /// As for [`by`](Self::by). With a batch, `input` says that a later call waits, and what the call
    /// reads stays until the batch ends.
    pub(super) unsafe fn start<'v>(
        &self,
        call: c::Call,
        input: &[*const c_void],
        uses: impl IntoIterator<Item = &'v Handle>,
        batch: Option<&Batch<'_>>,
    ) -> Result<Handle> {
        let mut value: *mut c_void = std::ptr::null_mut();
        // Before the call: an atomic operation after it would wait until its writes have reached the cache.
        let core = Arc::clone(self.core);
        let mut locked = self.core.locked();
        locked.check(uses)?;
        if let Some(batch) = batch {
            batch.starts(&locked);
        }
        let operation = || Cow::Borrowed(self.operation);
        // SAFETY: L; the caller promises the rest; `value` is the place of the result.
        let called = unsafe { locked.call(call, &[(&raw mut value).cast()], input, operation) };
        called.map_err(|error| match error.kind() {
            ErrorKind::Backend if error.c_message().is_none() => error.into_kind(self.refusal),
            _ => error,
        })?;
        let serial = match batch {
            Some(batch) => batch.started(&mut locked, self.operation),
            None => {
                locked.confirm();
                0
            }
        };
        locked.hold(serial);
        // SAFETY: T: a successful call returns a new value of the type.
        unsafe { wrap(core, value, self.ty, serial, self.operation) }
    }
}

/// # Safety
///
/// As for [`Handle::new`], if `value` is not null.
pub(super) unsafe fn wrap(
    core: Arc<Core>,
    value: *mut c_void,
    ty: u32,
    serial: Serial,
    operation: &'static str,
) -> Result<Handle> {
    match NonNull::new(value) {
        // SAFETY: as the caller promises.
        Some(value) => Ok(unsafe { Handle::new(core, value, ty, serial) }),
        None => Err(Error::new(
            ErrorKind::Backend,
            operation,
            "succeeded, but returned no value",
        )),
    }
}
