//! The memory of arrays, shared with other crates.

#![allow(
    unsafe_code,
    reason = "unsafe functions of the API, whose contracts are passed on"
)]

use futhark_manifest::ElemType;

use super::context::Context;
use super::value::Array;
use crate::error::Result;
use crate::ffi::{self, RawMemory};

impl Context {
    /// Makes an array that borrows memory, as [`crate::Context::array_from_raw`].
    ///
    /// # Errors
    ///
    /// As there. Also [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the program has no such array type.
    ///
    /// # Safety
    ///
    /// As there, with elements of type `elem`.
    pub unsafe fn array_from_raw(
        &self,
        elem: ElemType,
        shape: &[usize],
        memory: RawMemory,
    ) -> Result<Array> {
        let ty = self.library().array_type(elem, shape.len())?;
        // SAFETY: the caller's promise is that of `borrow`.
        let handle = unsafe { ffi::borrow(self.core(), ty.index() as u32, elem, memory, shape) }?;
        Ok(Array::of(handle, elem, shape.len()))
    }
}

impl Array {
    /// The array's memory, for use by other crates, as [`crate::Array::raw_memory`].
    ///
    /// # Errors
    ///
    /// As there.
    ///
    /// # Safety
    ///
    /// As there.
    pub unsafe fn raw_memory(&self) -> Result<RawMemory> {
        ffi::raw_memory(self.handle())
    }
}
