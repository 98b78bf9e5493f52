//! The memory of arrays, shared with other crates.

#![allow(unsafe_code, reason = "declares unsafe functions of the public API")]

use super::Array;
use crate::context::Context;
use crate::elem::Element;
use crate::error::Result;
use crate::ffi::{self, RawMemory};
use crate::program::handle::HasHandle;
use crate::program::{HasArray, Program};

impl<P, T: Element, const R: usize> Array<P, T, R> {
    /// The array's memory, for use by other crates: its elements in row-major order.
    /// Waits until they are computed, as [`Context::sync`] does.
    ///
    /// For an array without elements, the memory is null or of any size.
    ///
    /// # Errors
    ///
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported): this version of the compiler provides no such
    /// function.
    ///
    /// # Safety
    ///
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
    ///   [`HostArray`](crate::HostArray) borrows it and no call or download reads it, with valid values of `T`: 0
    ///   and 1 for `bool`.
    /// * If the array becomes a [`HostArray`](crate::HostArray), the memory is not used at all from a call of
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
    ///
    /// * [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): memory of another backend, null for
    ///   a shape with elements, host memory that is not aligned for `T`, or a shape that is larger
    ///   than any memory.
    /// * [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported): this version of the compiler provides no such
    ///   function.
    ///
    /// # Safety
    ///
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
