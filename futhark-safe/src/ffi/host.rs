//! Elements in place, without a copy: a view of an array, and a slice that owns its array.

use std::ptr::NonNull;
use std::sync::Arc;
use std::{fmt, mem};

use futhark_manifest::ElemType;

use super::consume::make_unique;
use super::core::Copied;
use super::handle::Handle;
use super::memory::address;
use super::shape::length_of;
use super::trace;
use crate::elem::Element;
use crate::error::{Error, ErrorKind, Result};

pub(super) const WRITE: &str = "write elements";

/// An array, and its elements in its own memory.
///
/// No call can get the handle, so nothing consumes the array or makes another value that shares
/// its memory.
pub(crate) struct Host<T> {
    array: Handle,
    /// The elements, where [`view`] has them: see [`place`].
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
        match place(&array) {
            Some(elements) => Ok(Host { array, elements }),
            None => Err(array),
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
        let mut locked = core.locked();
        locked.check([&self.array])?;
        // Should anything below unwind, no elements are left: their memory is freed with the original
        // when a copy has taken its place.
        let original = mem::replace(&mut self.elements, no_elements());
        let of = Copied::Elements(self.array.ty());
        let copied = make_unique(&mut locked, &mut self.array, of, || WRITE.into());
        drop(locked);
        self.elements = match copied {
            Ok(true) => place(&self.array).ok_or_else(no_place)?,
            Ok(false) | Err(_) => original,
        };
        if copied? {
            trace::copied(WRITE);
        }
        // SAFETY: no other value refers to the memory: its count was 1, or the copy is new, and only
        // calls with this array, which none can get, increase the count. Every bit pattern is
        // a value of T: bools have no views. Without elements the pointer is not followed.
        Ok(unsafe { self.elements.as_mut() })
    }
}

/// The elements of which there is a view. The address is the runtime's, not that of the view, through
/// which nothing may be written.
fn place<T: Element>(array: &Handle) -> Option<NonNull<[T]>> {
    match view::<T>(array).ok()??.len() {
        0 => Some(no_elements()),
        len => {
            let first = address(array).ok()??.cast();
            Some(NonNull::slice_from_raw_parts(first, len))
        }
    }
}

const fn no_elements<T>() -> NonNull<[T]> {
    NonNull::slice_from_raw_parts(NonNull::dangling(), 0)
}

/// A copy has an address wherever its original has one.
#[cold]
fn no_place() -> Error {
    let message = "the runtime returned no address of the array's copy";
    Error::new(ErrorKind::Backend, WRITE, message)
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
