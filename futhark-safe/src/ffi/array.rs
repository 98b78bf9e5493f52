//! Arrays of scalars: their shapes, transfers of elements between them and the host, and their memory: elements in
//! place, new arrays that are written in place, memory shared with other crates.

use std::ffi::c_void;
use std::fmt;
use std::mem::{self, MaybeUninit};
use std::ptr::{self, NonNull};

use futhark_manifest::{Backend, ElemType};
use futhark_sys::table::{self as c, FUT_ARRAY};

use super::buffer::{leak_if_lost, try_vec};
use super::context::{Core, NEW, READ, Transfers};
use super::sync::Arc;
use super::table::{backend_of, unsupported};
use super::trace::{self, Copied, expect_none_held};
use super::value::{Handle, make_unique};
use crate::elem::{Element, Scalar8};
use crate::error::{Error, ErrorKind, Result, counted};

/// The number of elements of a new array of this shape, if such an array can exist.
///
/// The runtime computes strides, which are products of the dimensions after the first. So even
/// with a zero among them, the product of the others must not overflow.
pub(crate) fn elements(shape: &[usize], elem: ElemType) -> Result<usize> {
    let sizes = shape.iter().try_fold((1, elem.size()), |(n, bytes), &dim| {
        let bytes = bytes.checked_mul(dim.max(1))?;
        Some((n * dim, bytes))
    });
    match sizes {
        Some((n, bytes)) if i64::try_from(bytes).is_ok() => Ok(n),
        _ => Err(too_large(shape, elem)),
    }
}

#[cold]
fn too_large(shape: &[usize], elem: ElemType) -> Error {
    let message =
        format!("an array of shape {shape:?} and element type {elem} is larger than any memory");
    Error::invalid(NEW, message)
}

pub(crate) fn expect_count(shape: &[usize], elem: ElemType, n: usize) -> Result<()> {
    match elements(shape, elem)? {
        expected if expected == n => Ok(()),
        expected => Err(wrong_count(shape, expected, n)),
    }
}

