//! Consumption: lets a call overwrite an argument without changing any other value.
//!
//! A Futhark parameter of unique type (`*[n]i32`) is consumed: the compiled program may write the
//! result into the argument's memory. In Futhark, the type checker proves that nothing uses the
//! argument afterwards. The C API has no such check: values share memory without the caller's
//! knowledge, so overwriting one can change another that is still in use. Sources of sharing are
//!
//! * a result that is an argument, or a part of one: `entry identity xs = xs`;
//! * two results of one call;
//! * a record, sum or array of records, and the values it was made of or projected to;
//! * a constant of the program that a call returned;
//! * memory that the array only borrows ([`borrow`](super::borrow)).
//!
//! # Reference counts
//!
//! The generated runtime counts references to each block of memory. Every C value that refers to
//! a block holds one reference, as does everything inside of the context: constants, and records by
//! way of their components. `references` in the table returns the largest count among the
//! blocks of a value. It is exact: 1 means that this value alone refers to its memory, and 0 that it
//! has none. Memory without a count (a literal in the program), borrowed memory and
//! a count that has overflowed are reported as shared (`fut_count` and `FUT_BORROW` in
//! `futhark-sys/c/fut_calls.h`).
//!
//! # When a copy is made
//!
//! [`Core::call`](super::Core::call) applies [`make_unique`] to each consumed argument of an entry
//! point or operation, and `set_value` in `elements` to the array whose element it sets. A count of 0 or
//! 1 costs one C call and no copy. With a larger count the whole value is duplicated. The copy takes
//! the argument's place, and the other owners keep the original memory.
//!
//! Where two consumed arguments of one call share a block with each other, both are copied: the
//! first original is dropped while the lock is held, so it is freed after the call, and the second
//! one still counts 2. This is one copy more than needed, but neither can see the other change.
//!
//! # Why it is sound
//!
//! * The call has exclusive access to the argument: a consumed [`Handle`] was moved into it or is
//!   borrowed mutably, as is an array whose element is set. So no view of the argument exists, since a
//!   view borrows the handle.
//! * No other value refers to its memory: the count was 1, or the copy is new.
//! * That stays true until the call: only calls increase counts, and the lock is held from the
//!   first count to the end of the call (guarantee L). Other threads can drop values
//!   meanwhile, which frees them later and only ever lowers counts.
//! * On GPU backends counts are kept on the host, at the time of the call. Kernels of earlier calls
//!   that still read the memory run first: a context has one queue, in order.
//!
//! # Arguments in place
//!
//! A consumed argument that is borrowed mutably stays with the caller, so that a call that is refused
//! before it starts does not lose it. A copy takes the place of a shared original in the same way, also
//! if the call is refused after that. A call that started, whether it succeeded or failed, may have
//! overwritten the value: it is freed under the same lock, and the handle is spent. Freeing it
//! at once matters: a result often has the memory of the argument, and while both existed, the next
//! call that consumes the result would copy it.
//!
//! Plain C calls (`plain`) copy nothing; their caller must ensure all this.

use std::borrow::Cow;
use std::sync::Arc;

use super::core::{Copied, Locked};
use super::handle::Handle;
use crate::error::Result;

/// Makes `handle` the only reference to its memory, by putting a copy in its place if anything
/// else shares it; `copied` counts the copy. Returns whether it made one. Comes before every call that overwrites the value, under the
/// same lock.
///
/// # Errors
///
/// The copy failed. On GPU backends copying waits, so the failure can be that of an earlier call.
pub(super) fn make_unique(
    locked: &mut Locked<'_>,
    handle: &mut Handle,
    copied: Copied,
    operation: impl Fn() -> Cow<'static, str>,
) -> Result<bool> {
    let ty = handle.table_type().raw();
    let references = ty.references.expect("every type can be counted");
    let value = handle.value("consume")?;
    // SAFETY: T and L; V: the value is of this type.
    if unsafe { references(value) } <= 1 {
        return Ok(false);
    }
    let copy = duplicate_locked(locked, handle, &operation)?;
    // Drops the original, which is freed when the lock is released.
    *handle = copy;
    locked.count_copy(copied);
    Ok(true)
}

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
    // SAFETY: T and L; V.
    let copy = unsafe { locked.new_value(duplicate, &[original], operation) }?;
    // SAFETY: T: a successful `duplicate` returns a new, complete value of the same type.
    Ok(unsafe { Handle::new(Arc::clone(value.core()), copy, value.ty(), 0) })
}
