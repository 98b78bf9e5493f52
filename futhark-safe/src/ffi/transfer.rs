//! Transfers of elements between the host and arrays. Lengths are compared before any call.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use futhark_manifest::ElemType;
use futhark_sys::table::{self as c, FUT_ARRAY};

use super::batch::Batch;
use super::core::Core;
use super::elements::unsupported;
use super::handle::Handle;
use super::memory::{address, ready};
use super::shape::{Bounds, expect_count, expect_index, for_c, length, length_of};
use super::trace;
use crate::elem::{Element, Scalar8, truth};
use crate::error::{Error, ErrorKind, Result, counted};

pub(super) const READ: &str = "read array";
pub(super) const NEW: &str = "new array";

/// The argument `later` of a transfer for which the C side waits.
const NOW: i32 = 0;
/// The argument `later` of a transfer in a batch, whose end waits.
const LATER: i32 = 1;

/// Makes an array of `types()[ty]` from `data`, in row-major order.
pub(crate) fn create<T: Element>(
    core: &Arc<Core>,
    ty: u32,
    shape: &[usize],
    data: &[T],
) -> Result<Handle> {
    // SAFETY: the slice's memory is readable; T::ELEM's C type has T's size and takes all its values.
    unsafe {
        create_from(
            core,
            ty,
            T::ELEM,
            shape,
            data.as_ptr().cast(),
            data.len(),
            None,
        )
    }
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
        let mut truths: Vec<u8> = with_capacity(n, NEW)?;
        truths.extend(bytes.iter().map(|&b| u8::from(b != 0)));
        // SAFETY: the vector's memory is readable and holds zeros and ones.
        return unsafe { create_from(core, ty, elem, shape, truths.as_ptr().cast(), n, None) };
    }
    // SAFETY: the slice's memory is readable; C copies bytes, which need no alignment.
    unsafe { create_from(core, ty, elem, shape, bytes.as_ptr().cast(), n, None) }
}

/// # Safety
///
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
    batch: Option<&Batch<'_>>,
) -> Result<Handle> {
    let array = array_type(core, ty, elem, shape.len())?;
    expect_count(shape, elem, len)?;
    let _span = trace::transfer(core, NEW, || len * elem.size());
    let create = array.raw().create.expect("every array can be made");
    let later = later(batch);
    let input = [data, for_c(shape), (&raw const later).cast()];
    // SAFETY: T; the type has as many dimensions as `shape`, their product is `len`, and
    // `data` holds as many elements of its element type; S: it is copied when this returns, or when the
    // batch has ended.
    unsafe { core.make(ty, NEW, (create, &input), [], batch) }
}

fn later(batch: Option<&Batch<'_>>) -> i32 {
    if batch.is_some() { LATER } else { NOW }
}

/// The number of the program's array type with these elements and this rank.
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

#[cold]
fn no_array(elem: ElemType, rank: usize) -> Error {
    let message = format!("the program has no array type of element type {elem} and rank {rank}");
    Error::invalid(NEW, message)
}

/// The type, if it is an array type of these elements and this rank.
pub(super) fn array_type(
    core: &Core,
    ty: u32,
    elem: ElemType,
    rank: usize,
) -> Result<&'static c::Type> {
    let ty = core.table().types().get(ty as usize);
    ty.filter(|ty| is_array(ty, elem, rank))
        .ok_or_else(|| no_array(elem, rank))
}

/// Leaks memory that a call was writing when its GPU context was lost: the device may still write
/// to it.
pub(super) fn keep_if_lost<T>(array: &Handle, vec: Vec<T>, error: Error) -> Error {
    if error.kind() == ErrorKind::ContextLost && array.core().table().is_gpu() {
        std::mem::forget(vec);
    }
    error
}

/// # Safety
///
/// `to` is writable memory for all elements of `array`, and nothing else accesses it until the batch
/// ends, if there is one.
pub(super) unsafe fn read_to(
    array: &Handle,
    to: *mut c_void,
    batch: Option<&Batch<'_>>,
) -> Result<()> {
    let values = array
        .table_type()
        .raw()
        .values
        .expect("every array can be read");
    let later = later(batch);
    let value = array.value(READ)?.cast_const();
    let input = [value, (&raw const later).cast()];
    let _span = trace::transfer(array.core(), READ, || {
        length(array, READ).map_or(0, |(elem, n)| n * elem.size())
    });
    let mut locked = array.core().locked();
    locked.check([array])?;
    if let Some(batch) = batch {
        batch.starts(&locked);
    }
    // SAFETY: T and L; V; the caller promises that `to` is large enough; S: it is written when this
    // returns, or when the batch has ended.
    unsafe { locked.call(values, &[to], &input, || READ.into()) }?;
    if let Some(batch) = batch {
        batch.started(&mut locked, READ);
    }
    Ok(())
}

