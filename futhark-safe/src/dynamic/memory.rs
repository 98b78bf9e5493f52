//! The memory of arrays, shared with other crates.

#![allow(unsafe_code, reason = "declares unsafe functions of the public API")]

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
    /// As [`crate::Context::array_from_raw`]. Also [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the program has no such array type.
    ///
    /// # Safety
    ///
    /// As for [`crate::Context::array_from_raw`], with elements of type `elem`.
    pub unsafe fn array_from_raw(
        &self,
        elem: ElemType,
        shape: &[usize],
        memory: RawMemory,
    ) -> Result<Array> {
        let ty = ffi::array_number(self.core(), elem, shape.len())?;
        // SAFETY: the caller promises what `borrow` requires.
        let handle = unsafe { ffi::borrow(self.core(), ty, elem, memory, shape) }?;
        Ok(Array { handle })
    }
}

impl Array {
    /// The array's memory, for use by other crates, as [`crate::Array::raw_memory`].
    ///
    /// # Errors
    ///
    /// As [`crate::Array::raw_memory`].
    ///
    /// # Safety
    ///
    /// As for [`crate::Array::raw_memory`].
    pub unsafe fn raw_memory(&self) -> Result<RawMemory> {
        ffi::raw_memory(self.handle())
    }
}
