//! Arrays of opaque values: element by element, and by the columns of records of scalars, which host backends read and
//! write in place, with one call for all of them.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use futhark_manifest::ElemType;
use futhark_sys::table::{self as c, Column, FUT_ARRAY, FUT_BOOL, FUT_FIRST_TYPE};

use super::array::{
    Bounds, complete, create, elements, expect_all, expect_count, expect_index, for_c,
    length_of_dims,
};
use super::buffer::try_vec;
use super::context::{Core, NEW, NO_WORK, READ};
use super::sync::Arc;
use super::table::unsupported;
use super::trace::{self, Copied};
use super::value::{Handle, make_unique, returned};
use crate::elem::{Element, Scalar8};
use crate::error::{Error, ErrorKind, Result, counted};

/// One element: a copy.
pub(crate) fn index_value(array: &Handle, indices: &[i64], bounds: Bounds) -> Result<Handle> {
    let ty = array.table_type();
    let elem = element_type(ty, "index")?;
    let index = ty.raw().index.ok_or_else(|| unsupported(ty, "index"))?;
    expect_index(array, indices, bounds)?;
    let input = [array.value("index")?.cast_const(), indices.as_ptr().cast()];
    let core = array.core();
    // SAFETY: T: the result is a new value of the array's element type; V; there are as many
    // indices as dimensions; T: outside of the array the C function reads nothing and fails.
    unsafe { Core::make(core, elem, "index", index, &input, [array], None) }
}

/// Makes an array of `types()[ty]` from elements in row-major order, which are copied.
pub(crate) fn create_of_values(
    core: &Arc<Core>,
    ty: u32,
    shape: &[usize],
    values: &[&Handle],
) -> Result<Handle> {
    const OPERATION: &str = "new array of values";
    let fail = |message: String| Err(Error::invalid(OPERATION, message));
    let Some(array) = core.table().types().get(ty as usize) else {
        return fail("the program has no type of this number".to_owned());
    };
    let elem = element_type(array, OPERATION)?;
    let create = array.raw().create;
    let create = create.ok_or_else(|| unsupported(array, OPERATION))?;
    if shape.len() != array.raw().rank as usize {
        return fail(format!(
            "{} has rank {}, got shape {shape:?}",
            array.name(),
            array.raw().rank
        ));
    }
    // An element of an opaque type has at least one byte in each of its arrays.
    expect_count(shape, ElemType::U8, values.len())?;
    if values.is_empty() {
        // C reads the size of an element from the first one.
        return fail(format!(
            "an array of type {} cannot be made from no elements, since the size of an element is unknown",
            array.name()
        ));
    }
    let pointers = values
        .iter()
        .enumerate()
        .map(|(i, value)| value.expect(core, elem, || OPERATION, || format!("element {i}")));
    let pointers: Vec<*mut c_void> = pointers.collect::<Result<_>>()?;
    let input = [pointers.as_ptr().cast(), for_c(shape)];
    let uses = values.iter().copied();
    // SAFETY: T; V: each pointer is a live value of the element type and this context, and
    // there are as many as the product of the dimensions, of which there are as many as the type has;
    // S: they are read when this returns.
    let made = unsafe { Core::make(core, ty, OPERATION, create, &input, uses, None) };
    made.map_err(|error| error.into_kind_if_silent(ErrorKind::InvalidArgument))
}

/// Overwrites one element in place. This consumes the array: if other values share its
/// memory, a copy replaces it first.
pub(crate) fn set_value(array: &mut Handle, indices: &[i64], value: &Handle) -> Result<()> {
    const OPERATION: &str = "set element";
    let ty = array.table_type();
    let elem = element_type(ty, OPERATION)?;
    let set = ty.raw().set.ok_or_else(|| unsupported(ty, OPERATION))?;
    let core = Arc::clone(array.core());
    let value_pointer = value.expect(&core, elem, || OPERATION, || "the element".to_owned())?;
    expect_index(array, indices, Bounds::Ours)?;

    let mut copied = Copied::default();
    let mut locked = core.locked();
    locked.expect_valid([array.outcome(), value.outcome()])?;
    if make_unique(&mut locked, array, || OPERATION.into())? {
        locked.count_copy("set", ty.name());
        copied.0 = Some(OPERATION);
    }
    let input = [
        array.value(OPERATION)?.cast_const(),
        value_pointer.cast_const(),
        indices.as_ptr().cast(),
    ];
    // SAFETY: T and L; V: array and element are of matching types and this context; there are as
    // many indices as dimensions; M: `array` is borrowed mutably, and `make_unique` ensured
    // that nothing, the element included, shares the memory that is written.
    let called = unsafe { locked.call(NO_WORK, set, &[], &input, || OPERATION.into()) };
    called.map_err(|failed| failed.error.into_kind_if_silent(ErrorKind::InvalidArgument))?;
    Ok(())
}

