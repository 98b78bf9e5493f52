//! Arrays of scalars known at run time: copies, views, and the crate ndarray.

use super::value::Array;
use crate::elem::Element;
use crate::error::Result;
use crate::ffi;

impl Array {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        ffi::count(&self.shape())
    }

    /// Are there no elements?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// A copy with memory of its own, as [`crate::Array::try_clone`].
    ///
    /// # Errors
    ///
    /// What made the elements failed; [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn try_clone(&self) -> Result<Array> {
        let copy = ffi::duplicate(&self.handle)?;
        Ok(Array::of(copy, self.elem, self.rank))
    }

    /// All elements, in row-major order, where they lie, as [`crate::Array::view`]: `None`
    /// on GPU backends and for `bool`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): `T` is not the element type.
    pub fn view<T: Element>(&self) -> Result<Option<&[T]>> {
        ffi::view(&self.handle)
    }
}

#[cfg(feature = "ndarray")]
mod nd {
    use ndarray::{ArrayBase, ArrayD, Data, Dimension, RawData};

    use super::Array;
    use crate::array::ndarray::with_slice;
    use crate::dynamic::Context;
    use crate::elem::Element;
    use crate::error::{Error, ErrorKind, Result};

    impl Array {
        /// All elements as an [`ndarray`] array in standard layout. Waits until they are computed.
        ///
        /// Needs the feature `ndarray`.
        ///
        /// # Errors
        ///
        /// As [`to_vec`](Self::to_vec). [`ErrorKind::InvalidArgument`]: an empty array whose other
        /// dimensions are larger than `ndarray` allows.
        pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
            ArrayD::from_shape_vec(self.shape(), self.to_vec()?).map_err(|error| {
                let message = format!("shape {:?} is refused: {error}", self.shape());
                Error::new(ErrorKind::InvalidArgument, "array to ndarray", message)
            })
        }
    }

    impl Context {
        /// Makes an array of an [`ndarray`] array or view of any layout, as
        /// [`crate::Context::array_from_ndarray`].
        ///
        /// Needs the feature `ndarray`.
        ///
        /// # Errors
        ///
        /// As [`array`](Self::array).
        pub fn array_from_ndarray<S, T, D>(&self, array: &ArrayBase<S, D>) -> Result<Array>
        where
            S: RawData<Elem = T> + Data,
            T: Element,
            D: Dimension,
        {
            with_slice(array, |elements| self.array_of(array.shape(), elements))
        }
    }
}
