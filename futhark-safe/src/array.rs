//! Arrays of scalars.

use std::fmt;
use std::marker::PhantomData;

use crate::elem::Element;
use crate::error::Result;
use crate::program::handle::HasHandle;
use crate::raw::{self, Handle};

/// An array of program `P` with elements of type `T` and rank `R`, in the memory of a
/// context.
///
/// Dropping it frees it, without waiting for a call that is running.
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

    /// The number of elements in each dimension.
    ///
    /// # Errors
    ///
    /// Only if the runtime breaks its word.
    pub fn shape(&self) -> Result<[usize; R]> {
        raw::shape_array(&self.handle)
    }

    /// All elements, in row-major order. Waits until they are computed.
    ///
    /// # Errors
    ///
    /// What made them failed; [`Kind::OutOfMemory`](crate::Kind::OutOfMemory).
    pub fn to_vec(&self) -> Result<Vec<T>> {
        raw::read_vec(&self.handle)
    }

    /// All elements, in row-major order, into `to`, which must have exactly as many.
    ///
    /// # Errors
    ///
    /// [`Kind::InvalidArgument`](crate::Kind::InvalidArgument): another length; nothing was written.
    pub fn read_into(&self, to: &mut [T]) -> Result<()> {
        raw::read_into(&self.handle, to)
    }

    /// One element. To read many, [`to_vec`](Self::to_vec) is much faster on a GPU.
    ///
    /// # Errors
    ///
    /// [`Kind::InvalidArgument`](crate::Kind::InvalidArgument): outside of the array.
    pub fn get(&self, index: impl ArrayIndex<R>) -> Result<T> {
        let indices = index
            .indices()
            .map(|i| i64::try_from(i).unwrap_or(i64::MAX));
        let (_, scalar) = raw::index(&self.handle, &indices)?;
        Ok(T::from_c(scalar))
    }
}

impl<P, T: Element, const R: usize> HasHandle for Array<P, T, R> {
    fn handle(&self) -> &Handle {
        &self.handle
    }

    fn into_handle(self) -> Handle {
        self.handle
    }
}

impl<P, T: Element, const R: usize> fmt::Debug for Array<P, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array<{}>", T::ELEM)?;
        match self.shape() {
            Ok(shape) => write!(f, "{shape:?}"),
            Err(_) => f.write_str("[?]"),
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