/// The unit value, for compilers before 0.25.35, which have no constructor for it. It can be
/// restored from bytes: one bool, which no program reads.
pub(crate) fn unit(core: &Arc<Core>, ty: u32) -> Result<Handle> {
    const BYTES: [u8; 8] = *b"b\x02\x00bool\x00";
    let found = core.table().types().get(ty as usize);
    let restore = found
        .filter(|ty| ty.name() == "()")
        .filter(|ty| matches!(ty.components(), [one] if one.elem == FUT_BOOL && one.rank == 0))
        .and_then(|ty| ty.raw().restore);
    let Some(restore) = restore else {
        let message = "expected the unit type to be one bool; this compiler has another one";
        return Err(Error::new(ErrorKind::Unsupported, "unit", message));
    };
    let input = [BYTES.as_ptr().cast()];
    // SAFETY: T; the type is one bool, and the bytes are one bool in the runtime's format;
    // S: they are read when this returns.
    unsafe { Core::make(core, ty, "unit", restore, &input, [], None) }
}

/// The number of the element type, if the type is an array of opaque values.
fn element_type(ty: &c::Type, operation: &'static str) -> Result<u32> {
    let (raw, name) = (ty.raw(), ty.name());
    let elem = raw.elem.checked_sub(FUT_FIRST_TYPE);
    let elem = elem.filter(|_| raw.kind != FUT_ARRAY && raw.rank > 0);
    elem.ok_or_else(|| {
        let message = format!("expected an array of opaque values, got a value of type {name}");
        Error::invalid(operation, message)
    })
}

/// The columns of an array of records, in place, for as long as it is borrowed.
pub(crate) struct Columns<'a> {
    list: List,
    array: PhantomData<&'a Handle>,
}

struct List {
    ty: &'static c::Type,
    columns: Vec<Column>,
    /// The number of elements of each.
    n: usize,
}

impl List {
    /// Places for as many columns as the type has.
    fn new(ty: &'static c::Type, n: usize) -> List {
        let none = Column {
            memory: ptr::null_mut(),
            shape: ptr::null(),
        };
        let columns = vec![none; ty.components().len()];
        List { ty, columns, n }
    }

    /// The memory of column `i`, whose elements must be of type `T`. `None` if the address is null or not aligned.
    fn memory<T: Element>(&self, i: usize, operation: &'static str) -> Result<Option<NonNull<T>>> {
        let component = self.ty.components().get(i);
        match component.filter(|component| component.elem == T::ELEM as u32) {
            Some(_) => Ok(NonNull::new(self.columns[i].memory.cast()).filter(|it| it.is_aligned())),
            // A mistake of generated code.
            None => {
                let ty = self.ty.name();
                let message = format!("type {ty} has no column {i} of these elements");
                Err(Error::invalid(operation, message))
            }
        }
    }
}

/// All columns of an array. `None` if the table does not have them in place, and on GPU backends. Errors name function
/// number `field`, which returns a field.
pub(crate) fn columns(array: &Handle, field: usize) -> Result<Option<Columns<'_>>> {
    let (core, ty) = (array.core(), array.table_type());
    let Some(columns) = ty.raw().columns.filter(|_| !core.table().is_gpu()) else {
        return Ok(None);
    };
    let label = match core.table().functions().get(field) {
        Some(function) => function.label(),
        None => READ,
    };
    let value = array.value(label)?.cast_const();
    let _span = trace::call(core.table(), || label, || None);
    let mut list = List::new(ty, 0);
    let out = [list.columns.as_mut_ptr().cast()];
    // SAFETY: T; V; there is a place for each component.
    unsafe { core.run(label, columns, &out, &[value], [array.outcome()], None) }?;
    // SAFETY: T: the call has written each column, whose shape lives as long as the value; M.
    list.n = unsafe { length(&list.columns, ty) }?;
    Ok(Some(Columns {
        list,
        array: PhantomData,
    }))
}

