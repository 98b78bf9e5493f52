//! The memory of arrays, shared with other crates: handed to them, or borrowed from them.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use futhark_manifest::{Backend, ElemType};

use super::core::Core;
use super::handle::Handle;
use super::shape::{elements, for_c};
use super::table::backend_of;
use super::transfer::array_type;
use crate::error::{Error, ErrorKind, Result, counted};

/// The memory of an array, in the form that its backend uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RawMemory {
    /// Host backends (c, multicore): an address.
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

    /// The pointer that the table takes, if this is memory of the backend.
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

/// Waits until an array is computed, and returns its memory.
pub(crate) fn raw_memory(array: &Handle) -> Result<RawMemory> {
    ready(array, "raw memory")?;
    if array.table_type().raw().raw_memory.is_none() {
        let message = "this version of the compiler provides no function for raw memory";
        return Err(Error::new(ErrorKind::Unsupported, "raw memory", message));
    }
    let memory = address(array)?.map_or(std::ptr::null_mut(), NonNull::as_ptr);
    Ok(RawMemory::new(backend_of(array.core().table())?, memory))
}

/// On a GPU, waits until an array is computed. Comes before memory for a result is allocated: memory that is
/// lent to a call is leaked if the context is lost meanwhile ([`keep_if_lost`](super::transfer::keep_if_lost)),
/// and this wait finds most losses.
pub(super) fn ready(array: &Handle, operation: &'static str) -> Result<()> {
    if !array.core().table().is_gpu() {
        return Ok(());
    }
    let mut locked = array.core().locked();
    locked.check([array])?;
    locked.wait(operation)
}

/// The address of an array's elements. `None` if it is null, and if the table has no such function.
#[inline]
pub(super) fn address(array: &Handle) -> Result<Option<NonNull<c_void>>> {
    let Some(raw_memory) = array.table_type().raw().raw_memory else {
        return Ok(None);
    };
    let mut memory: *mut c_void = std::ptr::null_mut();
    let out = [(&raw mut memory).cast::<c_void>()];
    let input = [array.value("raw memory")?.cast_const()];
    // SAFETY: T; V. L exempts `raw_memory`: it reads a pointer that never changes while the
    // value exists, and `array` is borrowed meanwhile.
    let status = unsafe { raw_memory(array.core().context(), out.as_ptr(), input.as_ptr()) };
    if status as u32 != futhark_sys::table::FUT_OK {
        let message = "the runtime returned no address of the array";
        return Err(Error::new(ErrorKind::Backend, "raw memory", message));
    }
    Ok(NonNull::new(memory))
}

/// Makes an array of `types()[ty]` that borrows memory.
///
/// # Safety
///
/// The memory holds as many elements of type `elem` as the shape says, and belongs to the
/// device of this context. It is neither freed nor written until every value that may
/// share it is dropped and the device has finished with it.
pub(crate) unsafe fn borrow(
    core: &Arc<Core>,
    ty: u32,
    elem: ElemType,
    memory: RawMemory,
    shape: &[usize],
) -> Result<Handle> {
    const OPERATION: &str = "array from raw memory";
    let invalid = |message: String| Err(Error::invalid(OPERATION, message));
    let backend = backend_of(core.table())?;
    let array = array_type(core, ty, elem, shape.len())?;
    let n = elements(shape, elem)?;
    let Some(pointer) = memory.for_backend(backend) else {
        return invalid(format!(
            "expected memory of backend {backend}, got {memory:?}"
        ));
    };
    if pointer.is_null() && n > 0 {
        return invalid(format!(
            "shape {shape:?} has {}, but the memory is null",
            counted(n, "element")
        ));
    }
    if matches!(memory, RawMemory::Host(_)) && !pointer.addr().is_multiple_of(elem.size()) {
        return invalid(format!(
            "{pointer:?} is not aligned for element type {elem}"
        ));
    }
    let Some(borrow) = array.raw().borrow else {
        let message = "this version of the compiler cannot make arrays from raw memory";
        return Err(Error::new(ErrorKind::Unsupported, OPERATION, message));
    };
    let input = [pointer.cast_const(), for_c(shape)];
    let mut locked = core.locked();
    locked.check([])?;
    // SAFETY: T and L; the type has as many dimensions as `shape`; the caller promises the rest.
    let value = unsafe { locked.new_value(borrow, &input, || OPERATION.into()) }?;
    // SAFETY: T: a successful `borrow` returns a new value of the type.
    Ok(unsafe { Handle::new(Arc::clone(core), value, ty, 0) })
}
