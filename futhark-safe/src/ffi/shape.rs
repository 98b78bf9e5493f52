//! Shapes, read from the value each time.

use std::ffi::c_void;

use futhark_manifest::ElemType;
use futhark_sys::table::{self as c, FUT_ARRAY};

use super::handle::Handle;
use super::transfer::NEW;
use crate::elem::Element;
use crate::error::{Error, ErrorKind, Result, counted};

/// The number of elements of a new array of this shape, if such an array can exist.
///
/// The runtime computes strides, which are products of the dimensions after the first. So even
/// with a zero among them, the product of the others must not overflow.
pub(crate) fn elements(shape: &[usize], elem: ElemType) -> Result<usize> {
    let (mut n, mut bytes, mut overflows) = (1usize, elem.size(), false);
    for &dim in shape {
        n = n.wrapping_mul(dim);
        let (product, wraps) = bytes.overflowing_mul(dim.max(1));
        (bytes, overflows) = (product, overflows | wraps);
    }
    match overflows || i64::try_from(bytes).is_err() {
        false => Ok(n),
        true => Err(too_large(shape, elem)),
    }
}

/// Expects as many elements as the shape has.
pub(crate) fn expect_count(shape: &[usize], elem: ElemType, n: usize) -> Result<()> {
    let expected = elements(shape, elem)?;
    if expected == n {
        return Ok(());
    }
    let expected = counted(expected, "element");
    let message = format!("shape {shape:?} has {expected}, got {n}");
    Err(Error::invalid(NEW, message))
}

#[cold]
fn too_large(shape: &[usize], elem: ElemType) -> Error {
    let message =
        format!("an array of shape {shape:?} and element type {elem} is larger than any memory");
    Error::invalid(NEW, message)
}

/// The number of elements of an existing array of this shape.
pub(crate) fn count(shape: &[usize]) -> usize {
    // The product of the other dimensions of an empty array may overflow.
    if shape.contains(&0) {
        return 0;
    }
    // A size in the program's types may have overflowed.
    shape.iter().fold(1, |n, &dim| n.saturating_mul(dim))
}

/// A shape that [`elements`] accepted as C's `int64_t` array: no extent is larger than `i64::MAX`.
#[inline]
pub(super) fn for_c(shape: &[usize]) -> *const c_void {
    const { assert!(size_of::<usize>() == size_of::<i64>()) };
    shape.as_ptr().cast()
}

/// The shape of an array of any rank and elements.
#[cfg(feature = "dynamic")]
pub(crate) fn shape(array: &Handle) -> Result<Vec<usize>> {
    Ok(dims(array, "shape")?.iter().copied().map(extent).collect())
}

/// The shape of an array whose type has rank `R`; zeros if it is spent.
///
/// # Panics
///
/// If the type has another rank, which is a mistake of generated code, or if plain C calls made an
/// array with a negative dimension.
pub(crate) fn shape_array<const R: usize>(array: &Handle) -> [usize; R] {
    if array.is_spent() {
        return [0; R];
    }
    let dims: Option<[i64; R]> = dims(array, "shape")
        .ok()
        .and_then(|dims| dims.try_into().ok());
    dims.expect("generated code has the rank of the type")
        .map(extent)
}

/// A dimension that [`dims`] returned.
fn extent(dim: i64) -> usize {
    usize::try_from(dim).expect("a dimension is not negative")
}

/// The dimensions in the runtime's memory. The C side rejects results with a negative one; plain C calls can
/// make them.
#[inline]
fn dims<'a>(array: &'a Handle, operation: &'static str) -> Result<&'a [i64]> {
    let raw = array.table_type().raw();
    let shape = raw.shape.ok_or_else(|| {
        let message = format!("a value of type {} has no shape", array.table_type().name());
        Error::invalid(operation, message)
    })?;
    let mut dims: *const i64 = std::ptr::null();
    let out = [(&raw mut dims).cast::<c_void>()];
    let input = [array.value(operation)?.cast_const()];
    // SAFETY: T; V. L exempts `shape`: it points into the value, whose dimensions never
    // change while it exists, and `array` is borrowed meanwhile.
    let status = unsafe { shape(array.core().context(), out.as_ptr(), input.as_ptr()) };
    if status as u32 != c::FUT_OK || dims.is_null() {
        let message = "the runtime returned no shape";
        return Err(Error::new(ErrorKind::Backend, operation, message));
    }
    // SAFETY: T: a shape has as many dimensions as the type's rank, and lives with the value,
    // which lives as long as the borrow of `array` (V).
    let dims = unsafe { std::slice::from_raw_parts(dims, raw.rank as usize) };
    match dims.iter().fold(0, |signs, &dim| signs | dim) < 0 {
        false => Ok(dims),
        true => Err(impossible(dims, operation)),
    }
}

#[cold]
fn impossible(dims: &[i64], operation: &'static str) -> Error {
    let message = format!("the runtime returned the impossible shape {dims:?}");
    Error::new(ErrorKind::Backend, operation, message)
}

