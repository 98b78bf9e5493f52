//! Arrays of records of scalars on host backends: their columns, read and written in place, with one call
//! for all of them.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use futhark_manifest::ElemType;
use futhark_sys::table::{self as c, Column};

use super::core::Core;
use super::fill::{NewArray, expect_all};
use super::handle::{Handle, returned};
use super::shape::{elements, for_c, length_of_dims};
use super::trace;
use super::transfer::{NEW, READ, truths};
use crate::elem::{Element, Scalar8};
use crate::error::{Call, Error, ErrorKind, Result};

/// The columns of an array of records, in place.
pub(crate) struct Columns<'a> {
    ty: &'static c::Type,
    list: Vec<Column>,
    /// The number of elements of each.
    n: usize,
    array: PhantomData<&'a Handle>,
}

/// All columns of an array. `None` if the table does not have them in place, and on GPU backends.
///
/// # Errors
///
/// As for a call of function number `field`, which returns a field. [`ErrorKind::Backend`]: the columns have
/// different or impossible shapes.
pub(crate) fn columns(array: &Handle, field: usize) -> Result<Option<Columns<'_>>> {
    let (core, ty) = (array.core(), array.table_type());
    let Some(columns) = ty.raw().columns.filter(|_| !core.table().is_gpu()) else {
        return Ok(None);
    };
    let label = || match core.table().functions().get(field) {
        Some(function) => function.label(),
        None => READ,
    };
    if array.is_spent() {
        return Err(array.spent(label(), "the value"));
    }
    let _span = trace::call(core, label, &[]);
    let mut list = no_columns(ty);
    let mut locked = core.locked();
    locked.check([array])?;
    let out = [list.as_mut_ptr().cast()];
    let input = [array.value_or_null().cast_const()];
    // SAFETY: T and L; V; there is a place for each component.
    unsafe { locked.call(columns, &out, &input, || Call::Borrowed(label())) }?;
    drop(locked);
    // SAFETY: T: the call has written each column, whose shape lives as long as the value; M.
    let n = unsafe { length(&list, ty) }?;
    Ok(Some(Columns {
        ty,
        list,
        n,
        array: PhantomData,
    }))
}

/// The length of all columns.
///
/// # Safety
///
/// They are columns of a live value of the type.
unsafe fn length(columns: &[Column], ty: &c::Type) -> Result<usize> {
    // SAFETY: T: a shape has as many dimensions as the rank of the type; the caller promises the rest.
    let dims = |column: &Column| unsafe {
        std::slice::from_raw_parts(column.shape, ty.raw().rank as usize)
    };
    let first = columns.first().map_or(&[][..], dims);
    let n = length_of_dims(first, size_of::<Scalar8>());
    match n {
        Some(n) if columns.iter().all(|column| dims(column) == first) => Ok(n),
        _ => {
            let shapes: Vec<&[i64]> = columns.iter().map(dims).collect();
            let message =
                format!("the runtime returned columns of the impossible shapes {shapes:?}");
            Err(Error::new(ErrorKind::Backend, READ, message))
        }
    }
}

impl<'a> Columns<'a> {
    /// The elements of column `i`; a copy for bools, whose bytes in C can be other than 0 and 1. `None` if
    /// they are not aligned.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: there is no such column, or it has other elements.
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn get<T: Element>(&self, i: usize) -> Result<Option<Cow<'a, [T]>>> {
        let column = column_of::<T>(self.ty, &self.list, i, READ)?;
        let memory = match NonNull::new(column.memory) {
            _ if self.n == 0 => return Ok(Some(Cow::Borrowed(&[]))),
            Some(memory) if memory.cast::<T>().is_aligned() => memory,
            _ => return Ok(None),
        };
        if T::ELEM == ElemType::Bool {
            // SAFETY: as below, for the bytes.
            let bytes = unsafe { std::slice::from_raw_parts(memory.cast::<u8>().as_ptr(), self.n) };
            return Ok(Some(Cow::Owned(truths(bytes)?)));
        }
        // SAFETY: T: `memory` holds `n` elements in row-major order, complete since the call that made
        // them returned (host backends); every bit pattern is a value of T (bool returned above); M: they stay,
        // unchanged, for as long as the array is borrowed.
        let elements = unsafe { std::slice::from_raw_parts(memory.cast::<T>().as_ptr(), self.n) };
        Ok(Some(Cow::Borrowed(elements)))
    }
}

/// A new array of records whose columns are written in place.
pub(crate) struct NewRecords<'a> {
    core: &'a Arc<Core>,
    shape: &'a [usize],
    in_place: Option<InPlace>,
}

struct InPlace {
    ty: &'static c::Type,
    list: Vec<Column>,
    n: usize,
    /// The number of columns that were given out.
    given: Cell<usize>,
    /// The number of elements that were written, of all columns.
    written: Cell<usize>,
    /// Until all elements are written.
    array: Cell<Option<Handle>>,
}

impl<'a> NewRecords<'a> {
    /// Allocates an array of `types()[ty]`, if the table can. Otherwise the columns are arrays of their own.
    ///
    /// # Errors
    ///
    /// As for [`create`](super::create).
    pub(crate) fn start(core: &'a Arc<Core>, ty: u32, shape: &'a [usize]) -> Result<Self> {
        Ok(NewRecords {
            core,
            shape,
            in_place: InPlace::start(core, ty, shape)?,
        })
    }

