//! New arrays whose elements are written in place.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;

use super::core::{Core, expect_none_held};
use super::handle::Handle;
use super::memory::address;
use super::shape::elements;
use super::transfer::{NEW, array_type, create, create_from, with_capacity};
use crate::elem::Element;
use crate::error::{Error, Result, counted};

/// Makes an array of `types()[ty]` from the first elements of an iterator, in row-major order.
///
/// On host backends they are written to the array's memory without a buffer, and without the context's
/// lock. On GPU backends they are collected and uploaded.
///
/// # Errors
///
/// As for [`create`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the iterator has fewer
/// elements than the shape.
pub(crate) fn create_of<T: Element>(
    core: &Arc<Core>,
    ty: u32,
    shape: &[usize],
    values: impl Iterator<Item = T>,
) -> Result<Handle> {
    let n = elements(shape, T::ELEM)?;
    let Some((array, memory)) = unwritten::<T>(core, ty, shape, n)? else {
        let mut buffer = with_capacity(n, NEW)?;
        expect_none_held();
        buffer.extend(values.take(n));
        expect_all(buffer.len(), n)?;
        return create(core, ty, shape, &buffer);
    };
    expect_none_held();
    // SAFETY: T: the memory holds `n` elements and lives as long as `array`, which is new and not handed out, so
    // nothing else accesses it.
    let places = unsafe { std::slice::from_raw_parts_mut(memory.as_ptr(), n) };
    expect_all(write(places, values), n)?;
    Ok(array)
}

/// A new array of which the first `written` elements are written.
pub(crate) struct NewArray<'a, T> {
    n: usize,
    written: usize,
    place: Place<'a, T>,
}

enum Place<'a, T> {
    /// The memory of a column of an array of records, which counts the elements of all its columns.
    Part(NonNull<MaybeUninit<T>>, &'a Cell<usize>),
    /// A buffer with a capacity of all elements, which is uploaded to a new array of this type and shape.
    Buffer(Vec<T>, &'a Arc<Core>, u32, &'a [usize]),
}

impl<'a, T: Element> NewArray<'a, T> {
    /// Allocates the buffer for an array of `types()[ty]`.
    ///
    /// # Errors
    ///
    /// As for [`create`], whose checks of the type come with [`finish`](Self::finish).
    pub(crate) fn start(core: &'a Arc<Core>, ty: u32, shape: &'a [usize]) -> Result<Self> {
        let n = elements(shape, T::ELEM)?;
        Ok(NewArray {
            n,
            written: 0,
            place: Place::Buffer(with_capacity(n, NEW)?, core, ty, shape),
        })
    }

    /// A column of a new array of records. `all` counts the elements that are written.
    ///
    /// # Safety
    ///
    /// The memory holds `n` elements. Until all of them are counted, it stays and nothing else accesses it.
    pub(super) unsafe fn part(
        n: usize,
        memory: NonNull<MaybeUninit<T>>,
        all: &'a Cell<usize>,
    ) -> Self {
        NewArray {
            n,
            written: 0,
            place: Place::Part(memory, all),
        }
    }

    /// The places of all elements that are not written.
    fn unwritten(&mut self) -> &mut [MaybeUninit<T>] {
        let left = self.n - self.written;
        match &mut self.place {
            Place::Part(memory, _) if left > 0 => {
                // SAFETY: T: the memory holds `n` elements, of which at most `n` are written.
                let first = unsafe { memory.add(self.written) };
                // SAFETY: T: as above. Nothing else accesses them, and they live as long as `self`, as the caller of
                // `part` promised.
                unsafe { std::slice::from_raw_parts_mut(first.as_ptr(), left) }
            }
            Place::Part(..) => &mut [],
            Place::Buffer(buffer, ..) => &mut buffer.spare_capacity_mut()[self.written..self.n],
        }
    }

    /// Counts elements that were written to the first places of `unwritten`.
    fn has_written(&mut self, n: usize) {
        self.written += n;
        if let Place::Part(_, all) = self.place {
            all.set(all.get() + n);
        }
    }

    /// The array, if all elements are written.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): they are not, or it is a column, which is
    /// no array. On GPU backends as
    /// for [`create`].
    pub(crate) fn finish(self) -> Result<Handle> {
        expect_all(self.written, self.n)?;
        match self.place {
            Place::Part(..) => Err(Error::invalid(NEW, "a column in place is no array")),
            Place::Buffer(mut buffer, core, ty, shape) => {
                // SAFETY: `written` counts elements that were written from the first one on.
                unsafe { buffer.set_len(self.n) };
                create(core, ty, shape, &buffer)
            }
        }
    }
}

/// Writes one field of each row to the next elements of a column.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the column has fewer elements left. None is
/// written then.
pub(crate) fn fill<Row, T: Element>(
    rows: &[Row],
    column: &mut NewArray<'_, T>,
    field: impl Fn(&Row) -> T,
) -> Result<()> {
    let places = next(column.unwritten(), rows.len())?;
    for (place, row) in places.iter_mut().zip(rows) {
        place.write(field(row));
    }
    column.has_written(rows.len());
    Ok(())
}

/// As [`fill`], for two columns in one pass.
pub(crate) fn fill_two<Row, A: Element, B: Element>(
    rows: &[Row],
    (first, second): (&mut NewArray<'_, A>, &mut NewArray<'_, B>),
    (field_1, field_2): (impl Fn(&Row) -> A, impl Fn(&Row) -> B),
) -> Result<()> {
    let places_1 = next(first.unwritten(), rows.len())?;
    let places_2 = next(second.unwritten(), rows.len())?;
    for ((place_1, place_2), row) in places_1.iter_mut().zip(places_2).zip(rows) {
        place_1.write(field_1(row));
        place_2.write(field_2(row));
    }
    first.has_written(rows.len());
    second.has_written(rows.len());
    Ok(())
}

fn next<T>(places: &mut [MaybeUninit<T>], n: usize) -> Result<&mut [MaybeUninit<T>]> {
    let left = places.len();
    places.get_mut(..n).ok_or_else(|| {
        let (left, rows) = (counted(left, "element"), counted(n, "row"));
        Error::invalid(NEW, format!("a column has {left} left, got {rows}"))
    })
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

pub(super) fn expect_all(written: usize, n: usize) -> Result<()> {
    if written == n {
        return Ok(());
    }
    Err(Error::invalid(
        NEW,
        format!("expected {}, got {written}", counted(n, "element")),
    ))
}
