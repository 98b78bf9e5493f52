//! Memory as a backend has it, in and out, for work beside other crates.

#![allow(
    unsafe_code,
    reason = "declares what is unsafe for users; every contract is passed on"
)]

use futhark_manifest::ElemType;

use super::context::Context;
use super::value::Array;
use crate::error::Result;
use crate::ffi::{self, RawMemory};

impl Context {
    /// Makes an array of memory that somebody else owns, without a copy:
    /// [`crate::Context::array_from_raw`] for a program that is known at run time.
    ///
    /// # Errors
    ///
    /// As there, and [`Kind::InvalidArgument`]: the program has no such array type.
    ///
    /// # Safety
    ///
    /// As there; the elements are of type `elem`.
    pub unsafe fn array_from_raw(
        &self,
        elem: ElemType,
        shape: &[usize],
        memory: RawMemory,
    ) -> Result<Array> {
        let ty = self.library().array_type(elem, shape.len())?;
        // SAFETY: the caller vouches for the memory.
        let handle = unsafe { ffi::borrow(self.core(), ty.index() as u32, elem, memory, shape) }?;
        Ok(Array::of(handle, elem, shape.len()))
    }
}

impl Array {
    /// The array's memory, for work beside other crates: [`crate::Array::raw_memory`] for a
    /// program that is known at run time.
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
