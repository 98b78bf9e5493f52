//! Plain C calls beside safe ones: a context is lent, its lock held meanwhile.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::context::{Core, Locked, PLAIN, number_of};
use super::sync::{Arc, thread};
use super::table::required;
use super::trace::count_held;
use super::value::Handle;
use crate::error::{Error, ErrorKind, Result};

/// A context that is lent to plain C calls on this thread.
pub(crate) struct Lent<'a> {
    core: &'a Arc<Core>,
    locked: Locked<'a>,
    /// Null while the context is not lent.
    context: *mut c_void,
}

impl<'a> Lent<'a> {
    pub(crate) const OPERATION: &'static str = PLAIN;

    /// Waits for running calls and pending work, and lends the context.
    pub(crate) fn new(core: &'a Arc<Core>) -> Result<Lent<'a>> {
        let mut locked = core.locked();
        locked.expect_valid([])?;
        let mut lent = Lent {
            core,
            locked,
            context: std::ptr::null_mut(),
        };
        *core.lent() = Some(thread::current().id());
        // Code of the user runs now.
        count_held(-1);
        lent.lend()?;
        Ok(lent)
    }

    pub(crate) fn backend(&self) -> &'static str {
        self.core.table().backend()
    }

    /// The context for C functions; null after a failure that leaves it unusable.
    pub(crate) fn context(&self) -> *mut c_void {
        self.context
    }

    /// The error of a C function that returned `code`, unless that is 0: takes the context back, which makes the error,
    /// and lends it again, so that the pointer of the [context](Self::context) can change.
    pub(crate) fn settle(&mut self, code: i32) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        let was_lent = !self.context.is_null();
        match (self.end(code), self.lend()) {
            (Ok(()), Ok(())) if !was_lent => {
                let message = format!(
                    "a C function returned {code} after the context had failed; \
                     the context works again, so retry the calls"
                );
                let error = Error::new(ErrorKind::Backend, Self::OPERATION, message);
                Err(error.with_c(None, code))
            }
            (answer, Ok(())) => answer,
            (Err(lost), Err(_)) if lost.kind() == ErrorKind::ContextLost => Err(lost),
            (answer, Err(error)) => {
                if let Err(other) = answer {
                    self.locked.defer(other);
                }
                Err(error)
            }
        }
    }

    /// Releases a value of type `types()[ty]`: returns its pointer, which the caller must free.
    pub(crate) fn release(&mut self, value: Handle, ty: u32) -> Result<*mut c_void> {
        let pointer = self.pointer(&value, ty)?;
        value.forget();
        Ok(pointer)
    }

    /// Takes over a value that C made. For null, the error of the C function.
    ///
    /// # Safety
    /// Guarantee V: the pointer is null, or that of a live value of this context, of type
    /// `types()[ty]`, which nothing else uses, frees or consumes from now on. If a sync by C has
    /// failed since the context was lent, its code was passed to [`settle`](Self::settle).
    pub(crate) unsafe fn adopt(&mut self, pointer: *mut c_void, ty: u32) -> Result<Handle> {
        let Some(value) = NonNull::new(pointer) else {
            self.settle(1)?;
            let message = "expected a value, got null";
            return Err(Error::new(ErrorKind::Backend, Self::OPERATION, message));
        };
        // The last call has lent the context.
        let outcome = self.locked.pending();
        // SAFETY: V: the caller promises it.
        Ok(unsafe { Handle::new(Arc::clone(self.core), value, ty, outcome) })
    }

    /// Takes the context back after the last C call. Returns a failure that the calls left in it, or
    /// keeps it for the next call if the closure of `with_raw` `failed` anyway.
    pub(crate) fn finish(&mut self, failed: bool) -> Result<()> {
        match self.end(0) {
            Err(left) if failed => {
                self.locked.defer(left);
                Ok(())
            }
            left => left,
        }
    }

    /// The pointer of a value of type `types()[ty]`. Valid until the value is dropped or
    /// moved into a call, and while the context is lent.
    pub(crate) fn pointer(&mut self, handle: &Handle, ty: u32) -> Result<*mut c_void> {
        // Another type can only be the mistake of a hand-written `HasArray`.
        let what = || "the value".to_owned();
        let pointer = handle.expect(self.core, ty, || Self::OPERATION, what)?;
        self.locked.expect_valid([handle.outcome()])?;
        Ok(pointer)
    }

    fn lend(&mut self) -> Result<()> {
        let lend = required(self.core.table().raw().lend);
        let mut context: *mut c_void = std::ptr::null_mut();
        let out = [(&raw mut context).cast::<c_void>()];
        // SAFETY: T and L; `context` is the place of the result.
        unsafe {
            (self.locked).call(number_of(Self::OPERATION), lend, &out, &[], || {
                Self::OPERATION.into()
            })
        }?;
        self.context = context;
        Ok(())
    }

    /// Takes the context back, and returns the error of the call that returned `code`, or one that
    /// an unchecked call left behind.
    fn end(&mut self, code: i32) -> Result<()> {
        if self.context.is_null() {
            return Ok(());
        }
        self.context = std::ptr::null_mut();
        let take_back = required(self.core.table().raw().take_back);
        // SAFETY: T and L; the context was lent.
        let status = unsafe { take_back(self.core.context(), code) };
        let ended = self.locked.ended(status, || Self::OPERATION.into());
        ended.map_err(Error::from)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // Not yet taken back if the closure panicked.
        if let Err(error) = self.end(0) {
            self.locked.defer(error);
        }
        // Last: the lock is released after this, with the field `locked`.
        count_held(1);
        *self.core.lent() = None;
    }
}
