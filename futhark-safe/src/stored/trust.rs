//! Bytes from outside of this process, believed.

#![allow(
    unsafe_code,
    reason = "declares what is unsafe for users; every contract is passed on to `ffi`"
)]

use super::{Stored, Untrusted};
use crate::error::Result;
use crate::ffi::Bytes;
use crate::program::OpaqueTag;

impl Untrusted {
    /// A stored value of these bytes, after every check that there is.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    ///
    /// # Safety
    ///
    /// The bytes are those of a value that the same program stored. The checks catch
    /// accidents, not intent: sizes that the program's types relate to each other, what is in
    /// the payload of a sum, and what a module of the program keeps true of its abstract
    /// types cannot be checked. The compiled program believes them and can access memory
    /// outside of its arrays when they are wrong.
    pub unsafe fn trust<G: OpaqueTag>(self) -> Result<Stored<G>> {
        let (program, type_name) = self.find::<G>()?;
        // SAFETY: the caller vouches that a value of that program and type was stored so.
        let bytes = unsafe { Bytes::new(program, type_name, self.into_body()) };
        Ok(Stored::of(bytes))
    }
}

#[cfg(feature = "dynamic")]
impl crate::dynamic::Library {
    /// A stored value of these bytes, after every check that there is:
    /// [`Untrusted::trust`] for a program that is known at run time.
    ///
    /// # Errors
    ///
    /// As [`check_stored`](Self::check_stored).
    ///
    /// # Safety
    ///
    /// As for [`Untrusted::trust`].
    pub unsafe fn trust(&self, stored: Untrusted) -> Result<crate::dynamic::Stored> {
        let (program, type_name) = stored.find_in(self.table())?;
        // SAFETY: the caller vouches that a value of that program and type was stored so.
        let bytes = unsafe { Bytes::new(program, type_name, stored.into_body()) };
        Ok(crate::dynamic::Stored::of(bytes))
    }
}
