//! Arrays of scalars: access to their elements, copied, one by one, or in place; conversions from slices,
//! iterators and arrays of the crate `ndarray`; memory shared with other crates.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Index};

use crate::call::{HasArray, Held, Observed, ProgramValue, Receive, Value};
use crate::context::{Context, Program};
use crate::elem::Element;
use crate::error::{Error, Result};
use crate::ffi::{self, Handle, Host, Output, RawMemory};

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
    #[doc(alias("clone", "copy"))]
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
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the shape has another number of elements;
    /// nothing was copied.
    pub fn reshape<const S: usize>(&self, shape: [usize; S]) -> Result<Array<P, T, S>>
    where
        P: HasArray<T, S>,
    {
        ffi::expect_count(&shape, T::ELEM, self.len())?;
        let elements = self.to_cow()?;
        let number = <P as HasArray<T, S>>::TYPE;
        ffi::create(self.handle.core(), number, &shape, &elements).map(Array::from_handle)
    }

    /// All elements, in row-major order. Waits until they are computed; on host backends they are, and it
    /// does not wait for calls of other threads.
    #[doc(alias("copy", "download"))]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        ffi::read_vec(&self.handle)
    }

    /// Copies all elements, in row-major order, to `to`, which must have the same length. Waits as
    /// [`to_vec`](Self::to_vec).
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the lengths differ; nothing was written.
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
    pub fn to_cow(&self) -> Result<Cow<'_, [T]>> {
        match self.view() {
            Some(elements) => Ok(Cow::Borrowed(elements)),
            None => self.to_vec().map(Cow::Owned),
        }
    }

    /// One element. To read many, [`to_vec`](Self::to_vec) is much faster on a GPU.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the index is out of bounds.
    pub fn get(&self, index: impl ArrayIndex<R>) -> Result<T> {
        let (elem, scalar) = ffi::index(&self.handle, &for_c(index), ffi::Bounds::Ours)?;
        if elem != T::ELEM {
            // Only a hand-written `HasArray` can cause this.
            let message = format!("expected elements of type {}, got {elem}", T::ELEM);
            return Err(Error::invalid("index", message));
        }
        Ok(T::from_c(scalar))
    }
}

impl<P, T: Element, const R: usize> Value for Array<P, T, R> {
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

impl<P: Program, T: Element, const R: usize> ProgramValue for Array<P, T, R> {
    type Program = P;
}

#[diagnostic::do_not_recommend]
impl<P: Program, T: Element, const R: usize> Observed<Array<P, T, R>> for Array<P, T, R> {
    fn hold(&self, _: &Context<P>) -> Result<Held<'_, Self>> {
        Ok(Held::Lent(self))
    }
}

#[diagnostic::do_not_recommend]
impl<P: HasArray<T, 1>, T: Element> Observed<Array<P, T, 1>> for [T] {
    fn hold(&self, context: &Context<P>) -> Result<Held<'_, Array<P, T, 1>>> {
        context.array(self).map(Held::Made)
    }
}

impl<P: HasArray<T, R>, T: Element, const R: usize> Receive for Array<P, T, R> {
    fn output() -> Output {
        Output::value(<P as HasArray<T, R>>::TYPE)
    }

    fn finish(output: &mut Output) -> Self {
        Array::from_handle(output.take_handle())
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

/// Why arrays have no operators. No type implements it, so rustc prints its message for the impls below, which users
/// would expect of an array. They are bounded by the program, because for a bound of the array itself rustc prints the
/// message of `Iterator` or `Display`.
#[diagnostic::on_unimplemented(
    message = "the elements of an array are in the memory of its context, where Rust cannot index, iterate or print them",
    label = "copy them to the host first: `.to_vec()?`",
    note = "to read one, `xs.get(i)?`; to borrow all on host backends, `xs.view()`; to write them there, `xs.into_host()`"
)]
pub trait ElementsOnHost {
    /// Cannot be called.
    fn absent() -> !;
}

#[doc(hidden)]
impl<P: ElementsOnHost, T: Element, const R: usize, I> Index<I> for Array<P, T, R> {
    type Output = T;

    fn index(&self, _: I) -> &T {
        P::absent()
    }
}

#[doc(hidden)]
impl<P: ElementsOnHost, T: Element, const R: usize> Iterator for &Array<P, T, R> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        P::absent()
    }
}

#[doc(hidden)]
impl<P: ElementsOnHost, T: Element, const R: usize> fmt::Display for Array<P, T, R> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        P::absent()
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

/// The index as C takes it. One that is too large is outside of every array.
pub(crate) fn for_c<const R: usize>(index: impl ArrayIndex<R>) -> [i64; R] {
    index
        .indices()
        .map(|i| i64::try_from(i).unwrap_or(i64::MAX))
}

impl<P: Program> Context<P> {
    /// Makes an array of rank 1 from a slice, `Vec` or array. The data is copied before
    /// this returns.
    ///
    /// ```text
    /// let xs = ctx.array(&[1.0f32, 2.0, 3.0])?;
    /// let ys = ctx.array(&vec![0i64; 1000])?;
    /// ```
    #[doc(alias("upload", "vec"))]
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
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the shape has another number of elements, or
    /// is larger than any memory.
    #[doc(alias("buffer", "matrix", "shape", "tensor", "upload"))]
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
    /// As [`array_nd`](Self::array_nd).
    pub fn array_from_fn<T: Element, const R: usize>(
        &self,
        shape: [usize; R],
        element: impl FnMut(usize) -> T,
    ) -> Result<Array<P, T, R>>
    where
        P: HasArray<T, R>,
    {
        let number = <P as HasArray<T, R>>::TYPE;
        let elements = (0..ffi::count(&shape)).map(element);
        ffi::create_of(self.core(), number, &shape, elements).map(Array::from_handle)
    }