/// The length of all columns.
///
/// # Safety
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
    /// The elements of column `i`; a copy for bools, whose bytes in C can be other than 0 and 1. `None` if the
    /// address is null or not aligned.
    pub(crate) fn get<T: Element>(&self, i: usize) -> Result<Option<Cow<'a, [T]>>> {
        let n = self.list.n;
        let memory = match self.list.memory::<T>(i, READ)? {
            _ if n == 0 => return Ok(Some(Cow::Borrowed(&[]))),
            Some(memory) => memory.as_ptr().cast_const(),
            None => return Ok(None),
        };
        if T::ELEM == ElemType::Bool {
            let mut truths = try_vec(n, READ)?;
            // SAFETY: as below. Copies bytes, of which each can be other than 0 and 1.
            unsafe { ptr::copy_nonoverlapping(memory, truths.as_mut_ptr(), n) };
            // SAFETY: all bytes were copied.
            unsafe { complete(&mut truths, n, T::ELEM) };
            return Ok(Some(Cow::Owned(truths)));
        }
        // SAFETY: T: `memory` holds `n` elements in row-major order, complete since the call that made
        // them returned (host backends); every bit pattern is a value of T (bool returned above); M: they stay,
        // unchanged, for as long as the array is borrowed.
        Ok(Some(Cow::Borrowed(unsafe {
            std::slice::from_raw_parts(memory, n)
        })))
    }
}

/// A new array of records whose columns are written in place.
pub(crate) struct NewRecords<'a> {
    core: &'a Arc<Core>,
    shape: &'a [usize],
    /// `None`: the columns are arrays of their own.
    in_place: Option<InPlace>,
}

struct InPlace {
    list: List,
    /// The number of columns that `column` has returned.
    given: Cell<usize>,
    /// The number of elements that were written, of all columns.
    written: Cell<usize>,
    /// The array; `None` after `finish` has returned it.
    array: Cell<Option<Handle>>,
}

impl<'a> NewRecords<'a> {
    /// Allocates an array of `types()[ty]`, if the table can. Otherwise the columns are arrays of their own.
    pub(crate) fn start(core: &'a Arc<Core>, ty: u32, shape: &'a [usize]) -> Result<Self> {
        let in_place = InPlace::start(core, ty, shape)?;
        Ok(NewRecords {
            core,
            shape,
            in_place,
        })
    }

    /// The next column. `ty` is the type of an array of the column alone.
    pub(crate) fn column<T: Element>(&self, ty: u32) -> Result<NewArray<'_, T>> {
        let Some(new) = &self.in_place else {
            return NewArray::start(self.core, ty, self.shape);
        };
        let memory = new.list.memory::<T>(new.given.get(), NEW)?;
        let memory = memory.ok_or_else(|| {
            let message = "the runtime returned no memory for a column";
            Error::new(ErrorKind::Backend, NEW, message)
        })?;
        new.given.set(new.given.get() + 1);
        // T: the memory holds `n` elements, and lives as long as `new.array`, which is not handed out before
        // all elements are written. Each column is given out once.
        Ok(NewArray {
            n: new.list.n,
            written: 0,
            target: Target::Part(memory.cast(), &new.written),
        })
    }

    /// The array, if all elements of its columns are written. `None`: the columns are arrays of their own.
    pub(crate) fn finish(&self) -> Result<Option<Handle>> {
        let Some(new) = &self.in_place else {
            return Ok(None);
        };
        // No column accepts more than `n` elements, so this total means that each has `n`.
        expect_all(new.written.get(), new.list.columns.len() * new.list.n)?;
        Ok(new.array.take())
    }
}

