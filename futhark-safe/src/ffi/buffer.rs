//! Memory of the host that receives elements.

use std::ffi::c_void;

use futhark_sys::table::Table;

use crate::error::{Error, ErrorKind, Result, counted};

/// The size of a huge page on x86-64, and on other processors with base pages of 4 KiB. A multiple of
/// every size of base pages, as `madvise` requires of the address.
const HUGE: usize = 2 << 20;

/// The smallest allocation for which huge pages are asked. Smaller ones often come from memory that the
/// allocator keeps for reuse and that has its pages already.
const SMALLEST: usize = 8 << 20;

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
/// It does not increase the memory in use: every element is written, unless a call fails or an iterator ends early.
pub(crate) fn try_vec<T>(n: usize, operation: &'static str) -> Result<Vec<T>> {
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
    if size < SMALLEST {
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

/// Leaks memory that a call was writing when its GPU context was lost: the device may still write
/// to it.
pub(super) fn leak_if_lost<T>(table: &Table, vec: Vec<T>, error: Error) -> Error {
    if error.kind() == ErrorKind::ContextLost && table.is_gpu() {
        std::mem::forget(vec);
    }
    error
}

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
        let vec: Vec<u64> = try_vec(8 << 20, "test").unwrap();
        match is_advised(vec.as_ptr().addr() + (32 << 20)) {
            Some(advised) => assert!(advised),
            None => eprintln!("skipped: this kernel has no huge pages"),
        }
    }

    #[test]
    fn only_whole_huge_pages_of_large_memory_are_asked_for() {
        const AT: usize = 1 << 30;
        for (address, size, expected) in [
            (AT, SMALLEST, Some((0, SMALLEST))),
            (AT, SMALLEST - 1, None),
            (AT, SMALLEST + 1, Some((0, SMALLEST))),
            (AT, SMALLEST + HUGE - 1, Some((0, SMALLEST))),
            (AT, SMALLEST + HUGE, Some((0, SMALLEST + HUGE))),
            // Not aligned: the parts of pages at both ends are left out.
            (AT + 1, SMALLEST, Some((HUGE - 1, SMALLEST - HUGE))),
            (AT - 16, SMALLEST, Some((16, SMALLEST - HUGE))),
            (AT - 16, SMALLEST + 16, Some((16, SMALLEST))),
            (AT, HUGE, None),
            (1, 0, None),
            (usize::MAX - 1, SMALLEST, None),
        ] {
            assert_eq!(huge_pages(address, size), expected, "{address:x} {size:x}");
        }
    }

    #[test]
    fn elements_without_a_size_need_no_memory() {
        let vec: Vec<()> = try_vec(usize::MAX, "test").unwrap();
        assert_eq!(vec.capacity(), usize::MAX);
    }

    #[test]
    fn more_than_any_memory_is_an_error() {
        let error = try_vec::<u64>(usize::MAX, "test").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    }
}