#[cold]
fn wrong_count(shape: &[usize], expected: usize, got: usize) -> Error {
    let expected = counted(expected, "element");
    let message = format!("shape {shape:?} has {expected}, got {got}");
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
    let mut dims: *const i64 = ptr::null();
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

/// The number of elements of this size. `None` if such an array cannot exist.
#[inline]
pub(super) fn length_of_dims(dims: &[i64], size: usize) -> Option<usize> {
    if dims.iter().any(|&dim| dim < 0) {
        return None;
    }
    // The product of the others may overflow.
    if dims.contains(&0) {
        return Some(0);
    }
    // Too large if a size in the program's types overflowed (see SAFETY.md).
    let mut sizes = dims.iter().map(|&dim| dim as usize);
    let n = sizes.try_fold(1, usize::checked_mul)?;
    isize::try_from(n.checked_mul(size)?).is_ok().then_some(n)
}

#[inline]
pub(super) fn length_of<T: Element>(array: &Handle, operation: &'static str) -> Result<usize> {
    let ty = array.table_type().raw();
    if (ty.kind, ty.elem) != (FUT_ARRAY, T::ELEM as u32) {
        let elem = elem_of(array, operation)?;
        let message = format!("expected elements of type {elem}, got {}", T::ELEM);
        return Err(Error::invalid(operation, message));
    }
    let dims = dims(array, operation)?;
    length_of_dims(dims, size_of::<T>()).ok_or_else(|| impossible(dims, operation))
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
    let mut pairs = indices.iter().zip(dims);
    if indices.len() == dims.len()
        && (bounds != Bounds::Ours || pairs.all(|(i, dim)| (0..*dim).contains(i)))
    {
        return Ok(());
    }
    let message = format!("index {indices:?} is outside of an array of shape {dims:?}");
    Err(Error::invalid("index", message))
}

/// Makes an array of `types()[ty]` from `data`, in row-major order.
pub(crate) fn create<T: Element>(
    core: &Arc<Core>,
    ty: u32,
    shape: &[usize],
    data: &[T],
) -> Result<Handle> {
    let (first, n) = (data.as_ptr().cast(), data.len());
    // SAFETY: the slice's memory is readable; T::ELEM's C type has T's size and takes all its values.
    unsafe { create_from(core, ty, T::ELEM, shape, first, n, None) }
}

/// Makes an array from bytes in native order, in row-major order.
#[cfg(feature = "dynamic")]
pub(crate) fn create_from_bytes(
    core: &Arc<Core>,
    ty: u32,
    elem: ElemType,
    shape: &[usize],
    bytes: &[u8],
) -> Result<Handle> {
    if !bytes.len().is_multiple_of(elem.size()) {
        let message = format!(
            "expected a multiple of the size of {elem}, got {}",
            counted(bytes.len(), "byte")
        );
        return Err(Error::invalid(NEW, message));
    }
    let n = bytes.len() / elem.size();
    if elem == ElemType::Bool {
        let mut truths: Vec<u8> = try_vec(n, NEW)?;
        truths.extend(bytes.iter().map(|&b| u8::from(b != 0)));
        // SAFETY: the vector's memory is readable and holds zeros and ones.
        return unsafe { create_from(core, ty, elem, shape, truths.as_ptr().cast(), n, None) };
    }
    // SAFETY: the slice's memory is readable; C copies bytes, which need no alignment.
    unsafe { create_from(core, ty, elem, shape, bytes.as_ptr().cast(), n, None) }
}

/// # Safety
/// `data` points to `len` readable elements of type `elem`, which stay unchanged until the batch ends,
/// if there is one. Or it is null, on a host backend: then the elements are not initialised, and the
/// caller writes them before anything else gets the array.
pub(super) unsafe fn create_from(
    core: &Arc<Core>,
    ty: u32,
    elem: ElemType,
    shape: &[usize],
    data: *const c_void,
    len: usize,
    batch: Option<&Transfers>,
) -> Result<Handle> {
    let array = array_type(core, ty, elem, shape.len())?;
    expect_count(shape, elem, len)?;
    let _span = trace::transfer(core.table(), NEW, len * elem.size());
    let create = array.raw().create.expect("every array can be made");
    // Whether the end of the batch waits, not this call.
    let later = i32::from(batch.is_some());
    let input = [data, for_c(shape), (&raw const later).cast()];
    // SAFETY: T; the type has as many dimensions as `shape`, their product is `len`, and
    // `data` holds as many elements of its element type; S: it is copied when this returns, or when the
    // batch has ended.
    unsafe { Core::make(core, ty, NEW, create, &input, [], batch) }
}

#[cfg(feature = "dynamic")]
pub(crate) fn array_number(core: &Core, elem: ElemType, rank: usize) -> Result<u32> {
    let mut numbers = 0..core.table().types().len() as u32;
    let number = numbers.find(|&ty| is_array(&core.table().types()[ty as usize], elem, rank));
    number.ok_or_else(|| no_array(elem, rank))
}

fn is_array(ty: &c::Type, elem: ElemType, rank: usize) -> bool {
    let ty = ty.raw();
    ty.kind == FUT_ARRAY && ty.elem == elem as u32 && ty.rank as usize == rank
}

fn no_array(elem: ElemType, rank: usize) -> Error {
    let message = format!("the program has no array type of element type {elem} and rank {rank}");
    Error::invalid(NEW, message)
}

fn array_type(core: &Core, ty: u32, elem: ElemType, rank: usize) -> Result<&'static c::Type> {
    let ty = core.table().types().get(ty as usize);
    ty.filter(|ty| is_array(ty, elem, rank))
        .ok_or_else(|| no_array(elem, rank))
}

