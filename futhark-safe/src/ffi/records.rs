//! Arrays of opaque values: element by element, and by the columns of records of scalars, which host backends read and
//! write in place, with one call for all of them.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use futhark_manifest::ElemType;
use futhark_sys::table::{self as c, Column, FUT_ARRAY, FUT_BOOL, FUT_FIRST_TYPE};

use super::array::{
    Bounds, NEW, READ, complete, create, elements, expect_all, expect_count, expect_index, for_c,
    length_of_dims,
};
use super::buffer::with_capacity;
use super::call::wrong_context;
use super::context::Core;
use super::trace;
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
    // SAFETY: T: the result is a new value of the array's element type; V; there are as many
    // indices as dimensions; T: outside of the array the C function reads nothing and fails.
    unsafe {
        array
            .core()
            .make(elem, "index", index, &input, [array], None)
    }
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
    for (i, value) in values.iter().enumerate() {
        expect_element(core, elem, value, OPERATION, || format!("element {i}"))?;
    }
    let pointers = values.iter().map(|v| v.value(OPERATION));
    let pointers: Vec<*mut c_void> = pointers.collect::<Result<_>>()?;
    let input = [pointers.as_ptr().cast(), for_c(shape)];
    let uses = values.iter().copied();
    // SAFETY: T; V: each pointer is a live value of the element type and this context, and
    // there are as many as the product of the dimensions, of which there are as many as the type has;
    // S: they are read when this returns.
    let made = unsafe { core.make(ty, OPERATION, create, &input, uses, None) };
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
    expect_element(&core, elem, value, OPERATION, || "the element".to_owned())?;
    expect_index(array, indices, Bounds::Ours)?;

    let mut locked = core.locked();
    locked.check([&*array, value])?;
    let copied = make_unique(&mut locked, array, || OPERATION.into())?;
    if copied {
        locked.count_copy("set", ty.name().to_owned());
    }
    let input = [
        array.value(OPERATION)?.cast_const(),
        value.value(OPERATION)?.cast_const(),
        indices.as_ptr().cast(),
    ];
    // SAFETY: T and L; V: array and element are of matching types and this context; there are as
    // many indices as dimensions; M: `array` is borrowed mutably, and `make_unique` ensured
    // that nothing, the element included, shares the memory that is written.
    let called = unsafe { locked.call(set, &[], &input, || OPERATION.into()) };
    called.map_err(|failed| failed.error.into_kind_if_silent(ErrorKind::InvalidArgument))?;
    drop(locked);
    if copied {
        trace::copied(OPERATION);
    }
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
    unsafe { core.make(ty, "unit", restore, &input, [], None) }
}

/// The number of the element type, if the type is an array of opaque values.
fn element_type(ty: &c::Type, operation: &'static str) -> Result<u32> {
    let raw = ty.raw();
    let elem = raw.elem.checked_sub(FUT_FIRST_TYPE);
    match elem {
        Some(elem) if raw.kind != FUT_ARRAY && raw.rank > 0 => Ok(elem),
        _ => {
            let message = format!(
                "expected an array of opaque values, got a value of type {}",
                ty.name()
            );
            Err(Error::invalid(operation, message))
        }
    }
}

fn expect_element(
    core: &Arc<Core>,
    elem: u32,
    value: &Handle,
    operation: &'static str,
    which: impl Fn() -> String,
) -> Result<()> {
    // The context first, since type numbers of different tables cannot be compared.
    if !Arc::ptr_eq(core, value.core()) {
        return Err(wrong_context(operation, &which()));
    }
    if value.ty() != elem {
        let (expected, got) = (FUT_FIRST_TYPE + elem, FUT_FIRST_TYPE + value.ty());
        return Err(core.wrong_type(operation, &which(), expected, got));
    }
    Ok(())
}

pub(super) fn unsupported(ty: &c::Type, operation: &'static str) -> Error {
    let message = format!(
        "this version of the compiler provides no such function for type {}",
        ty.name()
    );
    Error::new(ErrorKind::Unsupported, operation, message)
}

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
    let value = match array.live() {
        Some(value) => value.as_ptr().cast_const(),
        None => return Err(array.spent(label(), "the value")),
    };
    let _span = trace::call(core, label, &[]);
    let mut list = no_columns(ty);
    let mut locked = core.locked();
    locked.check([array])?;
    let out = [list.as_mut_ptr().cast()];
    // SAFETY: T and L; V; there is a place for each component.
    unsafe { locked.call(columns, &out, &[value], || label().into()) }?;
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
            let mut truths: Vec<T> = with_capacity(self.n, READ)?;
            // SAFETY: as below, for the bytes.
            unsafe {
                ptr::copy_nonoverlapping(memory.as_ptr().cast(), truths.as_mut_ptr(), self.n)
            };
            // SAFETY: all bytes were copied.
            unsafe { complete(&mut truths, self.n, T::ELEM) };
            return Ok(Some(Cow::Owned(truths)));
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
        let _span = trace::transfer(core, NEW, bytes);
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
