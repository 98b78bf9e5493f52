//! Calls of operations that make a value, which is complete when they return, or in a batch when that
//! ends. Results of entry points may be pending as well (see `call`).

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use futhark_sys::table as c;

use super::batch::Batch;
use super::core::Core;
use super::handle::Handle;
use super::progress::Serial;
use crate::error::{Call, Error, ErrorKind, Result};

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
        let mut value: *mut c_void = std::ptr::null_mut();
        // Before the call: an atomic operation after it would wait until its writes have reached the cache.
        let core = Arc::clone(self);
        let mut locked = self.locked();
        locked.check(uses)?;
        if let Some(batch) = batch {
            batch.starts(&locked);
        }
        // SAFETY: L; the caller promises the rest; `value` is the place of the result.
        unsafe { locked.call(call, &[(&raw mut value).cast()], input, || operation.into()) }?;
        let serial = match batch {
            Some(batch) => batch.started(&mut locked, operation),
            None => {
                locked.confirm();
                0
            }
        };
        locked.hold(serial);
        // SAFETY: T: a successful call returns a new value of the type.
        unsafe { wrap(core, value, ty, serial, operation) }
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
    operation: impl Into<Call>,
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