/// Copies all elements. On host backends, outside of a batch, without the lock and without entering the context, which
/// would take as long as the copy of a thousand elements; if the context has failed, the call reports that.
///
/// # Safety
/// The elements of `array` have `size` bytes, and `to` is writable memory for them. Nothing else accesses it until
/// the batch ends, if there is one.
pub(super) unsafe fn read_to(
    array: &Handle,
    to: *mut u8,
    size: usize,
    batch: Option<&Transfers>,
) -> Result<()> {
    let core = array.core();
    let _span = trace::transfer(core.table(), READ, size);
    if batch.is_none()
        && !core.table().is_gpu()
        && !core.has_failed()
        && let Some(memory) = address(array)?
    {
        // SAFETY: as for a view, and the caller promises `to`, which no array contains. As bytes, because
        // memory that was borrowed from plain C calls can have any alignment.
        unsafe { ptr::copy_nonoverlapping(memory.as_ptr().cast(), to, size) };
        return Ok(());
    }
    let values = array.table_type().raw().values;
    let values = values.expect("every array can be read");
    let later = i32::from(batch.is_some());
    let input = [array.value(READ)?.cast_const(), (&raw const later).cast()];
    // SAFETY: T; V; the caller promises that `to` is large enough; S: it is written when this
    // returns, or when the batch has ended.
    unsafe { core.run(READ, values, &[to.cast()], &input, [array.outcome()], batch) }.map(drop)
}

/// All elements, in row-major order.
pub(crate) fn read_vec<T: Element>(array: &Handle) -> Result<Vec<T>> {
    let n = length_of::<T>(array, READ)?;
    // SAFETY: the array has `n` elements of T, for which every bit pattern is valid unless it is bool.
    unsafe { read_all(array, n, T::ELEM) }
}

/// All elements as bytes in native order; those of bools are 0 or 1.
#[cfg(feature = "dynamic")]
pub(crate) fn read_bytes(array: &Handle) -> Result<Vec<u8>> {
    let (elem, dims) = (elem_of(array, READ)?, dims(array, READ)?);
    let n = length_of_dims(dims, elem.size()).ok_or_else(|| impossible(dims, READ))?;
    // SAFETY: the elements have this number of bytes.
    unsafe { read_all(array, n * elem.size(), elem) }
}

/// # Safety
/// The elements of `array`, of type `elem`, have the size of `n` values of type T. Unless `elem` is `Bool`, every bit
/// pattern is a T.
unsafe fn read_all<T>(array: &Handle, n: usize, elem: ElemType) -> Result<Vec<T>> {
    ready(array, READ)?;
    let mut vec: Vec<T> = try_vec(n, READ)?;
    // SAFETY: the capacity is that of all elements.
    let read = unsafe { read_to(array, vec.as_mut_ptr().cast(), n * size_of::<T>(), None) };
    if let Err(error) = read {
        return Err(leak_if_lost(array.core().table(), vec, error));
    }
    // SAFETY: S: all elements are written; the caller promises the rest.
    unsafe { complete(&mut vec, n, elem) };
    Ok(vec)
}

/// Sets the length of a vector whose elements C has written. Bytes of bools become 0 or 1: C can write others.
///
/// # Safety
/// The vector's memory holds `n` elements of type `elem`, and every bit pattern is a T, except of bools.
pub(super) unsafe fn complete<T>(vec: &mut Vec<T>, n: usize, elem: ElemType) {
    if elem == ElemType::Bool {
        // SAFETY: the caller promises `n` written elements, each one byte.
        let bytes = unsafe { std::slice::from_raw_parts_mut(vec.as_mut_ptr().cast::<u8>(), n) };
        for byte in bytes {
            *byte = u8::from(*byte != 0);
        }
    }
    // SAFETY: as the caller promises; bools are 0 or 1.
    unsafe { vec.set_len(n) };
}

/// Copies all elements to `to`, which must have the same length.
pub(crate) fn read_into<T: Element>(array: &Handle, to: &mut [T]) -> Result<()> {
    let n = length_of::<T>(array, READ)?;
    expect_length(n, to.len())?;
    if T::ELEM == ElemType::Bool {
        to.copy_from_slice(&read_vec::<T>(array)?);
        return Ok(());
    }
    // SAFETY: `to` has exactly `n` elements, for which every bit pattern is valid.
    unsafe { read_to(array, to.as_mut_ptr().cast(), size_of_val(to), None) }
}

pub(super) fn expect_length(n: usize, len: usize) -> Result<()> {
    if n == len {
        return Ok(());
    }
    let n = counted(n, "element");
    let message = format!("the array has {n}, but the slice has {len}");
    Err(Error::invalid(READ, message))
}

