//! Memory as a backend has it, in and out, for work beside other crates.

#![allow(
    unsafe_code,
    reason = "declares what is unsafe for users; every contract is passed on to `ffi`"
)]

use super::Array;
use crate::context::Context;
use crate::elem::Element;
use crate::error::Result;
use crate::ffi::{self, RawMemory};
use crate::program::handle::HasHandle;
use crate::program::{HasArray, Program};

impl<P, T: Element, const R: usize> Array<P, T, R> {
    /// The array's memory, for work beside other crates: its elements in row-major order.
    /// Waits until they are computed, as [`Context::sync`] does.
    ///
    /// Null, or memory of any size, if the array has no elements.
    ///
    /// # Errors
    ///
    /// An [earlier call's failure](crate::Error::is_from_earlier_call).
    /// [`Kind::Unsupported`]: the compiler gave the
    /// program no such function.
    ///
    /// # Safety
    ///
    /// It reads nothing itself, but other crates take such memory in functions that are
    /// safe to call. Whoever uses it sees to this:
    ///
    /// * It is used only while this array exists, and device work on it is complete before
    ///   the array is dropped or consumed. It is not freed; a `cl_mem` that is released must
    ///   have been retained.
    /// * It is not written, since other values and constants of the program may share it.
    ///   Two kinds of arrays share nothing: those that [`try_clone`](Self::try_clone) made
    ///   and those that the context made from elements, as long as no call was given them.
    ///   Theirs may be written while no [`view`](Self::view) exists and no call reads them,
    ///   with values that `T` has: 0 and 1 for `bool`.
    ///
    /// # Example
    ///
    /// ```text
    /// let xs = stats.array(&[1.0f32, 2.0])?;
    /// // SAFETY: `buffer` is used before `xs` goes, and only read; `retain` is balanced by its drop.
    /// if let RawMemory::OpenCl(mem) = unsafe { xs.raw_memory() }? {
    ///     unsafe { opencl3::memory::retain_mem_object(mem) }?;
    ///     let buffer = opencl3::memory::Buffer::<f32>::new(mem);
    ///     // …
    /// }
    /// ```
    pub unsafe fn raw_memory(&self) -> Result<RawMemory> {
        ffi::raw_memory(self.handle())
    }
}

impl<P: Program> Context<P> {
    /// Makes an array of memory that somebody else owns, without a copy.
    ///
    /// The array only borrows it: nothing here writes to it or frees it. A call that consumes the
    /// array gets a copy. [`Array::try_clone`] makes one that is independent of the memory.
    ///
    /// # Errors
    ///
    /// [`Kind::InvalidArgument`]: memory of another backend, null though there are elements,
    /// host memory that is not aligned for `T`, a shape that no memory could hold.
    /// [`Kind::Unsupported`]: the compiler gave the program no such function.
    ///
    /// # Safety
    ///
    /// * The memory holds as many elements as the shape says, in row-major order, each a
    ///   value of `T` in native byte order: 0 or 1 for `bool`. Device work that writes them
    ///   is complete.
    /// * Device memory belongs to the device and the context (OpenCL, CUDA) that this
    ///   context uses, as memory from [`Array::raw_memory`] does.
    /// * It stays, and nobody writes to it, until this array is gone and everything that may
    ///   share its memory: results of calls that were given the array, records and arrays
    ///   of records with it as a part, and what was made of those. A GPU must have finished as well:
    ///   call [`sync`](Self::sync) after the last of them is dropped. Of a lost GPU context it
    ///   is not known what has finished, so then the memory must stay for good.
    pub unsafe fn array_from_raw<T: Element, const R: usize>(
        &self,
        memory: RawMemory,
        shape: [usize; R],
    ) -> Result<Array<P, T, R>>
    where
        P: HasArray<T, R>,
    {
        // SAFETY: the caller vouches for the memory.
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