/// All elements, in row-major order.
pub(crate) fn read_vec<T: Element>(array: &Handle) -> Result<Vec<T>> {
    let n = length_of::<T>(array, READ)?;
    if T::ELEM == ElemType::Bool {
        return truths(&read_bytes(array)?);
    }
    ready(array, READ)?;
    let mut vec: Vec<T> = with_capacity(n, READ)?;
    // SAFETY: the capacity is `n` elements of T, which has the element type's size.
    if let Err(error) = unsafe { read_elements(array, n, vec.as_mut_ptr()) } {
        return Err(keep_if_lost(array, vec, error));
    }
    // SAFETY: S: all `n` elements are written, and every bit pattern is a value of T (bool returned above).
    unsafe { vec.set_len(n) };
    Ok(vec)
}

/// Bools of C, whose bytes can be other than 0 and 1.
pub(super) fn truths<T: Element>(bytes: &[u8]) -> Result<Vec<T>> {
    let mut truths = with_capacity(bytes.len(), READ)?;
    truths.extend(bytes.iter().map(|&byte| truth::<T>(byte)));
    Ok(truths)
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
    unsafe { read_elements(array, n, to.as_mut_ptr()) }
}

/// Copies all elements. On host backends without the lock and without a call of C, which would take as long as
/// the copy of a thousand elements.
///
/// # Safety
///
/// `array` has `n` elements, of the element type of `T`, and `to` is writable memory for them.
unsafe fn read_elements<T: Element>(array: &Handle, n: usize, to: *mut T) -> Result<()> {
    let core = array.core();
    if !core.table().is_gpu()
        && !core.has_failed()
        && let Some(memory) = address(array)?
    {
        let bytes = n * size_of::<T>();
        let _span = trace::transfer(core, READ, || bytes);
        // SAFETY: as for a view, and the caller promises `to`, which no array contains. As bytes, because
        // memory that was borrowed from plain C calls can have any alignment.
        unsafe { ptr::copy_nonoverlapping(memory.as_ptr().cast::<u8>(), to.cast(), bytes) };
        return Ok(());
    }
    // SAFETY: as the caller promises.
    unsafe { read_to(array, to.cast(), None) }
}

/// Checks that a slice of `len` elements can receive `n`.
pub(super) fn expect_length(n: usize, len: usize) -> Result<()> {
    match n == len {
        true => Ok(()),
        false => Err(other_length(n, len)),
    }
}

#[cold]
fn other_length(n: usize, len: usize) -> Error {
    let n = counted(n, "element");
    Error::invalid(READ, format!("the array has {n}, but the slice has {len}"))
}

/// All elements as bytes in native order; those of bools are 0 or 1.
pub(crate) fn read_bytes(array: &Handle) -> Result<Vec<u8>> {
    let (elem, n) = length(array, READ)?;
    let size = n * elem.size();
    ready(array, READ)?;
    let mut bytes: Vec<u8> = with_capacity(size, READ)?;
    // SAFETY: the capacity is that of all elements; C writes bytes, which need no alignment.
    if let Err(error) = unsafe { read_to(array, bytes.as_mut_ptr().cast(), None) } {
        return Err(keep_if_lost(array, bytes, error));
    }
    // SAFETY: S: all bytes are written.
    unsafe { bytes.set_len(size) };
    if elem == ElemType::Bool {
        for byte in &mut bytes {
            *byte = u8::from(*byte != 0);
        }
    }
    Ok(bytes)
}

pub(crate) fn index(
    array: &Handle,
    indices: &[i64],
    bounds: Bounds,
) -> Result<(ElemType, Scalar8)> {
    let (elem, _) = length(array, "index")?;
    expect_index(array, indices, bounds)?;
    let ty = array.table_type();
    let index = ty.raw().index.ok_or_else(|| unsupported(ty, "index"))?;
    ready(array, "index")?;
    // A device that is lost meanwhile may still write, so its target must not be the stack.
    let mut place: Vec<Scalar8> = with_capacity(1, "index")?;
    place.push(Scalar8::default());
    let out = [place.as_mut_ptr().cast::<c_void>()];
    let input = [array.value("index")?.cast_const(), indices.as_ptr().cast()];
    let mut locked = array.core().locked();
    locked.check([array])?;
    // SAFETY: T and L; V; there are as many indices as dimensions, and eight bytes for the result;
    // T: outside of the array the C function reads nothing and fails; S: the element is
    // written when this returns.
    let called = unsafe { locked.call(index, &out, &input, || "index".into()) };
    if let Err(error) = called {
        return Err(keep_if_lost(array, place, error));
    }
    Ok((elem, place[0]))
}

/// The size of a huge page on x86-64, and on other processors with base pages of 4 KiB. A multiple of
/// every size of base pages, as `madvise` requires of the address.
const HUGE: usize = 2 << 20;

/// The smallest allocation for which huge pages are asked. Smaller ones often come from memory that the
/// allocator keeps for reuse and that has its pages already.
const LEAST: usize = 8 << 20;