pub(crate) fn index(
    array: &Handle,
    indices: &[i64],
    bounds: Bounds,
) -> Result<(ElemType, Scalar8)> {
    let elem = elem_of(array, "index")?;
    expect_index(array, indices, bounds)?;
    let (core, ty) = (array.core(), array.table_type());
    let index = ty.raw().index.ok_or_else(|| unsupported(ty, "index"))?;
    ready(array, "index")?;
    // A device that is lost meanwhile may still write, so its target must not be the stack.
    let mut place: Vec<Scalar8> = try_vec(1, "index")?;
    place.push(Scalar8::default());
    let out = [place.as_mut_ptr().cast::<c_void>()];
    let input = [array.value("index")?.cast_const(), indices.as_ptr().cast()];
    // SAFETY: T; V; there are as many indices as dimensions, and eight bytes for the result;
    // T: outside of the array the C function reads nothing and fails; S: the element is
    // written when this returns.
    let called = unsafe { core.run("index", index, &out, &input, [array.outcome()], None) };
    if let Err(error) = called {
        return Err(leak_if_lost(core.table(), place, error));
    }
    Ok((elem, place[0]))
}

/// Makes an array of `types()[ty]` from the first elements of an iterator, in row-major order.
///
/// On host backends they are written to the array's memory without a buffer, and without the context's
/// lock. On GPU backends they are collected and uploaded.
///
/// # Errors
/// As for [`create`]; [`ErrorKind::InvalidArgument`]: the iterator has fewer
/// elements than the shape.
pub(crate) fn create_of<T: Element>(
    core: &Arc<Core>,
    ty: u32,
    shape: &[usize],
    values: impl Iterator<Item = T>,
) -> Result<Handle> {
    let n = elements(shape, T::ELEM)?;
    let raw_memory = array_type(core, ty, T::ELEM, shape.len())?.raw().raw_memory;
    expect_none_held();
    if n > 0 && !core.table().is_gpu() && raw_memory.is_some() {
        // SAFETY: T: on host backends, data that is null is not read.
        let array = unsafe { create_from(core, ty, T::ELEM, shape, ptr::null(), n, None) }?;
        if let Some(places) = host_elements::<T>(&array, NEW)? {
            let places = places.as_ptr() as *mut [MaybeUninit<T>];
            // SAFETY: T: the memory holds `n` elements and lives as long as `array`, which is new and not handed
            // out, so nothing else accesses it.
            let places = unsafe { &mut *places };
            // Counts what is written, not what the iterator promises.
            let mut written = 0;
            for (place, value) in places.iter_mut().zip(values) {
                place.write(value);
                written += 1;
            }
            expect_all(written, n)?;
            return Ok(array);
        }
    }
    let mut buffer = try_vec(n, NEW)?;
    buffer.extend(values.take(n));
    expect_all(buffer.len(), n)?;
    create(core, ty, shape, &buffer)
}

pub(super) fn expect_all(written: usize, n: usize) -> Result<()> {
    if written == n {
        return Ok(());
    }
    let message = format!("expected {}, got {written}", counted(n, "element"));
    Err(Error::invalid(NEW, message))
}

const WRITE: &str = "write elements";

/// An array, and its elements in its own memory.
///
/// No call can get the handle, so nothing consumes the array or makes another value that shares
/// its memory.
pub(crate) struct Host<T> {
    array: Handle,
    /// The elements, where [`view`] has them. The address is the runtime's, not that of the view, through
    /// which nothing may be written.
    elements: NonNull<[T]>,
}

// SAFETY: owns a `Handle`, which is `Send`, and elements, which are shared only by `&Host` and
// written only by `&mut Host`; other values that share the memory only read it (M).
unsafe impl<T: Element> Send for Host<T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for Host<T> {}

impl<T: Element> Host<T> {
    /// Returns the array unless a view of it exists.
    pub(crate) fn new(array: Handle) -> std::result::Result<Host<T>, Handle> {
        match viewable_elements(&array, WRITE) {
            Ok(Some(elements)) => Ok(Host { array, elements }),
            Ok(None) | Err(_) => Err(array),
        }
    }

    pub(crate) fn array(&self) -> &Handle {
        &self.array
    }

    pub(crate) fn into_array(self) -> Handle {
        self.array
    }

