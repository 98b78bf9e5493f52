//! A slice that owns an array of a host backend.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use super::Array;
use crate::elem::Element;
use crate::error::Result;
use crate::ffi::{self, Host};
use crate::program::handle::HasHandle;

/// An array of a host backend as a slice: its elements in row-major order, in the runtime's own memory.
///
/// [`Array::into_host`] makes one, without a copy. It keeps the context alive, can be sent to and
/// shared with other threads, and never waits for a call. Calls that consume other values with the
/// same memory get a copy, so the elements change only by [`to_mut`](Self::to_mut).
pub struct HostArray<P, T: Element, const R: usize> {
    host: Host<T>,
    program: PhantomData<fn() -> P>,
}

impl<P, T: Element, const R: usize> Array<P, T, R> {
    /// The array as a slice that owns it, without a copy.
    ///
    /// ```text
    /// let mut pixels = ctx.entry().render(&scene)?.into_host().expect("a host backend");
    /// pixels.to_mut()?[0] = 0;
    /// let blurred = ctx.entry().blur(pixels.into_array())?;
    /// ```
    ///
    /// # Errors
    ///
    /// The array itself, where [`view`](Self::view) returns `None`: on GPU backends, for `bool`, and if
    /// the array is [spent](crate::Consumed).
    pub fn into_host(self) -> std::result::Result<HostArray<P, T, R>, Self> {
        match Host::new(self.into_handle()) {
            Ok(host) => Ok(HostArray {
                host,
                program: PhantomData,
            }),
            Err(handle) => Err(Array::from_handle(handle)),
        }
    }
}

impl<P, T: Element, const R: usize> HostArray<P, T, R> {
    /// The number of elements in each dimension.
    #[must_use]
    pub fn shape(&self) -> [usize; R] {
        ffi::shape_array(self.host.array())
    }

    /// The elements, for writing. If another value shares the memory, the array is copied first, and
    /// [`Context::copies`](crate::Context::copies) counts the copy.
    ///
    /// Waits for a running call of the context.
    ///
    /// # Errors
    ///
    /// An [earlier failure](crate::Error::is_from_earlier_call) that no call could report, such as that of
    /// a drop. If the array is copied: [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory);
    /// [`ErrorKind::ContextLost`](crate::ErrorKind::ContextLost), also from an earlier call. The elements are
    /// unchanged, and can be read.
    pub fn to_mut(&mut self) -> Result<&mut [T]> {
        self.host.elements_mut()
    }

    /// The array, for calls. Does not copy.
    #[must_use]
    pub fn into_array(self) -> Array<P, T, R> {
        Array::from_handle(self.host.into_array())
    }
}

impl<P, T: Element, const R: usize> Deref for HostArray<P, T, R> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.host.elements()
    }
}

impl<P, T: Element, const R: usize> AsRef<[T]> for HostArray<P, T, R> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<P, T: Element, const R: usize> fmt::Debug for HostArray<P, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostArray<{}>{:?}", T::ELEM, self.shape())
    }
}