    /// The next column. `ty` is the type of an array of the column alone.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: the array has no further column, or it has other elements. Otherwise as for
    /// [`NewArray::start`].
    pub(crate) fn column<T: Element>(&self, ty: u32) -> Result<NewArray<'_, T>> {
        let Some(new) = &self.in_place else {
            return NewArray::start(self.core, ty, self.shape);
        };
        let column = column_of::<T>(new.ty, &new.list, new.given.get(), NEW)?;
        let Some(memory) = NonNull::new(column.memory) else {
            return Err(no_column(new.ty, new.given.get(), NEW));
        };
        new.given.set(new.given.get() + 1);
        // SAFETY: T: the memory holds `n` elements, is aligned (`InPlace::start`), and lives as long as
        // `new.array`, which is not handed out before all elements are written. Each column is given out once.
        Ok(unsafe { NewArray::part(new.n, memory.cast(), &new.written) })
    }

    /// The array, if all elements of its columns are written. `None`: the columns are arrays of their own.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: they are not all written.
    pub(crate) fn finish(&self) -> Result<Option<Handle>> {
        let Some(new) = &self.in_place else {
            return Ok(None);
        };
        // No column has more than `n`.
        expect_all(new.written.get(), new.list.len() * new.n)?;
        Ok(new.array.take())
    }
}

impl InPlace {
    fn start(core: &Arc<Core>, ty: u32, shape: &[usize]) -> Result<Option<InPlace>> {
        let number = ty;
        let Some(ty) = core.table().types().get(ty as usize) else {
            return Ok(None);
        };
        let create = ty.raw().create_columns;
        let create =
            create.filter(|_| !core.table().is_gpu() && ty.raw().rank as usize == shape.len());
        let Some(create) = create else {
            return Ok(None);
        };
        let (mut n, mut bytes) = (0, 0usize);
        for component in ty.components() {
            let elem = elem_of(component).ok_or_else(|| no_column(ty, 0, NEW))?;
            n = elements(shape, elem)?;
            bytes = bytes.saturating_add(n * elem.size());
        }
        // The runtime may not allocate memory for no elements.
        if n == 0 {
            return Ok(None);
        }
        let _span = trace::transfer(core, NEW, || bytes);
        let mut list = no_columns(ty);
        let mut value: *mut c_void = ptr::null_mut();
        let mut locked = core.locked();
        locked.check([])?;
        let out = [(&raw mut value).cast(), list.as_mut_ptr().cast()];
        // SAFETY: T and L; the type has as many dimensions as `shape`, and there is a place for each component.
        unsafe { locked.call(create, &out, &[for_c(shape)], || NEW.into()) }?;
        let value = returned(value, || NEW.into())?;
        // SAFETY: T: a successful call returns a new value of the type.
        let array = unsafe { Handle::new(Arc::clone(core), value, number, 0) };
        drop(locked);
        let columns = list.iter().zip(ty.components());
        let mut places = columns.map(|(column, component)| (column.memory, elem_of(component)));
        if !places.all(|(memory, elem)| {
            elem.is_some_and(|elem| !memory.is_null() && memory.addr().is_multiple_of(elem.size()))
        }) {
            return Ok(None);
        }
        Ok(Some(InPlace {
            ty,
            list,
            n,
            given: Cell::new(0),
            written: Cell::new(0),
            array: Cell::new(Some(array)),
        }))
    }
}

/// A column by its number, whose elements must be of type `T`.
fn column_of<'l, T: Element>(
    ty: &c::Type,
    list: &'l [Column],
    i: usize,
    operation: &'static str,
) -> Result<&'l Column> {
    let is_of = |component: &c::Component| component.elem == T::ELEM as u32;
    match (list.get(i), ty.components().get(i)) {
        (Some(column), Some(component)) if is_of(component) => Ok(column),
        _ => Err(no_column(ty, i, operation)),
    }
}

fn elem_of(component: &c::Component) -> Option<ElemType> {
    ElemType::ALL.get(component.elem as usize).copied()
}

/// A mistake of generated code.
#[cold]
fn no_column(ty: &c::Type, i: usize, operation: &'static str) -> Error {
    Error::invalid(
        operation,
        format!("type {} has no column {i} of these elements", ty.name()),
    )
}

/// Places for as many columns as a type has.
fn no_columns(ty: &c::Type) -> Vec<Column> {
    let none = Column {
        memory: ptr::null_mut(),
        shape: ptr::null(),
    };
    vec![none; ty.components().len()]
}

#[cfg(test)]
mod tests {
    use futhark_fake::types::POINTS;
    use futhark_fake::{Flavour, program};

    use super::*;

    #[test]
    fn columns_have_one_possible_shape() {
        let ty = &program::table(Flavour::Host).types()[POINTS as usize];
        for (a, b, expected) in [
            (3, 3, Some(3)),
            (0, 0, Some(0)),
            (3, 2, None),
            (2, 3, None),
            (-1, -1, None),
            (i64::MAX, i64::MAX, None),
        ] {
            let columns = [&a, &b].map(|shape| Column {
                memory: ptr::null_mut(),
                shape,
            });
            // SAFETY: the shapes have one dimension, as the type has.
            let n = unsafe { length(&columns, ty) };
            assert_eq!(n.as_ref().ok().copied(), expected);
            if let Err(error) = n {
                assert_eq!(error.kind(), ErrorKind::Backend);
                assert!(
                    error.to_string().contains(&format!("[[{a}], [{b}]]")),
                    "{error}"
                );
            }
        }
    }
}