/// The shapes of the arrays in a value, for messages: `[3][4]f32`. Empty if there are none.
pub(super) fn describe(value: &Handle) -> String {
    let text = |dims: &[i64], elem: u32| {
        let dims: String = dims.iter().map(|dim| format!("[{dim}]")).collect();
        let elem = ElemType::ALL.get(elem as usize);
        format!("{dims}{}", elem.map_or("?", |elem| elem.as_str()))
    };
    let ty = value.table_type();
    if ty.raw().kind == FUT_ARRAY {
        return dims(value, "shape").map_or(String::new(), |dims| text(dims, ty.raw().elem));
    }
    let arrays = ty.components().iter().filter(|part| part.rank > 0);
    let shapes = arrays.filter_map(|part| Some(text(part_dims(value, part)?, part.elem)));
    shapes.collect::<Vec<_>>().join(" and ")
}

/// The dimensions of a component that is an array.
fn part_dims<'a>(value: &'a Handle, part: &c::Component) -> Option<&'a [i64]> {
    let value = value.value("shape").ok()?;
    // SAFETY: T: the component lies at this offset in a value of the type, which lives (V).
    let place = unsafe { value.byte_add(part.offset as usize) };
    // SAFETY: T: a component whose rank is not 0 is a pointer to an array. It never changes.
    let array = unsafe { place.cast::<*const c_void>().read() };
    if array.is_null() {
        return None;
    }
    // SAFETY: T: the shape lies at this offset in that array, which lives as long as the value.
    let shape = unsafe { array.byte_add(part.shape as usize) };
    // SAFETY: T: it has as many dimensions as the rank says, and never changes; `value` is
    // borrowed meanwhile.
    Some(unsafe { std::slice::from_raw_parts(shape.cast(), part.rank as usize) })
}

/// The element type of an array of scalars and its length.
pub(super) fn length(array: &Handle, operation: &'static str) -> Result<(ElemType, usize)> {
    let elem = elem_of(array, operation)?;
    Ok((elem, length_by_size(array, elem.size(), operation)?))
}

/// The element type and rank of an array of scalars.
#[cfg(feature = "dynamic")]
pub(crate) fn elem_and_rank(array: &Handle) -> (ElemType, usize) {
    let elem = elem_of(array, "array").expect("an array of scalars has their type");
    (elem, array.table_type().raw().rank as usize)
}

fn elem_of(array: &Handle, operation: &'static str) -> Result<ElemType> {
    let ty = array.table_type();
    let elem = ElemType::ALL.get(ty.raw().elem as usize).copied();
    elem.filter(|_| ty.raw().kind == FUT_ARRAY).ok_or_else(|| {
        let name = ty.name();
        let message = format!("expected an array of scalars, got a value of type {name}");
        Error::invalid(operation, message)
    })
}

/// The length of an array whose elements have this size.
#[inline]
fn length_by_size(array: &Handle, size: usize, operation: &'static str) -> Result<usize> {
    let dims = dims(array, operation)?;
    length_of_dims(dims, size).ok_or_else(|| impossible(dims, operation))
}

/// The number of elements of this size. `None` if such an array cannot exist.
#[inline]
pub(super) fn length_of_dims(dims: &[i64], size: usize) -> Option<usize> {
    let (mut n, mut overflows, mut signs) = (1usize, false, 0);
    for &dim in dims {
        let (product, wraps) = n.overflowing_mul(dim as usize);
        (n, overflows, signs) = (product, overflows | wraps, signs | dim);
    }
    if signs < 0 {
        return None;
    }
    // The product of the others may overflow.
    if overflows && dims.contains(&0) {
        return Some(0);
    }
    // Too large if a size in the program's types overflowed (see SAFETY.md).
    let bytes = n.checked_mul(size).filter(|_| !overflows)?;
    isize::try_from(bytes).is_ok().then_some(n)
}

/// The length of an array whose elements must be of type `T`.
#[inline]
pub(super) fn length_of<T: Element>(array: &Handle, operation: &'static str) -> Result<usize> {
    let raw = array.table_type().raw();
    if raw.kind != FUT_ARRAY || raw.elem != T::ELEM as u32 {
        return Err(other_elements(array, T::ELEM, operation));
    }
    length_by_size(array, size_of::<T>(), operation)
}

#[cold]
fn other_elements(array: &Handle, expected: ElemType, operation: &'static str) -> Error {
    match elem_of(array, operation) {
        Ok(elem) => Error::invalid(
            operation,
            format!("expected elements of type {elem}, got {expected}"),
        ),
        Err(error) => error,
    }
}

/// Which side checks the bounds of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// Both sides, since C's error names neither the index nor the shape.
    Ours,
    /// C alone, to test its check.
    #[cfg(feature = "dynamic")]
    OfC,
}

/// Expects one index per dimension, each in bounds unless C alone checks that.
pub(super) fn expect_index(array: &Handle, indices: &[i64], bounds: Bounds) -> Result<()> {
    let dims = dims(array, "index")?;
    let inside = || {
        bounds != Bounds::Ours
            || indices
                .iter()
                .zip(dims)
                .all(|(i, dim)| (0..*dim).contains(i))
    };
    if indices.len() == dims.len() && inside() {
        return Ok(());
    }
    let message = format!("index {indices:?} is outside of an array of shape {dims:?}");
    Err(Error::invalid("index", message))
}