    #[inline]
    pub(crate) fn elements(&self) -> &[T] {
        // SAFETY: M: a view is valid as long as nothing consumes `array`, which no call can get.
        unsafe { self.elements.as_ref() }
    }

    /// The elements, for writing. Copies the array first if another value shares its memory.
    pub(crate) fn elements_mut(&mut self) -> Result<&mut [T]> {
        let core = Arc::clone(self.array.core());
        let mut event = Copied::default();
        let mut locked = core.locked();
        locked.expect_valid([self.array.outcome()])?;
        // Should anything below unwind, no elements are left: their memory is freed with the original
        // when a copy has taken its place.
        let original = mem::replace(
            &mut self.elements,
            NonNull::slice_from_raw_parts(NonNull::dangling(), 0),
        );
        let copied = make_unique(&mut locked, &mut self.array, || WRITE.into());
        if let Ok(true) = copied {
            locked.count_copy(WRITE, self.array.table_type().name());
            event.0 = Some(WRITE);
        }
        drop(locked);
        self.elements = match copied {
            // A copy has an address wherever its original has one.
            Ok(true) => viewable_elements(&self.array, WRITE)?.ok_or_else(|| {
                let message = "the runtime returned no address of the array's copy";
                Error::new(ErrorKind::Backend, WRITE, message)
            })?,
            Ok(false) | Err(_) => original,
        };
        copied?;
        // SAFETY: no other value refers to the memory: its count was 1, or the copy is new, and only
        // calls with this array, which none can get, increase the count. Every bit pattern is
        // a value of T: bools have no views. Without elements the pointer is not followed.
        Ok(unsafe { self.elements.as_mut() })
    }
}

/// The elements in the runtime's own memory, if the host can access it. Without elements the address is dangling:
/// the runtime may not have allocated memory.
fn host_elements<T: Element>(
    array: &Handle,
    operation: &'static str,
) -> Result<Option<NonNull<[T]>>> {
    let n = length_of::<T>(array, operation)?;
    if array.core().table().is_gpu() {
        return Ok(None);
    }
    let first = match n {
        0 => Some(NonNull::dangling()),
        _ => address(array)?.map(NonNull::cast),
    };
    let first = first.filter(|first: &NonNull<T>| first.is_aligned());
    Ok(first.map(|first| NonNull::slice_from_raw_parts(first, n)))
}

/// As [`host_elements`], if every bit pattern is an element.
fn viewable_elements<T: Element>(
    array: &Handle,
    operation: &'static str,
) -> Result<Option<NonNull<[T]>>> {
    Ok(host_elements(array, operation)?.filter(|_| T::ELEM != ElemType::Bool))
}

impl<T> fmt::Debug for Host<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.array.fmt(f)
    }
}

/// All elements in row-major order. `None` on GPU backends, and for bools, whose bytes in C can be
/// other than 0 and 1.
///
/// Takes no lock, so it does not wait for a running call.
pub(crate) fn view<T: Element>(array: &Handle) -> Result<Option<&[T]>> {
    let elements = viewable_elements::<T>(array, "view array")?;
    // SAFETY: T: the memory holds all elements in row-major order, complete since the call that made
    // them returned (host backends); every bit pattern is a value of T; M: they stay, unchanged, for as long as
    // `array` is borrowed.
    Ok(elements.map(|elements| unsafe { elements.as_ref() }))
}

/// The memory of an array, in the form that its backend uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RawMemory {
    /// Host backends (c, multicore): an address.
    Host(*mut c_void),
    /// OpenCL: a `cl_mem`. It knows its OpenCL context (`CL_MEM_CONTEXT`).
    OpenCl(*mut c_void),
    /// CUDA: a `CUdeviceptr`. The driver knows its context
    /// (`CU_POINTER_ATTRIBUTE_CONTEXT`).
    Cuda(u64),
    /// HIP: a `hipDeviceptr_t`.
    Hip(*mut c_void),
}

impl RawMemory {
    fn new(backend: Backend, memory: *mut c_void) -> RawMemory {
        match backend {
            Backend::OpenCl => RawMemory::OpenCl(memory),
            Backend::Cuda => RawMemory::Cuda(memory.expose_provenance() as u64),
            Backend::Hip => RawMemory::Hip(memory),
            _ => RawMemory::Host(memory),
        }
    }

