//! A short list without an allocation.

/// A call with at most this many parameters and results allocates nothing.
const FEW: usize = 8;

/// A list that allocates only if it is long.
pub(super) enum Few<T> {
    Short([T; FEW], usize),
    Long(Vec<T>),
}

impl<T: Copy> Few<T> {
    pub(super) fn new(n: usize, fill: T) -> Few<T> {
        if n > FEW {
            Few::Long(vec![fill; n])
        } else {
            Few::Short([fill; FEW], n)
        }
    }

    pub(super) fn as_mut(&mut self) -> &mut [T] {
        match self {
            Few::Short(short, n) => &mut short[..*n],
            Few::Long(long) => long,
        }
    }
}
