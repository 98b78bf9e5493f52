//! Short lists without an allocation.

use std::mem::MaybeUninit;

/// A list of at most this many elements is not on the heap.
pub(super) const FEW: usize = 8;

/// Places for a list of at most [`FEW`] elements. Not initialised, since writing them takes as long as
/// checking the arguments of a call.
pub(super) type Places<T> = [MaybeUninit<T>; FEW];

#[inline]
pub(super) fn places<T>() -> Places<T> {
    [const { MaybeUninit::uninit() }; FEW]
}

/// Memory for a list, on the heap only if it is long.
pub(super) struct Few<T> {
    few: Places<T>,
    long: Option<Box<[MaybeUninit<T>]>>,
}

impl<T> Few<T> {
    #[inline]
    pub(super) fn new() -> Few<T> {
        Few {
            few: places(),
            long: None,
        }
    }

    /// Places for a list of this length.
    #[inline]
    pub(super) fn room(&mut self, n: usize) -> &mut [MaybeUninit<T>] {
        if n > FEW {
            return self.long.insert(Box::new_uninit_slice(n));
        }
        &mut self.few[..n]
    }
}

/// Writes these elements to `room`, as many as it has places.
#[inline]
pub(super) fn fill<T>(room: &mut [MaybeUninit<T>], mut elements: impl Iterator<Item = T>) -> &[T] {
    for place in &mut *room {
        let element = elements.next();
        place.write(element.expect("there are as many elements as places"));
    }
    // SAFETY: all elements of `room` were written.
    unsafe { std::slice::from_raw_parts(room.as_ptr().cast(), room.len()) }
}
