//! New arrays whose elements are written in place.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;

use super::core::Core;
use super::fresh::reserve;
use super::handle::Handle;
use super::memory::address;
use super::shape::elements;
use super::transfer::{NEW, array_type, create, create_from};
use crate::elem::Element;
use crate::error::{Error, ErrorKind, Result};

/// Makes an array of `types()[ty]` from the first elements of an iterator, in row-major order.
///
/// On host backends they are written to the array's memory without a buffer, and without the context's
/// lock. On GPU backends they are collected and uploaded.
///
/// # Errors
///
/// As for [`create`]; [`ErrorKind::InvalidArgument`]: the iterator has fewer elements than the shape.
pub(crate) fn create_of<T: Element>(
    core: &Arc<Core>,
    ty: u32,
    shape: &[usize],
    values: impl Iterator<Item = T>,
) -> Result<Handle> {
    let n = elements(shape, T::ELEM)?;
    if let Some((array, memory)) = unwritten::<T>(core, ty, shape, n)? {
        // SAFETY: T: the memory holds `n` elements; `array` is new and was not handed out, so
        // nothing else accesses them, and it is dropped after the slice.
        let places = unsafe { std::slice::from_raw_parts_mut(memory.as_ptr(), n) };
        expect_all(write(places, values), n)?;
        return Ok(array);
    }
    let mut buffer: Vec<T> = Vec::new();
    reserve(&mut buffer, n, NEW)?;
    let written = write(&mut buffer.spare_capacity_mut()[..n], values);
    expect_all(written, n)?;
    // SAFETY: `write` has counted `n` elements that it wrote.
    unsafe { buffer.set_len(n) };
    create(core, ty, shape, &buffer)
}

/// An array whose `n` elements are not initialised, and its memory. `None` if the host cannot
/// access the memory.
fn unwritten<T: Element>(
    core: &Arc<Core>,
    ty: u32,
    shape: &[usize],
    n: usize,
) -> Result<Option<(Handle, NonNull<MaybeUninit<T>>)>> {
    let raw_memory = array_type(core, ty, T::ELEM, shape.len())?.raw().raw_memory;
    if n == 0 || core.table().is_gpu() || raw_memory.is_none() {
        return Ok(None);
    }
    // SAFETY: T: on host backends, data that is null is not read.
    let array = unsafe { create_from(core, ty, T::ELEM, shape, std::ptr::null(), n, None) }?;
    let memory = address(&array)?.map(NonNull::<c_void>::cast::<MaybeUninit<T>>);
    let memory = memory.filter(|memory| memory.is_aligned());
    Ok(memory.map(|memory| (array, memory)))
}

/// Writes values to places as far as both reach; returns their number.
fn write<T>(places: &mut [MaybeUninit<T>], values: impl Iterator<Item = T>) -> usize {
    let mut written = 0;
    for (place, value) in places.iter_mut().zip(values) {
        place.write(value);
        // Counts what is written, not what the iterator promises: `create_of` relies on it.
        written += 1;
    }
    written
}

fn expect_all(written: usize, n: usize) -> Result<()> {
    if written == n {
        return Ok(());
    }
    let message = format!("expected {n} elements, got {written}");
    Err(Error::new(ErrorKind::InvalidArgument, NEW, message))
}
