//! Arrays of scalars whose types are known only at run time.

use std::fmt;

use futhark_manifest::ElemType;

use super::value::{Array, Scalar};
use crate::elem::Element;
use crate::error::Result;
use crate::ffi::{self, RawMemory};

impl Array {
    /// The element type.
    #[must_use]
    pub fn elem(&self) -> ElemType {
        ffi::elem_and_rank(&self.handle).0
    }

    /// The number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        ffi::elem_and_rank(&self.handle).1
    }

    /// The number of elements in each dimension; zeros if the array is [spent](super::Arg::ConsumeMut).
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        // An array has a shape, unless it is spent.
        ffi::shape(&self.handle).unwrap_or_else(|_| vec![0; self.rank()])
    }

    /// Returns all elements in row-major order, as bytes in native order. Waits for them.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        ffi::read_bytes(&self.handle)
    }

    /// Returns all elements in row-major order. Waits for them.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): `T` is not the element type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        ffi::read_vec(&self.handle)
    }

    /// Copies all elements in row-major order into `to`, which must have the same length.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): wrong length or element type; `to` is
    /// unchanged.
    pub fn read_into<T: Element>(&self, to: &mut [T]) -> Result<()> {
        ffi::read_into(&self.handle, to)
    }

    /// Returns one element.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): index out of bounds, or wrong number of
    /// indices. [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported): the library has no such function.
    pub fn index(&self, indices: &[i64]) -> Result<Scalar> {
        let (elem, scalar) = ffi::index(&self.handle, indices, ffi::Bounds::Ours)?;
        Ok(Scalar::from_c(elem, scalar))
    }

    /// Like [`index`](Self::index), but leaves the bounds check to the C library, so that
    /// `futhark-conformance` can test it.
    #[doc(hidden)]
    pub fn index_checked_by_c(&self, indices: &[i64]) -> Result<Scalar> {
        let (elem, scalar) = ffi::index(&self.handle, indices, ffi::Bounds::OfC)?;
        Ok(Scalar::from_c(elem, scalar))
    }

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
    pub fn try_clone(&self) -> Result<Array> {
        let handle = ffi::duplicate(&self.handle)?;
        Ok(Array { handle })
    }

    /// Copies the elements into an array of another shape, like [`crate::Array::reshape`], with one copy more on
    /// host backends.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the shape has another number of elements, or
    /// the program has no array type of its rank; nothing was copied.
    pub fn reshape(&self, shape: &[usize]) -> Result<Array> {
        let (core, elem) = (self.handle.core(), self.elem());
        let ty = ffi::array_number(core, elem, shape.len())?;
        ffi::expect_count(shape, elem, self.len())?;
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
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): `T` is not the element type.
    pub fn view<T: Element>(&self) -> Result<Option<&[T]>> {
        ffi::view(&self.handle)
    }

    /// The array's memory, for use by other crates, as [`crate::Array::raw_memory`].
    ///
    /// # Safety
    /// As for [`crate::Array::raw_memory`].
    #[allow(unsafe_code, reason = "an unsafe function of the public API")]
    pub unsafe fn raw_memory(&self) -> Result<RawMemory> {
        ffi::raw_memory(&self.handle)
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.handle.is_spent() {
            true => write!(f, "Array<{}>(spent)", self.elem()),
            false => write!(f, "Array<{}>{:?}", self.elem(), self.shape()),
        }
    }
}

#[cfg(feature = "ndarray")]
impl Array {
    /// Copies all elements into an [`ndarray`] array in standard layout. Waits for them.
    ///
    /// Needs the feature `ndarray`.
    ///
    /// # Errors
    /// The errors of [`to_vec`](Self::to_vec). [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument):
    /// the array is empty, and its other dimensions are larger than `ndarray` allows.
    pub fn to_ndarray<T: Element>(&self) -> Result<ndarray::ArrayD<T>> {
        ndarray::ArrayD::from_shape_vec(self.shape(), self.to_vec()?).map_err(|error| {
            let message = format!("ndarray rejects shape {:?}: {error}", self.shape());
            crate::Error::invalid("array to ndarray", message)
        })
    }
}