impl InPlace {
    fn start(core: &Arc<Core>, number: u32, shape: &[usize]) -> Result<Option<InPlace>> {
        let ty = core.table().types().get(number as usize);
        let ty = ty.filter(|ty| !core.table().is_gpu() && ty.raw().rank as usize == shape.len());
        let Some((ty, create)) = ty.and_then(|ty| Some((ty, ty.raw().create_columns?))) else {
            return Ok(None);
        };
        let (mut n, mut bytes) = (0, 0usize);
        for component in ty.components() {
            let elem = ElemType::ALL[component.elem as usize];
            n = elements(shape, elem)?;
            bytes = bytes.saturating_add(n * elem.size());
        }
        // The runtime may not allocate memory for no elements.
        if n == 0 {
            return Ok(None);
        }
        let _span = trace::transfer(core.table(), NEW, bytes);
        let mut list = List::new(ty, n);
        let mut value: *mut c_void = ptr::null_mut();
        let out = [(&raw mut value).cast(), list.columns.as_mut_ptr().cast()];
        // SAFETY: T; the type has as many dimensions as `shape`, and there is a place for each component.
        let locked = unsafe { core.run(NEW, create, &out, &[for_c(shape)], [], None) }?;
        let value = returned(value, || NEW.into())?;
        // SAFETY: T: a successful call returns a new value of the type.
        let array = unsafe { Handle::new(Arc::clone(core), value, number, None) };
        drop(locked);
        Ok(Some(InPlace {
            list,
            given: Cell::new(0),
            written: Cell::new(0),
            array: Cell::new(Some(array)),
        }))
    }
}

/// A new array, or a column of one in place, of which the first `written` elements are written.
pub(crate) struct NewArray<'a, T> {
    n: usize,
    written: usize,
    target: Target<'a, T>,
}

enum Target<'a, T> {
    /// The memory of a column of an array of records, with a place for each element, and the number of elements
    /// written in all columns. Until that is complete, the memory stays and nothing else accesses it.
    Part(NonNull<MaybeUninit<T>>, &'a Cell<usize>),
    /// A buffer with a capacity of all elements, which is uploaded to a new array of this type and shape.
    Buffer(Vec<T>, &'a Arc<Core>, u32, &'a [usize]),
}

impl<'a, T: Element> NewArray<'a, T> {
    /// Allocates the buffer for an array of `types()[ty]`, which [`finish`](Self::finish) checks.
    pub(crate) fn start(core: &'a Arc<Core>, ty: u32, shape: &'a [usize]) -> Result<Self> {
        let n = elements(shape, T::ELEM)?;
        let target = Target::Buffer(try_vec(n, NEW)?, core, ty, shape);
        Ok(NewArray {
            n,
            written: 0,
            target,
        })
    }

    /// The places of the next `n` elements.
    fn next(&mut self, n: usize) -> Result<&mut [MaybeUninit<T>]> {
        let left = self.n - self.written;
        if n > left {
            let (left, rows) = (counted(left, "element"), counted(n, "row"));
            let message = format!("a column has {left} left, got {rows}");
            return Err(Error::invalid(NEW, message));
        }
        match &mut self.target {
            Target::Part(..) if n == 0 => Ok(&mut []),
            Target::Part(memory, _) => {
                // SAFETY: T: the memory holds `self.n` elements, of which `written` and `n` more are a part.
                let first = unsafe { memory.add(self.written) };
                // SAFETY: T: as above. They are not written, so nothing else accesses them, and they live as long
                // as `self`.
                Ok(unsafe { std::slice::from_raw_parts_mut(first.as_ptr(), n) })
            }
            Target::Buffer(buffer, ..) => Ok(&mut buffer.spare_capacity_mut()[self.written..][..n]),
        }
    }

    fn has_written(&mut self, n: usize) {
        self.written += n;
        if let Target::Part(_, all) = self.target {
            all.set(all.get() + n);
        }
    }

    /// The array. An error if elements are not written, and for a column in place, which is not an array.
    pub(crate) fn finish(self) -> Result<Handle> {
        expect_all(self.written, self.n)?;
        match self.target {
            Target::Part(..) => Err(Error::invalid(NEW, "a column in place is not an array")),
            Target::Buffer(mut buffer, core, ty, shape) => {
                // SAFETY: `written` counts elements that were written from the first one on.
                unsafe { buffer.set_len(self.n) };
                create(core, ty, shape, &buffer)
            }
        }
    }
}

/// Writes one field of each row to the next elements of a column; an error, and nothing written, if it has fewer left.
pub(crate) fn fill<Row, T: Element>(
    rows: &[Row],
    column: &mut NewArray<'_, T>,
    field: impl Fn(&Row) -> T,
) -> Result<()> {
    for (place, row) in column.next(rows.len())?.iter_mut().zip(rows) {
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
    let places = (first.next(rows.len())?.iter_mut()).zip(second.next(rows.len())?);
    for ((place_1, place_2), row) in places.zip(rows) {
        place_1.write(field_1(row));
        place_2.write(field_2(row));
    }
    first.has_written(rows.len());
    second.has_written(rows.len());
    Ok(())
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
