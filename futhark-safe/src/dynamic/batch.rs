//! Batches of a context of a library.

use std::borrow::Cow;
use std::fmt;

use super::array::Array;
use super::context::Context;
use super::library::Library;
use crate::batch::Download;
use crate::elem::Element;
use crate::error::Result;
use crate::ffi;

/// Starts transfers that are complete when [`Context::batch`] returns, like [`crate::Batch`].
pub struct Batch<'batch, 'env> {
    batch: &'batch ffi::Batch<'env>,
    library: &'batch Library,
}

impl Context {
    /// Makes many transfers with one wait, like [`crate::Context::batch`].
    ///
    /// ```no_run
    /// use futhark_safe::dynamic::{Arg, Context};
    ///
    /// fn normalised(ctx: &Context, data: &[f32]) -> futhark_safe::Result<Vec<f32>> {
    ///     let mut normalised = vec![0.0f32; data.len()];
    ///     ctx.batch(|batch| {
    ///         let xs = batch.array(data)?.into();
    ///         let results = ctx.call("normalise", vec![Arg::Consume(xs)])?;
    ///         if let futhark_safe::dynamic::Value::Array(ys) = &results[0] {
    ///             batch.read_into(ys, &mut normalised)?;
    ///         }
    ///         Ok(())
    ///     })?;
    ///     Ok(normalised)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`crate::Context::batch`].
    pub fn batch<'env, R>(&self, body: impl FnOnce(&Batch<'_, 'env>) -> Result<R>) -> Result<R> {
        let library = self.library();
        ffi::batch(self.core(), |batch| body(&Batch { batch, library }))
    }
}

impl<'env> Batch<'_, 'env> {
    /// As [`Context::array`], without a wait: see [`crate::Batch::array`].
    ///
    /// # Errors
    ///
    /// As [`Context::array`].
    pub fn array<T: Element>(&self, data: impl Into<Cow<'env, [T]>>) -> Result<Array> {
        let data = data.into();
        self.array_nd(&[data.len()], data)
    }

    /// As [`Context::array_nd`], without a wait: see [`crate::Batch::array`].
    ///
    /// # Errors
    ///
    /// As [`Context::array_nd`].
    pub fn array_nd<T: Element>(
        &self,
        shape: &[usize],
        data: impl Into<Cow<'env, [T]>>,
    ) -> Result<Array> {
        let ty = ffi::array_number(self.batch.core(), T::ELEM, shape.len())?;
        let handle = self.batch.create(ty, shape, data.into())?;
        Ok(Array { handle })
    }

    /// As [`Array::read_into`], without a wait: see [`crate::Batch::read_into`].
    ///
    /// # Errors
    ///
    /// As [`Array::read_into`]. [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext): the array
    /// belongs to another context.
    pub fn read_into<T: Element>(&self, array: &Array, to: &'env mut [T]) -> Result<()> {
        self.batch.read_into(array.handle(), to)
    }

    /// As [`Array::to_vec`], without a wait: see [`crate::Batch::to_vec`].
    ///
    /// # Errors
    ///
    /// As [`Array::to_vec`]. [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext): the array
    /// belongs to another context.
    pub fn to_vec<T: Element>(&self, array: &Array) -> Result<Download<T>> {
        Download::of(self.batch, array.handle())
    }
}

impl fmt::Debug for Batch<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("library", self.library)
            .finish()
    }
}
