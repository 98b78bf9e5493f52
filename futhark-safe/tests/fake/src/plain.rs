//! Plain calls: lending a context, and the functions that a raw module would declare.

use std::ffi::c_void;

use futhark_sys::table as c;

use crate::context::{Context, Failure, entering};
use crate::types::INTS;
use crate::value::{Array, Part, Value};

pub(crate) unsafe extern "C" fn lend(
    ctx: *mut c::Context,
    out: *const *mut c_void,
    _input: *const *const c_void,
) -> i32 {
    let body = |context: &mut Context| {
        context.wait()?;
        if std::mem::take(&mut context.stalled) {
            return Err(Failure::new(c::FUT_FAILED, 1, "the device cannot wait"));
        }
        context.lent = true;
        // SAFETY: T: one result.
        let place = unsafe { out.read() }.cast::<*mut c::Context>();
        // SAFETY: T: the place is for a pointer.
        unsafe { place.write(ctx) };
        context.leaves = context.gpu;
        Ok(())
    };
    // SAFETY: T: the context lives.
    unsafe { Context::enter(ctx, "lend", body) }
}

pub(crate) unsafe extern "C" fn take_back(ctx: *mut c::Context, code: i32) -> i32 {
    let end = |context: &mut Context| {
        if !std::mem::take(&mut context.lent) {
            context.breach("a context was taken back that was not lent".to_owned());
        }
    };
    // SAFETY: T: the context lives.
    unsafe { Context::alone(ctx, "take_back", end) };
    let body = |context: &mut Context| match context.left.take() {
        Some(failure) => Err(failure),
        None if code != 0 => Err(Failure::silent()),
        None => context.wait_for_plain_calls(),
    };
    // SAFETY: T: the context lives.
    entering(None, || unsafe { Context::enter(ctx, "take_back", body) })
}

/// Runs a plain call.
///
/// # Safety
/// As for [`Context::enter`].
unsafe fn plain<T>(ctx: *mut c::Context, body: impl FnOnce(&mut Context) -> T) -> Option<T> {
    let call = |context: &mut Context| {
        if !context.lent {
            context.breach("a plain call was made on a context that is not lent".to_owned());
        }
        body(context)
    };
    // SAFETY: as the caller promises.
    unsafe { Context::alone(ctx, "a plain call", call) }
}

/// `futhark_new_i32_1d`
///
/// # Safety
/// The context lives.
pub unsafe fn new(ctx: *mut c::Context, data: &[i32]) -> *mut c_void {
    let make = |context: &mut Context| {
        let parts = vec![Part::Array(Array::of_ints(data.iter().copied()))];
        context.adopt(Value::new(parts), INTS)
    };
    // SAFETY: as the caller promises.
    unsafe { plain(ctx, make) }.unwrap_or(std::ptr::null_mut())
}

/// `futhark_free_i32_1d`
///
/// # Safety
/// The context lives.
pub unsafe fn free(ctx: *mut c::Context, ints: *mut c_void) -> i32 {
    let free = |context: &mut Context| i32::from(context.release("free", ints, INTS).is_err());
    // SAFETY: as the caller promises.
    unsafe { plain(ctx, free) }.unwrap_or(1)
}

/// `futhark_entry_total`
///
/// # Safety
/// The context lives.
pub unsafe fn total(ctx: *mut c::Context, out: &mut i32, ints: *const c_void) -> i32 {
    let add = |context: &mut Context| match context.find("total", ints, INTS) {
        Ok(value) => {
            *out = value.arrays().flat_map(Array::ints).sum();
            0
        }
        Err(_) => 1,
    };
    // SAFETY: as the caller promises.
    unsafe { plain(ctx, add) }.unwrap_or(1)
}

/// An entry point that fails: on the host at once, on a GPU later, with an invalid result.
///
/// # Safety
/// The context lives.
pub unsafe fn fail(ctx: *mut c::Context, out: &mut *mut c_void) -> i32 {
    let fail = |context: &mut Context| {
        if !context.gpu {
            context.left = Some(Failure::program("Index [7] out of bounds"));
            return 1;
        }
        let array = Array::of_ints([0]);
        array.memory.borrow_mut().invalid = true;
        context.check_later();
        context.failing = Some("Index [7] out of bounds\n-> #0  fake.fut:1:1-2\n".to_owned());
        *out = context.adopt(Value::new(vec![Part::Array(array)]), INTS);
        0
    };
    // SAFETY: as the caller promises.
    unsafe { plain(ctx, fail) }.unwrap_or(1)
}

/// A failure after which the next attempt to lend the context fails, once.
///
/// # Safety
/// The context lives.
pub unsafe fn stall(ctx: *mut c::Context) -> i32 {
    let stall = |context: &mut Context| {
        context.stalled = true;
        1
    };
    // SAFETY: as the caller promises.
    unsafe { plain(ctx, stall) }.unwrap_or(1)
}

/// Makes the runtime fail fatally when the context is taken back.
///
/// # Safety
/// The context lives.
pub unsafe fn break_down(ctx: *mut c::Context) -> i32 {
    let end = |context: &mut Context| {
        context.left = Some(Failure::new(c::FUT_LOST, -1, "the device is gone"));
        1
    };
    // SAFETY: as the caller promises.
    unsafe { plain(ctx, end) }.unwrap_or(1)
}
