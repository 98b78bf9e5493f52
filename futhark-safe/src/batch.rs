//! Batches: many transfers with one wait.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use crate::array::Array;
use crate::call::{HasArray, Value as _};
use crate::context::{Context, Program};
use crate::elem::Element;
use crate::error::{Error, Result};
use crate::ffi;

/// Starts transfers that are complete when [`Context::batch`] returns.
pub struct Batch<'batch, 'env, P: Program> {
    batch: &'batch ffi::Batch<'env>,
    program: PhantomData<fn() -> P>,
}

/// The elements of an array, after the batch that reads them.
pub struct Download<T>(ffi::Downloaded<T>);

impl<P: Program> Context<P> {
    /// Makes many transfers with one wait.
    ///
    /// On GPU backends every transfer waits for the device. Those of a batch do not, and `batch` waits once after
    /// `body` has returned. With many small arrays this can save most of the time. On host backends a batch
    /// works, too, but there is no wait to save, and it takes longer than the same transfers without it.
    ///
    /// ```text
    /// let mut means = vec![0.0f32; 100];
    /// let total = ctx.batch(|batch| {
    ///     let xs = batch.array(&samples)?;           // an upload, which borrows `samples`
    ///     let ys = ctx.entry().means(&xs)?;          // calls are as usual
    ///     batch.read_into(&ys, &mut means)?;         // a download
    ///     ctx.entry().total(ys)
    /// })?;
    /// println!("{means:?} {total}");                // complete
    /// ```
    ///
    /// The memory of transfers must outlive the call of `batch`, and can be used again after it.
    /// Arrays may be passed to any call immediately, and freed or consumed. A call that waits anyway, such
    /// as one with a scalar result, waits for the transfers, too.
    ///
    /// `batch` also waits if `body` fails or panics. Batches can be nested, also with those of other
    /// contexts; each waits at its own end. Several threads can use one batch.
    ///
    /// # Errors
    /// The error of `body`. Otherwise the failure of the wait, or of another thread's wait meanwhile: an
    /// [earlier call's failure](crate::Error::is_from_earlier_call). Elements that were to be
    /// downloaded then have any value.
    ///
    /// If `body` and the wait fail, the error has [both](crate::Error::also).
    ///
    /// # Lost contexts
    ///
    /// If the context is lost on a GPU, `batch` waits for the driver. If this wait fails, its
    /// device may access the memory of the transfers later. `Vec`s that the batch owns
    /// ([`Batch::array`], [`Batch::to_vec`]) are then never freed; borrowed slices are the caller's.
    #[doc(alias("async", "download", "upload"))]
    pub fn batch<'env, R>(&self, body: impl FnOnce(&Batch<'_, 'env, P>) -> Result<R>) -> Result<R> {
        ffi::batch(self.core(), |batch| {
            body(&Batch {
                batch,
                program: PhantomData,
            })
        })
    }
}

impl<'env, P: Program> Batch<'_, 'env, P> {
    /// As [`Context::array`], without a wait. Takes a slice, whose elements the device can read until the
    /// batch ends, or a `Vec`, which the batch keeps until then.
    pub fn array<T: Element>(&self, data: impl Into<Cow<'env, [T]>>) -> Result<Array<P, T, 1>>
    where
        P: HasArray<T, 1>,
    {
        let data = data.into();
        self.array_nd([data.len()], data)
    }

    /// As [`Context::array_nd`], without a wait: see [`array`](Self::array).
    pub fn array_nd<T: Element, const R: usize>(
        &self,
        shape: [usize; R],
        data: impl Into<Cow<'env, [T]>>,
    ) -> Result<Array<P, T, R>>
    where
        P: HasArray<T, R>,
    {
        let number = <P as HasArray<T, R>>::TYPE;
        let handle = self.batch.create(number, &shape, data.into())?;
        Ok(Array::from_handle(handle))
    }

    /// As [`Array::read_into`], without a wait: the elements are in `to` when the batch has ended.
    ///
    /// # Errors
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext): the array belongs to another context.
    pub fn read_into<T: Element, const R: usize>(
        &self,
        array: &Array<P, T, R>,
        to: &'env mut [T],
    ) -> Result<()> {
        self.batch.read_into(array.handle(), to)
    }

    /// As [`Array::to_vec`], without a wait: the [`Download`] has the elements when the batch has ended.
    ///
    /// # Errors
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext): the array belongs to another context.
    pub fn to_vec<T: Element, const R: usize>(
        &self,
        array: &Array<P, T, R>,
    ) -> Result<Download<T>> {
        Download::of(self.batch, array.handle())
    }
}

impl<T: Element> Download<T> {
    pub(crate) fn of(batch: &ffi::Batch<'_>, array: &ffi::Handle) -> Result<Download<T>> {
        let place = ffi::Downloaded::default();
        batch.read_vec(array, &place)?;
        Ok(Download(place))
    }

    /// All elements, in row-major order.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the batch has not ended, or has failed.
    pub fn into_vec(self) -> Result<Vec<T>> {
        let elements = ffi::sync::lock(&self.0).take();
        elements.ok_or_else(|| {
            let message = "the batch that reads the array has not ended, or has failed";
            Error::invalid("download", message)
        })
    }
}

impl<P: Program> fmt::Debug for Batch<'_, '_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("program", &P::NAME).finish()
    }
}

impl<T> fmt::Debug for Download<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Download")
    }
}
