//! Conversion of untrusted bytes to stored values.

#![allow(unsafe_code, reason = "declares unsafe functions of the public API")]

use futhark_sys::table::Type;

use super::{Stored, Untrusted};
use crate::context::Context;
use crate::error::Result;
use crate::ffi::Bytes;
use crate::program::OpaqueTag;

impl Untrusted {
    /// A stored value with these bytes, if they pass [`check`](Self::check), of a program that is linked
    /// into this binary.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    ///
    /// # Safety
    ///
    /// The same program stored a value as these bytes. The checks detect accidents, not attacks. They
    /// cannot verify sizes that the program's types relate to each other, the content of
    /// a sum's payload, and invariants of the program's abstract types. The compiled program
    /// relies on all of these, and accesses memory out of bounds if they do not hold.
    pub unsafe fn trust<G: OpaqueTag>(self) -> Result<Stored<G>> {
        let found = self.find::<G>()?;
        // SAFETY: the caller promises that this program stored a value of this type as these bytes.
        let bytes = unsafe { found.bytes(self.into_body()) };
        Ok(Stored::of(bytes))
    }

    /// A stored value with these bytes, if they pass [`check_for`](Self::check_for): as
    /// [`trust`](Self::trust), for the program of a context that was made of a
    /// library (`Context::with_library`, feature `dynamic`).
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    ///
    /// # Safety
    ///
    /// As for [`trust`](Self::trust).
    pub unsafe fn trust_for<G: OpaqueTag>(self, ctx: &Context<G::Program>) -> Result<Stored<G>> {
        let found = self.find_for::<G>(ctx)?;
        // SAFETY: the caller promises that this program stored a value of this type as these bytes.
        let bytes = unsafe { found.bytes(self.into_body()) };
        Ok(Stored::of(bytes))
    }
}

/// Program and type of a body that has passed all checks for it.
pub(crate) struct Found {
    pub(super) program: &'static str,
    pub(super) ty: &'static Type,
}

impl Found {
    /// # Safety
    ///
    /// As for [`Bytes::new`].
    pub(crate) unsafe fn bytes(&self, body: Vec<u8>) -> Bytes {
        // SAFETY: as the caller promises.
        unsafe { Bytes::new(self.program, self.ty.name(), body) }
    }
}