    /// Makes an array of rank 1 from an iterator. The elements are collected on the host before
    /// the context is locked: the array cannot be allocated before their number is known, and the length
    /// that an iterator promises can be wrong. [`array_from_fn`](Self::array_from_fn) does not collect them.
    ///
    /// ```text
    /// let squares = ctx.array_from_iter((0..10i64).map(|i| i * i))?;
    /// ```
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

impl<P, T: Element, const R: usize> Array<P, T, R> {
    /// The array's memory, for use by other crates: its elements in row-major order.
    /// Waits until they are computed, as [`Context::sync`] does.
    ///
    /// For an array without elements, the memory is null or of any size.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported): this version of the compiler provides no such
    /// function.
    ///
    /// # Safety
    /// This function accesses nothing, but other crates accept such memory in safe functions. The
    /// caller must ensure:
    ///
    /// * The memory is used only while this array exists, and device work on it is complete before
    ///   the array is dropped or consumed. It is not freed; a `cl_mem` is released only after it was
    ///   retained.
    /// * It is not written, since other values and constants of the program may share it.
    ///   Two kinds of arrays share nothing, as long as they were not passed to a call: those that
    ///   [`try_clone`](Self::try_clone) made and those that the context made from elements.
    ///   Their memory may be written while no [`view`](Self::view) and no slice of a
    ///   [`HostArray`] borrows it and no call or download reads it, with valid values of `T`: 0
    ///   and 1 for `bool`.
    /// * If the array becomes a [`HostArray`], the memory is not used at all from a call of
    ///   [`to_mut`](crate::HostArray::to_mut) until the slice that it returns is no longer used. `to_mut`
    ///   can replace the memory by a copy, and then a pointer from before must not be used again.
    ///
    /// # Example
    ///
    /// ```text
    /// let xs = stats.array(&[1.0f32, 2.0])?;
    /// // SAFETY: `buffer` is only read, and dropped before `xs`; its drop balances `retain`.
    /// if let RawMemory::OpenCl(mem) = unsafe { xs.raw_memory() }? {
    ///     unsafe { opencl3::memory::retain_mem_object(mem) }.map_err(ClError)?;
    ///     let buffer = opencl3::memory::Buffer::<f32>::new(mem);
    ///     // …
    /// }
    /// ```
    ///
    /// `futhark-safe/examples/interop` in the repository is a whole program, with `opencl3` and with `cudarc`.
    #[allow(unsafe_code, reason = "an unsafe function of the public API")]
    pub unsafe fn raw_memory(&self) -> Result<RawMemory> {
        ffi::raw_memory(self.handle())
    }
}

impl<P: Program> Context<P> {
    /// Makes an array that borrows memory, without a copy.
    ///
    /// The memory is neither written nor freed. A call that consumes the array gets a copy.
    /// [`Array::try_clone`] makes an array that is independent of the memory.
    ///
    /// # Errors
    /// * [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): memory of another backend, null for
    ///   a shape with elements, host memory that is not aligned for `T`, or a shape that is larger
    ///   than any memory.
    /// * [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported): this version of the compiler provides no such
    ///   function.
    ///
    /// # Safety
    /// * The memory contains as many elements as the shape has, in row-major order, each a
    ///   valid value of `T` in native byte order: 0 or 1 for `bool`. Device work that writes them
    ///   is complete.
    /// * Device memory belongs to the device and the context (OpenCL, CUDA) that this
    ///   context uses, as memory from [`Array::raw_memory`] does.
    /// * The memory is neither freed nor written until this array and all values that may share it
    ///   are dropped: results of calls with the array as an argument, records and arrays of records
    ///   that contain it, and values made from those. On a GPU, call [`sync`](Self::sync) after the
    ///   last of them is dropped. If a GPU context was lost, its pending work is unknown, so the
    ///   memory must never be freed.
    #[allow(unsafe_code, reason = "an unsafe function of the public API")]
    pub unsafe fn array_from_raw<T: Element, const R: usize>(
        &self,
        shape: [usize; R],
        memory: RawMemory,
    ) -> Result<Array<P, T, R>>
    where
        P: HasArray<T, R>,
    {
        // SAFETY: the caller promises what `borrow` requires.
        let handle = unsafe {
            ffi::borrow(
                self.core(),
                <P as HasArray<T, R>>::TYPE,
                T::ELEM,
                memory,
                &shape,
            )
        }?;
        Ok(Array::from_handle(handle))
    }
}

#[cfg(feature = "ndarray")]
pub(crate) mod nd {
    use ndarray::{ArrayBase, ArrayView, Data, Dim, Dimension, IntoDimension, RawData};

    use super::Array;
    use crate::call::HasArray;
    use crate::context::{Context, Program};
    use crate::elem::Element;
    use crate::error::{Error, Result};

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
        /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): an empty array whose other dimensions are
        /// larger than `ndarray` allows.
        pub fn to_ndarray(&self) -> Result<ndarray::Array<T, Dim<[usize; R]>>>
        where
            Dim<[usize; R]>: Dimension,
            [usize; R]: IntoDimension<Dim = Dim<[usize; R]>>,
        {
            ndarray::Array::from_shape_vec(self.shape(), self.to_vec()?).map_err(|error| {
                let message = format!("ndarray rejects shape {:?}: {error}", self.shape());
                Error::invalid("array to ndarray", message)
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
}
