//! Short lists without an allocation.

use std::mem::MaybeUninit;

/// A call with at most this many parameters and results allocates nothing.
const FEW: usize = 8;

/// Places for a list of at most [`FEW`] elements. Not initialised, since writing them takes as long as
/// checking the arguments of a call.
pub(super) type Places<T> = [MaybeUninit<T>; FEW];

/// Memory for two or three lists of a call, on the heap only if one of them is long.
pub(super) struct Few<A, B> {
    a: Places<A>,
    b: Places<B>,
    c: Places<B>,
    long: Option<Box<Long<A, B>>>,
}

struct Long<A, B> {
    a: Box<[MaybeUninit<A>]>,
    b: Box<[MaybeUninit<B>]>,
    c: Box<[MaybeUninit<B>]>,
}

/// The places for `a` elements, and twice for `b` elements.
pub(super) type Room<'l, A, B> = (
    &'l mut [MaybeUninit<A>],
    &'l mut [MaybeUninit<B>],
    &'l mut [MaybeUninit<B>],
);

impl<A, B> Few<A, B> {
    #[inline]
    pub(super) fn new() -> Few<A, B> {
        Few {
            a: [const { MaybeUninit::uninit() }; FEW],
            b: [const { MaybeUninit::uninit() }; FEW],
            c: [const { MaybeUninit::uninit() }; FEW],
            long: None,
        }
    }

    /// Places for lists of these lengths.
    #[inline]
    pub(super) fn room(&mut self, a: usize, b: usize) -> Room<'_, A, B> {
        if a > FEW || b > FEW {
            return self.allocate(a, b);
        }
        (&mut self.a[..a], &mut self.b[..b], &mut self.c[..b])
    }

    #[cold]
    fn allocate(&mut self, a: usize, b: usize) -> Room<'_, A, B> {
        let long = self.long.insert(Box::new(Long {
            a: Box::new_uninit_slice(a),
            b: Box::new_uninit_slice(b),
            c: Box::new_uninit_slice(b),
        }));
        (&mut long.a, &mut long.b, &mut long.c)
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
