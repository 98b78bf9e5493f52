//! Arrays from elements.

use super::Array;
use crate::context::Context;
use crate::elem::Element;
use crate::error::Result;
use crate::ffi;
use crate::program::{HasArray, Program};

impl<P: Program> Context<P> {
    /// Makes an array of rank 1 from a slice, `Vec` or array. The data is copied before
    /// this returns.
    ///
    /// ```text
    /// let xs = ctx.array(&[1.0f32, 2.0, 3.0])?;
    /// let ys = ctx.array(&vec![0i64; 1000])?;
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory);
    /// [`ErrorKind::ContextLost`](crate::ErrorKind::ContextLost).
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn array<T: Element>(&self, data: &[T]) -> Result<Array<P, T, 1>>
    where
        P: HasArray<T, 1>,
    {
        self.array_nd([data.len()], data)
    }

    /// Makes an array of any rank from elements in row-major order. The data is copied
    /// before this returns.
    ///
    /// ```text
    /// let matrix = ctx.array_nd([2, 3], &[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the shape has another number of
    /// elements, or is larger than any memory. Otherwise as [`array`](Self::array).
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn array_nd<T: Element, const R: usize>(
        &self,
        shape: [usize; R],
        data: &[T],
    ) -> Result<Array<P, T, R>>
    where
        P: HasArray<T, R>,
    {
        let handle = ffi::create(self.core(), <P as HasArray<T, R>>::TYPE, &shape, data)?;
        Ok(Array::from_handle(handle))
    }

    /// Makes an array of any rank from a function of the element's number in row-major order.
    ///
    /// On host backends the elements are written to the array's own memory: unlike
    /// [`array`](Self::array), this copies nothing. On GPU backends they are collected and uploaded. The
    /// context is not locked while the function runs.
    ///
    /// ```text
    /// let identity = ctx.array_from_fn([3, 3], |i| if i % 4 == 0 { 1.0f64 } else { 0.0 })?;
    /// ```
    ///
    /// # Errors
    ///
    /// As [`array_nd`](Self::array_nd).
    pub fn array_from_fn<T: Element, const R: usize>(
        &self,
        shape: [usize; R],
        element: impl FnMut(usize) -> T,
    ) -> Result<Array<P, T, R>>
    where
        P: HasArray<T, R>,
    {
        Array::create_of(self, shape, (0..ffi::count(&shape)).map(element))
    }

    /// Makes an array of rank 1 from an iterator. The elements are collected on the host before
    /// the context is locked: the array cannot be allocated before their number is known, and the length
    /// that an iterator promises can be wrong. [`array_from_fn`](Self::array_from_fn) does not collect them.
    ///
    /// ```text
    /// let squares = ctx.array_from_iter((0..10i64).map(|i| i * i))?;
    /// ```
    ///
    /// # Errors
    ///
    /// As [`array`](Self::array).
    pub fn array_from_iter<T: Element>(
        &self,
        elements: impl IntoIterator<Item = T>,
    ) -> Result<Array<P, T, 1>>
    where
        P: HasArray<T, 1>,
    {
        self.array(&elements.into_iter().collect::<Vec<T>>())
    }
}

impl<P: HasArray<T, R>, T: Element, const R: usize> Array<P, T, R> {
    /// Makes an array from the elements of an iterator, written in place where the host can.
    pub(crate) fn create_of(
        context: &Context<P>,
        shape: [usize; R],
        elements: impl Iterator<Item = T>,
    ) -> Result<Self> {
        let number = <P as HasArray<T, R>>::TYPE;
        ffi::create_of(context.core(), number, &shape, elements).map(Array::from_handle)
    }
}
