//! Memory as a backend has it, in and out, for work beside other crates.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use futhark_manifest::{Backend, ElemType};

use super::core::Core;
use super::handle::Handle;
use super::make::wrap;
use super::shape::{elements, for_c};
use super::transfer::array_type;
use crate::array::Array;
use crate::context::{Context, backend_of};
use crate::elem::Element;
use crate::error::{Error, Kind, Result};
use crate::program::handle::HasHandle;
use crate::program::{HasArray, Program};

/// The memory of an array, as its backend has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RawMemory {
    /// Host backends (c, multicore, ispc): an address.
    Host(*mut c_void),
    /// OpenCL: a `cl_mem`. It knows its OpenCL context (`CL_MEM_CONTEXT`).
    OpenCl(*mut c_void),
    /// CUDA: a `CUdeviceptr`. The driver knows its context
    /// (`CU_POINTER_ATTRIBUTE_CONTEXT`).
    Cuda(u64),
    /// HIP: a `hipDeviceptr_t`.
    Hip(*mut c_void),
}

impl RawMemory {
    fn new(backend: Backend, memory: *mut c_void) -> RawMemory {
        match backend {
            Backend::OpenCl => RawMemory::OpenCl(memory),
            Backend::Cuda => RawMemory::Cuda(memory.expose_provenance() as u64),
            Backend::Hip => RawMemory::Hip(memory),
            _ => RawMemory::Host(memory),
        }
    }

    /// As it goes through the table, if it is memory of this backend.
    fn for_backend(self, backend: Backend) -> Option<*mut c_void> {
        match (self, backend) {
            (RawMemory::OpenCl(memory), Backend::OpenCl)
            | (RawMemory::Hip(memory), Backend::Hip) => Some(memory),
            (RawMemory::Cuda(memory), Backend::Cuda) => {
                Some(std::ptr::with_exposed_provenance_mut(memory as usize))
            }
            (RawMemory::Host(memory), backend) if !backend.is_gpu() => Some(memory),
            _ => None,
        }
    }
}

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
        raw_memory(self.handle())
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
            borrow(
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

/// As [`Array::raw_memory`].
pub(crate) fn raw_memory(array: &Handle) -> Result<RawMemory> {
    let core = array.core();
    if core.table().is_gpu() {
        wait(array, "raw memory")?;
    }
    if array.table_type().raw().raw_memory.is_none() {
        let message = "this version of the compiler gives no raw memory";
        return Err(Error::new(Kind::Unsupported, "raw memory", message));
    }
    let memory = address(array)?.map_or(std::ptr::null_mut(), NonNull::as_ptr);
    Ok(RawMemory::new(backend_of(core.table())?, memory))
}

/// Waits until an array is computed.
pub(super) fn wait(array: &Handle, operation: &'static str) -> Result<()> {
    let core = array.core();
    let sync = core.table().raw().sync.expect("a table has sync");
    let mut locked = core.locked();
    locked.check([array])?;
    // SAFETY: T and L; it takes no arguments.
    unsafe { locked.call(sync, &[], &[], || operation.into()) }?;
    locked.confirm();
    Ok(())
}

/// Where the elements of an array are, as the table says it; `None` for NULL, and if the table has
/// no such function.
pub(super) fn address(array: &Handle) -> Result<Option<NonNull<c_void>>> {
    let Some(raw_memory) = array.table_type().raw().raw_memory else {
        return Ok(None);
    };
    let mut memory: *mut c_void = std::ptr::null_mut();
    let out = [(&raw mut memory).cast::<c_void>()];
    let input = [array.value().cast_const()];
    // SAFETY: T; V. L exempts `raw_memory`: it reads a pointer that never changes while the
    // value exists, and `array` is borrowed meanwhile.
    let status = unsafe { raw_memory(array.core().context(), out.as_ptr(), input.as_ptr()) };
    if status as u32 != futhark_sys::table::FUT_OK {
        let message = "the runtime does not say where the array is";
        return Err(Error::new(Kind::Backend, "raw memory", message));
    }
    Ok(NonNull::new(memory))
}

/// # Safety
///
/// As for [`Context::array_from_raw`].
pub(super) unsafe fn borrow(
    core: &Arc<Core>,
    ty: u32,
    elem: ElemType,
    memory: RawMemory,
    shape: &[usize],
) -> Result<Handle> {
    const OPERATION: &str = "array from raw memory";
    let invalid = |message: String| Err(Error::new(Kind::InvalidArgument, OPERATION, message));
    let backend = backend_of(core.table())?;
    let array = array_type(core, ty, elem, shape.len())?;
    let n = elements(shape, elem)?;
    let Some(pointer) = memory.for_backend(backend) else {
        return invalid(format!("{memory:?} is no memory of backend {backend}"));
    };
    if pointer.is_null() && n > 0 {
        return invalid(format!(
            "an array of shape {shape:?} has {n} elements, given was null"
        ));
    }
    if matches!(memory, RawMemory::Host(_)) && !pointer.addr().is_multiple_of(elem.size()) {
        return invalid(format!(
            "{pointer:?} is not aligned for element type {elem}"
        ));
    }
    let Some(borrow) = array.raw().borrow else {
        let message = "this version of the compiler takes no raw memory";
        return Err(Error::new(Kind::Unsupported, OPERATION, message));
    };
    let mut dims = for_c(shape);
    let dims = dims.as_mut();
    let mut value: *mut c_void = std::ptr::null_mut();
    let mut locked = core.locked();
    locked.check([])?;
    // SAFETY: T and L; the type has as many dimensions as `dims`; the caller vouches for the memory.
    unsafe {
        locked.call(
            borrow,
            &[(&raw mut value).cast()],
            &[pointer.cast_const(), dims.as_ptr().cast()],
            || OPERATION.into(),
        )
    }?;
    // SAFETY: T: what a successful `borrow` gives is a new value of the type.
    unsafe { wrap(core, value, ty, OPERATION) }
}
