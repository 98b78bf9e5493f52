//! Conversions from and to arrays of the crate [`ndarray`].

use ndarray::{ArrayBase, ArrayView, Data, Dim, Dimension, IntoDimension, RawData};

use super::Array;
use crate::context::Context;
use crate::elem::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::program::{HasArray, Program};

impl<P: Program> Context<P> {
    /// Makes an array from an [`ndarray`] array or view of any layout. Elements in another layout are
    /// copied into standard layout first.
    ///
    /// Needs the feature `ndarray`.
    ///
    /// ```text
    /// let matrix = ndarray::array![[1.0f64, 2.0], [3.0, 4.0]];
    /// let on_device = ctx.array_from_ndarray(&matrix)?;
    /// let transposed = ctx.array_from_ndarray(&matrix.t())?;
    /// ```
    ///
    /// # Errors
    ///
    /// As [`array_nd`](Self::array_nd).
    pub fn array_from_ndarray<S, T, const R: usize>(
        &self,
        array: &ArrayBase<S, Dim<[usize; R]>>,
    ) -> Result<Array<P, T, R>>
    where
        S: RawData<Elem = T> + Data,
        T: Element,
        Dim<[usize; R]>: Dimension,
        P: HasArray<T, R>,
    {
        let mut shape = [0; R];
        shape.copy_from_slice(array.shape());
        with_slice(array, |elements| self.array_nd(shape, elements))
    }
}

impl<P, T: Element, const R: usize> Array<P, T, R> {
    /// All elements as an [`ndarray`] array in standard layout. Waits until they are computed.
    ///
    /// Needs the feature `ndarray`.
    ///
    /// # Errors
    ///
    /// As [`to_vec`](Self::to_vec). [`ErrorKind::InvalidArgument`]: an empty array whose other
    /// dimensions are larger than `ndarray` allows.
    pub fn to_ndarray(&self) -> Result<ndarray::Array<T, Dim<[usize; R]>>>
    where
        Dim<[usize; R]>: Dimension,
        [usize; R]: IntoDimension<Dim = Dim<[usize; R]>>,
    {
        ndarray::Array::from_shape_vec(self.shape(), self.to_vec()?).map_err(|error| {
            let message = format!("ndarray rejects shape {:?}: {error}", self.shape());
            Error::new(ErrorKind::InvalidArgument, "array to ndarray", message)
        })
    }

    /// The elements in place, as an [`ndarray`] view. `None` if [`view`](Self::view) returns `None`,
    /// and for shapes that `ndarray` does not allow.
    ///
    /// Needs the feature `ndarray`.
    pub fn view_nd(&self) -> Option<ArrayView<'_, T, Dim<[usize; R]>>>
    where
        Dim<[usize; R]>: Dimension,
        [usize; R]: IntoDimension<Dim = Dim<[usize; R]>>,
    {
        ArrayView::from_shape(self.shape(), self.view()?).ok()
    }
}

/// Calls `then` with the elements in row-major order, without a copy if they are in standard layout.
pub(crate) fn with_slice<S, T, D, Out>(
    array: &ArrayBase<S, D>,
    then: impl FnOnce(&[T]) -> Out,
) -> Out
where
    S: RawData<Elem = T> + Data,
    T: Element,
    D: Dimension,
{
    match array.as_slice() {
        Some(elements) => then(elements),
        None => then(&array.iter().copied().collect::<Vec<T>>()),
    }
}
