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

    /// Whether the array has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// Copies the array into new memory, like [`crate::Array::try_clone`].
    ///
    /// # Errors
    ///
    /// The call that computes the elements failed; [`ErrorKind::OutOfMemory`].
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn try_clone(&self) -> Result<Array> {
        let handle = ffi::duplicate(&self.handle)?;
        Ok(Array { handle })
    }

    /// Copies the elements into an array of another shape, like [`crate::Array::reshape`], and at its cost.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: the shape has another number of elements, or the program has no array
    /// type of its rank; nothing was copied. Otherwise the errors of [`to_bytes`](Self::to_bytes).
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    pub fn reshape(&self, shape: &[usize]) -> Result<Array> {
        let (core, elem) = (self.handle.core(), self.elem());
        let ty = ffi::array_number(core, elem, shape.len())?;
        ffi::expect_count(shape, self.len())?;
        let bytes = ffi::read_bytes(&self.handle)?;
        let handle = ffi::create_from_bytes(core, ty, elem, shape, &bytes)?;
        Ok(Array { handle })
    }

    /// Borrows all elements in row-major order without a copy, like [`crate::Array::view`]: `None`
    /// on GPU backends and for `bool`.
    ///
    /// Only the typed interface has slices that own an array ([`crate::Array::into_host`]) and arrays whose
    /// elements are written in place ([`crate::Context::array_from_fn`]).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`]: `T` is not the element type.
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
        /// Copies all elements into an [`ndarray`] array in standard layout. Waits for them.
        ///
        /// Needs the feature `ndarray`.
        ///
        /// # Errors
        ///
        /// The errors of [`to_vec`](Self::to_vec). [`ErrorKind::InvalidArgument`]: the array is empty, and
        /// its other dimensions are larger than `ndarray` allows.
        pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
            ArrayD::from_shape_vec(self.shape(), self.to_vec()?).map_err(|error| {
                let message = format!("ndarray rejects shape {:?}: {error}", self.shape());
                Error::new(ErrorKind::InvalidArgument, "array to ndarray", message)
            })
        }
    }

    impl Context {
        /// Creates an array from an [`ndarray`] array or view of any layout, like
        /// [`crate::Context::array_from_ndarray`].
        ///
        /// Needs the feature `ndarray`.
        ///
        /// # Errors
        ///
        /// The errors of [`array`](Self::array).
        pub fn array_from_ndarray<S, T, D>(&self, array: &ArrayBase<S, D>) -> Result<Array>
        where
            S: RawData<Elem = T> + Data,
            T: Element,
            D: Dimension,
        {
            with_slice(array, |elements| self.array_nd(array.shape(), elements))
        }
    }
}