/// An empty vector with memory for exactly `n` elements.
///
/// On Linux, asks for huge pages in a large allocation. The kernel zeroes a page when it is first
/// written, and with pages of 4 KiB these faults take several times as long as the copy that
/// causes them. The vector is an ordinary one of the global allocator.
///
/// The advice has these effects on the rest of the process:
///
/// * It stays on the range of addresses after the allocator frees the memory without unmapping it, so it
///   can apply to later allocations there.
/// * It can split a mapping of the allocator in up to three, since the kernel records it for each mapping.
/// * After a fork, parent and child copy such memory by huge pages when they write to it.
///
/// It does not increase the memory in use: every element is written.
pub(crate) fn with_capacity<T>(n: usize, operation: &'static str) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(n).map_err(|error| {
        let bytes = n.saturating_mul(size_of::<T>());
        let message = format!("no memory for {}", counted(bytes, "byte"));
        Error::new(ErrorKind::OutOfMemory, operation, message).with_source(error)
    })?;
    let memory = vec.spare_capacity_mut();
    let first = memory.as_mut_ptr();
    if let Some((skipped, length)) = huge_pages(first.addr(), size_of_val(memory)) {
        prefer_huge_pages(first.cast::<c_void>().wrapping_byte_add(skipped), length);
    }
    Ok(vec)
}

/// The huge pages that lie within `size` bytes at an address: the number of bytes before them, and their
/// size. `None` if `size` is too small.
fn huge_pages(address: usize, size: usize) -> Option<(usize, usize)> {
    if size < LEAST {
        return None;
    }
    let skipped = address.checked_next_multiple_of(HUGE)? - address;
    Some((skipped, (size - skipped) / HUGE * HUGE))
}

/// Advises the kernel to use huge pages for a range of memory.
///
/// Nothing depends on the result: the kernel may have huge pages disabled, or none left.
#[cfg(all(target_os = "linux", not(miri)))]
fn prefer_huge_pages(first: *mut c_void, length: usize) {
    use std::ffi::c_int;

    /// The same number on every architecture.
    const MADV_HUGEPAGE: c_int = 14;
    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    // SAFETY: the advice changes neither content nor access, and is valid for any range: at worst it
    // returns an error.
    let _ = unsafe { madvise(first, length, MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn prefer_huge_pages(_: *mut c_void, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the kernel may use huge pages at an address: the flag `hg` of its mapping. `None` if the
    /// kernel has no huge pages.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn is_advised(address: usize) -> Option<bool> {
        std::fs::metadata("/sys/kernel/mm/transparent_hugepage").ok()?;
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut within = false;
        for line in maps.lines() {
            let range = line
                .split(' ')
                .next()
                .and_then(|range| range.split_once('-'));
            let hex = |text| usize::from_str_radix(text, 16).ok();
            if let Some((Some(start), Some(end))) = range.map(|(a, b)| (hex(a), hex(b))) {
                within = (start..end).contains(&address);
            } else if within && let Some(flags) = line.strip_prefix("VmFlags:") {
                return Some(flags.split_whitespace().any(|flag| flag == "hg"));
            }
        }
        panic!("no mapping has the address {address:x}");
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn large_memory_prefers_huge_pages() {
        let vec: Vec<u64> = with_capacity(8 << 20, "test").unwrap();
        match is_advised(vec.as_ptr().addr() + (32 << 20)) {
            Some(advised) => assert!(advised),
            None => eprintln!("skipped: this kernel has no huge pages"),
        }
    }

    /// The allocator can change its size and free it.
    #[test]
    fn large_memory_is_that_of_an_ordinary_vector() {
        let n = if cfg!(miri) { 1 << 10 } else { 2 << 20 };
        let mut vec: Vec<u64> = with_capacity(n as usize, "test").unwrap();
        vec.extend(0..n);
        vec.push(n);
        assert!(vec.iter().copied().eq(0..=n));
        vec.truncate(3);
        vec.shrink_to_fit();
        assert_eq!(vec, [0, 1, 2]);
    }

    #[test]
    fn only_whole_huge_pages_of_large_memory_are_asked_for() {
        const AT: usize = 1 << 30;
        for (address, size, expected) in [
            (AT, LEAST, Some((0, LEAST))),
            (AT, LEAST - 1, None),
            (AT, LEAST + 1, Some((0, LEAST))),
            (AT, LEAST + HUGE - 1, Some((0, LEAST))),
            (AT, LEAST + HUGE, Some((0, LEAST + HUGE))),
            // Not aligned: the parts of pages at both ends are left out.
            (AT + 1, LEAST, Some((HUGE - 1, LEAST - HUGE))),
            (AT - 16, LEAST, Some((16, LEAST - HUGE))),
            (AT - 16, LEAST + 16, Some((16, LEAST))),
            (AT, HUGE, None),
            (1, 0, None),
            (usize::MAX - 1, LEAST, None),
        ] {
            assert_eq!(huge_pages(address, size), expected, "{address:x} {size:x}");
        }
    }

    #[test]
    fn elements_without_a_size_need_no_memory() {
        let vec: Vec<()> = with_capacity(usize::MAX, "test").unwrap();
        assert_eq!(vec.capacity(), usize::MAX);
    }

    #[test]
    fn more_than_any_memory_is_an_error() {
        let error = with_capacity::<u64>(usize::MAX, "test").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    }
}
