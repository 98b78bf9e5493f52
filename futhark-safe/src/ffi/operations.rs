//! Operations on a context that have no values for arguments or results.

use std::ffi::{c_char, c_void};

use futhark_sys::table as c;

use super::context::Core;
use super::sync::Arc;
use super::table::{no_memory, required, take_text};
use crate::error::{Error, Result, counted};

impl Core {
    /// Frees the context, unless it is still in use or a failure was not reported yet.
    pub(crate) fn close(core: Arc<Core>) -> Result<(), (Arc<Core>, Error)> {
        // Without another `Arc`, nothing can clone this one concurrently.
        let others = Arc::strong_count(&core) - 1;
        if others > 0 {
            let message = format!(
                "the context has {}, such as values or clones; drop them first",
                counted(others, "other handle")
            );
            let error = Error::invalid("close", message);
            return Err((core, error));
        }
        match core.simple("close", |raw| raw.sync) {
            Ok(()) => Ok(()),
            Err(error) => Err((core, error)),
        }
    }

    /// Calls an operation without arguments, such as `sync`.
    pub(crate) fn simple(
        &self,
        operation: &'static str,
        which: fn(&c::Raw) -> c::CallFn,
    ) -> Result<()> {
        let call = required(which(self.table().raw()));
        // SAFETY: T; these operations take no arguments.
        unsafe { self.run(operation, call, &[], &[], [], None) }.map(drop)
    }

    /// The pointer that an operation without arguments writes.
    ///
    /// # Safety
    /// The operation of this context's table writes a `*mut T`.
    unsafe fn ask<T>(&self, operation: &'static str, call: c::Call) -> Result<*mut T> {
        let mut out: *mut T = std::ptr::null_mut();
        // SAFETY: the caller promises the result.
        unsafe { self.run(operation, call, &[(&raw mut out).cast()], &[], [], None) }?;
        Ok(out)
    }

    pub(crate) fn report(&self) -> Result<String> {
        let call = required(self.table().raw().report);
        // SAFETY: T: the operation writes one pointer.
        let text = unsafe { self.ask::<c_char>("report", call) }?;
        // SAFETY: T: on success it is a text that the caller owns.
        Ok(unsafe { take_text(self.table(), text) }.unwrap_or_default())
    }

    /// Bytes in use on the host and their maximum, and the same for the device.
    pub(crate) fn memory(&self) -> Result<[i64; 4]> {
        let call = required(self.table().raw().memory);
        let mut bytes = [0i64; 4];
        // SAFETY: T: the operation writes four numbers.
        unsafe { self.run("memory", call, &[bytes.as_mut_ptr().cast()], &[], [], None) }?;
        Ok(bytes)
    }

    /// The description of the context's device. `None`: the backend runs on the host.
    pub(crate) fn device(&self) -> Result<Option<String>> {
        let Some(call) = self.table().raw().context_device else {
            return Ok(None);
        };
        // SAFETY: T: the operation writes one pointer.
        let text = unsafe { self.ask::<c_char>("device", call) }?;
        // SAFETY: T: a text that the caller owns, or NULL.
        let text = unsafe { take_text(self.table(), text) };
        text.ok_or_else(|| no_memory("device")).map(Some)
    }

    /// The context's `cl_command_queue`. `None`: the backend is not opencl.
    pub(crate) fn command_queue(&self) -> Result<Option<*mut c_void>> {
        let Some(call) = self.table().raw().command_queue else {
            return Ok(None);
        };
        // SAFETY: T: the operation writes one pointer.
        unsafe { self.ask("command queue", call) }.map(Some)
    }
}
