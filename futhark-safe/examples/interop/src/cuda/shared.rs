//! Owners of cudarc that do not free what belongs to Futhark.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use cudarc::driver::result::{DriverError, ctx, device};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, sys};

/// The CUDA context of a Futhark context, for cudarc. Drop it on the thread that created it.
pub struct Shared(ManuallyDrop<Arc<CudaContext>>);

impl Shared {
    /// Wraps a CUDA context on the device of this number.
    ///
    /// # Safety
    ///
    /// The context is one of this device, and lives longer than this value and everything that cudarc
    /// allocates with it.
    pub unsafe fn new(raw: sys::CUcontext, number: i32) -> Result<Shared, DriverError> {
        let device = device::get(number)?;
        let ordinal = usize::try_from(number).expect("the driver accepted it");
        // SAFETY: the context is live. Its ownership stays with the caller, since it is never dropped.
        let context = unsafe { CudaContext::from_raw_context(ordinal, device, raw) }?;
        Ok(Shared(ManuallyDrop::new(context)))
    }

    pub fn context(&self) -> &Arc<CudaContext> {
        &self.0
    }
}

impl Drop for Shared {
    /// cudarc leaves its context current on the thread. Without this, the thread would keep it after
    /// Futhark has destroyed it.
    fn drop(&mut self) {
        // SAFETY: no context is always valid. cudarc makes its context current before it uses it.
        let unset = unsafe { ctx::set_current(std::ptr::null_mut()) };
        // An error means that the driver has no context to keep.
        let _ = unset;
    }
}

/// Memory of Futhark as a slice of cudarc. The drop does not free the memory.
pub struct Lent(Option<CudaSlice<i32>>);

impl Lent {
    /// # Safety
    ///
    /// The memory belongs to the context of the stream, holds `n` elements, lives longer than this
    /// value, and is not written.
    pub unsafe fn new(stream: &Arc<CudaStream>, address: sys::CUdeviceptr, n: usize) -> Lent {
        // SAFETY: the caller promises a valid allocation; its ownership stays there, see `drop`.
        Lent(Some(unsafe { stream.upgrade_device_ptr(address, n) }))
    }

    pub fn slice(&self) -> &CudaSlice<i32> {
        self.0.as_ref().expect("only `drop` takes it")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // `leak` drops everything but the memory.
        self.0.take().map(CudaSlice::leak);
    }
}
