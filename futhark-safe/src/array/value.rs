//! The type of arrays of scalars.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use crate::elem::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{self, Handle, Output};
use crate::program::handle::HasHandle;
use crate::program::{HasArray, Receive, filled};

/// An array of program `P` with elements of type `T` and rank `R`, in the memory of a
/// context.
///
/// Dropping it frees it, without waiting for a running call.
pub struct Array<P, T: Element, const R: usize> {
    handle: Handle,
    types: PhantomData<fn() -> (P, T)>,
}

impl<P, T: Element, const R: usize> Array<P, T, R> {
    pub(crate) fn from_handle(handle: Handle) -> Self {
        Array {
            handle,
            types: PhantomData,
        }
    }

    /// The number of dimensions, `R`.
    pub const RANK: usize = R;

    /// The number of elements in each dimension; zeros if the array is [spent](crate::Consumed).
    ///
    /// # Panics
    ///
    /// If plain C calls made the array with a negative dimension. Other calls reject such results.
    #[must_use]
    pub fn shape(&self) -> [usize; R] {
        ffi::shape_array(&self.handle)
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        ffi::count(&self.shape())
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// A copy with memory of its own. On GPU backends the elements are copied on the device.
    ///
    /// # Errors
    ///
    /// The computation of the elements failed. [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn try_clone(&self) -> Result<Self> {
        ffi::duplicate(&self.handle).map(Array::from_handle)
    }

    /// A copy of another shape, and usually another rank, with the same elements in row-major order.
    ///
    /// ```text
    /// let matrix = xs.reshape([2, 3])?;                  // an `Array<f32, 2>`
    /// let row_sums = ctx.entry().sum_rows(&matrix)?;
    /// ```
    ///
    /// The runtime has no function for this, so all elements are copied: on host backends once (`bool`: twice);
    /// on GPU backends to the host and back, after their computation. To reshape on the device, add an
    /// entry point to the program:
    ///
    /// ```text
    /// entry matrix [n] (rows: i64) (columns: i64) (xs: [n]f32) : [rows][columns]f32 =
    ///   unflatten (xs :> [rows*columns]f32)
    /// ```
    ///
    /// The program must have an array type of the other rank: see [`HasArray`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the shape has another number of
    /// elements; nothing was copied.
    /// The computation of the elements failed. [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn reshape<const S: usize>(&self, shape: [usize; S]) -> Result<Array<P, T, S>>
    where
        P: HasArray<T, S>,
    {
        ffi::expect_count(&shape, self.len())?;
        let elements = self.to_cow()?;
        let number = <P as HasArray<T, S>>::TYPE;
        ffi::create(self.handle.core(), number, &shape, &elements).map(Array::from_handle)
    }

    /// All elements, in row-major order. Waits until they are computed; on host backends they are, and it
    /// does not wait for calls of other threads, except for `bool`.
    ///
    /// # Errors
    ///
    /// The computation of the elements failed. [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn to_vec(&self) -> Result<Vec<T>> {
        ffi::read_vec(&self.handle)
    }

    /// Copies all elements, in row-major order, to `to`, which must have the same length. Waits as
    /// [`to_vec`](Self::to_vec).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the lengths differ; nothing was written.
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn read_into(&self, to: &mut [T]) -> Result<()> {
        ffi::read_into(&self.handle, to)
    }

    /// All elements, in row-major order, in place: does not copy, and does not wait for calls.
    ///
    /// `None` on GPU backends, and for `bool`, whose bytes in C can be other than 0 and 1.
    /// [`to_cow`](Self::to_cow) copies in these cases.
    ///
    /// The array cannot be consumed while the view exists. Values that share its memory can; as
    /// always, the call gets a copy, so the view never changes:
    ///
    /// ```text
    /// let alias = ctx.entry().identity(&xs)?;
    /// let view = xs.view().expect("a host backend");
    /// ctx.entry().set_first(alias, 99)?;      // does not change `view`
    /// ```
    ///
    /// ```compile_fail,E0505
    /// # use futhark_safe::Array;
    /// fn consume<P>(xs: Array<P, i32, 1>) {
    ///     let view = xs.view();
    ///     drop(xs);
    ///     println!("{view:?}");
    /// }
    /// ```
    #[must_use]
    pub fn view(&self) -> Option<&[T]> {
        ffi::view(&self.handle).ok().flatten()
    }

    /// All elements, in row-major order: as [`view`](Self::view) where there is one,
    /// otherwise as [`to_vec`](Self::to_vec).
    ///
    /// # Errors
    ///
    /// As [`to_vec`](Self::to_vec).
    pub fn to_cow(&self) -> Result<Cow<'_, [T]>> {
        match self.view() {
            Some(elements) => Ok(Cow::Borrowed(elements)),
            None => self.to_vec().map(Cow::Owned),
        }
    }

    /// One element. To read many, [`to_vec`](Self::to_vec) is much faster on a GPU.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the index is out of bounds.
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn get(&self, index: impl ArrayIndex<R>) -> Result<T> {
        let indices = index
            .indices()
            .map(|i| i64::try_from(i).unwrap_or(i64::MAX));
        let (elem, scalar) = ffi::index(&self.handle, &indices)?;
        if elem != T::ELEM {
            // Only a hand-written `HasArray` can cause this.
            let message = format!("expected elements of type {}, got {elem}", T::ELEM);
            return Err(Error::new(ErrorKind::InvalidArgument, "index", message));
        }
        Ok(T::from_c(scalar))
    }
}

impl<P, T: Element, const R: usize> HasHandle for Array<P, T, R> {
    fn handle(&self) -> &Handle {
        &self.handle
    }

    fn handle_mut(&mut self) -> &mut Handle {
        &mut self.handle
    }

    fn into_handle(self) -> Handle {
        self.handle
    }
}

impl<P: HasArray<T, R>, T: Element, const R: usize> Receive for Array<P, T, R> {
    type Place = Option<Handle>;

    fn output(place: &mut Option<Handle>) -> Output<'_> {
        Output::value(<P as HasArray<T, R>>::TYPE, place)
    }

    fn finish(place: Option<Handle>) -> Self {
        Array::from_handle(filled(place))
    }
}

impl<P, T: Element, const R: usize> fmt::Debug for Array<P, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.handle.is_spent() {
            true => write!(f, "Array<{}>(spent)", T::ELEM),
            false => write!(f, "Array<{}>{:?}", T::ELEM, self.shape()),
        }
    }
}

/// An index into an array of rank `R`: `[usize; R]`, or a plain `usize` for rank 1.
pub trait ArrayIndex<const R: usize> {
    /// One number per dimension, the outermost first.
    fn indices(self) -> [usize; R];
}

impl<const R: usize> ArrayIndex<R> for [usize; R] {
    fn indices(self) -> [usize; R] {
        self
    }
}

impl ArrayIndex<1> for usize {
    fn indices(self) -> [usize; 1] {
        [self]
    }
}
