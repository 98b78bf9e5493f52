//! Elements in place, without a copy.

use futhark_manifest::ElemType;

use super::handle::Handle;
use super::memory::address;
use super::shape::length_of;
use crate::elem::Element;
use crate::error::Result;

/// All elements in row-major order. `None` on GPU backends, and for bools, whose bytes in C can be
/// other than 0 and 1.
///
/// Takes no lock, so it does not wait for a running call.
pub(crate) fn view<T: Element>(array: &Handle) -> Result<Option<&[T]>> {
    let n = length_of::<T>(array, "view array")?;
    if array.core().table().is_gpu() || T::ELEM == ElemType::Bool {
        return Ok(None);
    }
    if n == 0 {
        // The runtime may not have allocated memory.
        return Ok(Some(&[]));
    }
    let Some(memory) = address(array)?.filter(|memory| memory.cast::<T>().is_aligned()) else {
        return Ok(None);
    };
    // SAFETY: T: `memory` holds `n` elements in row-major order, complete since the call that made
    // them returned (host backends); every bit pattern is a value of T (bool returned
    // above); M: they stay, unchanged, for as long as `array` is borrowed.
    Ok(Some(unsafe {
        std::slice::from_raw_parts(memory.cast::<T>().as_ptr(), n)
    }))
}
