//! Copies of values.

use std::borrow::Cow;
use std::ffi::c_void;
use std::sync::Arc;

use super::core::Locked;
use super::handle::Handle;
use super::make::wrap;
use crate::error::Result;

/// A copy that shares no memory with any other value.
pub(crate) fn duplicate(value: &Handle) -> Result<Handle> {
    let mut locked = value.core().locked();
    locked.check([value])?;
    duplicate_locked(&mut locked, value, &|| "copy".into())
}

/// As [`duplicate`], under a lock that another operation holds.
pub(super) fn duplicate_locked(
    locked: &mut Locked<'_>,
    value: &Handle,
    operation: &impl Fn() -> Cow<'static, str>,
) -> Result<Handle> {
    let duplicate = value
        .table_type()
        .raw()
        .duplicate
        .expect("every type can be duplicated");
    let original = value.value("copy")?;
    let mut copy: *mut c_void = std::ptr::null_mut();
    // SAFETY: T and L; V; `copy` is the place of the result.
    unsafe { locked.call(duplicate, &[(&raw mut copy).cast()], &[original], operation) }?;
    // SAFETY: T: a successful `duplicate` returns a new, complete value of the same type.
    unsafe { wrap(Arc::clone(value.core()), copy, value.ty(), 0, operation()) }
}
