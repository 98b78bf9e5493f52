//! A value: a pointer of the C side, with its type and its context.

use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

use super::core::Core;
use super::progress::Serial;

/// A value of a context, of any type that is not a scalar.
///
/// Keeps its context alive. Dropping it frees the value, or leaves that to the running call.
pub struct Handle {
    core: Arc<Core>,
    value: NonNull<c_void>,
    ty: u32,
    serial: Serial,
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
        core: &Arc<Core>,
        value: NonNull<c_void>,
        ty: u32,
        serial: Serial,
    ) -> Handle {
        Handle {
            core: Arc::clone(core),
            value,
            ty,
            serial,
        }
    }

    /// Gives up ownership: the caller must free the value.
    pub(super) fn into_value(self) -> NonNull<c_void> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is neither dropped nor used again, so the core is moved out once.
        drop(unsafe { std::ptr::read(&raw const this.core) });
        this.value
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// The serial of its computation (see `progress`).
    pub(super) fn serial(&self) -> Serial {
        self.serial
    }

    /// An index into the table's types.
    pub(crate) fn ty(&self) -> u32 {
        self.ty
    }

    pub(super) fn value(&self) -> *mut c_void {
        self.value.as_ptr()
    }

    /// The type in the table.
    pub(super) fn table_type(&self) -> &'static futhark_sys::table::Type {
        &self.core.table().types()[self.ty as usize]
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.core.free(self.value, self.ty, self.serial);
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Value")
            .field(&self.table_type().name())
            .finish()
    }
}