    /// The pointer that the table takes, if this is memory of the backend.
    fn for_backend(self, backend: Backend) -> Option<*mut c_void> {
        match (self, backend) {
            (RawMemory::OpenCl(memory), Backend::OpenCl)
            | (RawMemory::Hip(memory), Backend::Hip) => Some(memory),
            (RawMemory::Cuda(memory), Backend::Cuda) => {
                Some(ptr::with_exposed_provenance_mut(memory as usize))
            }
            (RawMemory::Host(memory), backend) if !backend.is_gpu() => Some(memory),
            _ => None,
        }
    }
}

/// Waits until an array is computed, and returns its memory.
pub(crate) fn raw_memory(array: &Handle) -> Result<RawMemory> {
    ready(array, "raw memory")?;
    let ty = array.table_type();
    if ty.raw().raw_memory.is_none() {
        return Err(unsupported(ty, "raw memory"));
    }
    let memory = address(array)?.map_or(ptr::null_mut(), NonNull::as_ptr);
    Ok(RawMemory::new(backend_of(array.core().table())?, memory))
}

/// On a GPU, waits until an array is computed. Comes before memory for a result is allocated: memory that is
/// lent to a call is leaked if the context is lost meanwhile ([`leak_if_lost`]),
/// and this wait finds most losses.
fn ready(array: &Handle, operation: &'static str) -> Result<()> {
    if !array.core().table().is_gpu() {
        return Ok(());
    }
    let mut locked = array.core().locked();
    locked.expect_valid([array.outcome()])?;
    locked.wait(operation)
}

/// The address of an array's elements. `None` if it is null, and if the table has no such function.
#[inline]
fn address(array: &Handle) -> Result<Option<NonNull<c_void>>> {
    let Some(raw_memory) = array.table_type().raw().raw_memory else {
        return Ok(None);
    };
    let mut memory: *mut c_void = ptr::null_mut();
    let out = [(&raw mut memory).cast::<c_void>()];
    let input = [array.value("raw memory")?.cast_const()];
    // SAFETY: T; V. L exempts `raw_memory`: it reads a pointer that never changes while the
    // value exists, and `array` is borrowed meanwhile.
    let status = unsafe { raw_memory(array.core().context(), out.as_ptr(), input.as_ptr()) };
    if status as u32 != futhark_sys::table::FUT_OK {
        let message = "the runtime returned no address of the array";
        return Err(Error::new(ErrorKind::Backend, "raw memory", message));
    }
    Ok(NonNull::new(memory))
}

/// Makes an array of `types()[ty]` that borrows memory.
///
/// # Safety
/// The memory holds as many elements of type `elem` as the shape says, and belongs to the
/// device of this context. It is neither freed nor written until every value that may
/// share it is dropped and the device has finished with it.
pub(crate) unsafe fn borrow(
    core: &Arc<Core>,
    ty: u32,
    elem: ElemType,
    memory: RawMemory,
    shape: &[usize],
) -> Result<Handle> {
    const OPERATION: &str = "array from raw memory";
    let invalid = |message: String| Err(Error::invalid(OPERATION, message));
    let backend = backend_of(core.table())?;
    let array = array_type(core, ty, elem, shape.len())?;
    let n = elements(shape, elem)?;
    let Some(pointer) = memory.for_backend(backend) else {
        return invalid(format!(
            "expected memory of backend {backend}, got {memory:?}"
        ));
    };
    if pointer.is_null() && n > 0 {
        return invalid(format!(
            "shape {shape:?} has {}, but the memory is null",
            counted(n, "element")
        ));
    }
    if matches!(memory, RawMemory::Host(_)) && !pointer.addr().is_multiple_of(elem.size()) {
        return invalid(format!(
            "{pointer:?} is not aligned for element type {elem}"
        ));
    }
    let borrow = array.raw().borrow;
    let borrow = borrow.ok_or_else(|| unsupported(array, OPERATION))?;
    let input = [pointer.cast_const(), for_c(shape)];
    // SAFETY: T; the type has as many dimensions as `shape`; the caller promises the rest.
    unsafe { Core::make(core, ty, OPERATION, borrow, &input, [], None) }
}
