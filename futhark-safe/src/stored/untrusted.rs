//! Conversion of untrusted bytes to stored values: without `unsafe` for types whose values the checks cover, and by a
//! promise of the caller.

#![allow(
    unsafe_code,
    reason = "the table says for which types the checks are complete; declares unsafe functions of the public API"
)]

use futhark_sys::table::{FUT_COVERAGE_ABSTRACT, FUT_COVERAGE_FULL, FUT_COVERAGE_SUM, Type};

use super::{Stored, Untrusted};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::Bytes;
use crate::program::OpaqueTag;

impl Untrusted {
    /// A stored value with these bytes, if they pass [`check`](Self::check) and the checks are
    /// complete for the type.
    ///
    /// They are complete for records and tuples of scalars, arrays and such records, for sums whose variants have
    /// only scalars, and for arrays of these: constructors make such values from the same parts. So these bytes can
    /// come from anyone; they are some value of the type, if not the one that was stored.
    ///
    /// ```text
    /// let stored = Untrusted::from_bytes(&std::fs::read("state.bin")?)?.accept::<State>()?;
    /// let state = ctx.restore(&stored)?;
    /// ```
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check). [`ErrorKind::Unsupported`]: the type is or contains a sum with other
    /// variants, or a type whose structure the manifest does not describe. `Stored::seal` and `unseal` (feature
    /// `mac`) take every type.
    pub fn accept<G: OpaqueTag>(self) -> Result<Stored<G>> {
        let found = self.find::<G>()?;
        Ok(Stored::of(accept(found, self.into_body())?))
    }

    /// As [`accept`](Self::accept), for the program of a context that was made of a library
    /// (`Context::with_library`, feature `dynamic`).
    ///
    /// # Errors
    ///
    /// As [`accept`](Self::accept).
    pub fn accept_for<G: OpaqueTag>(self, ctx: &Context<G::Program>) -> Result<Stored<G>> {
        let found = self.find_for::<G>(ctx)?;
        Ok(Stored::of(accept(found, self.into_body())?))
    }
}

/// The body, which has passed the checks for the type, as a stored value.
pub(crate) fn accept(found: Found, body: Vec<u8>) -> Result<Bytes> {
    let what = match found.ty.raw().coverage {
        FUT_COVERAGE_FULL => {
            // SAFETY: the body has passed all checks, and T: they are complete for this type. So the value
            // has parts from which safe code can make it by constructors of the program, and nothing
            // relies on more than that.
            return Ok(unsafe { found.bytes(body) });
        }
        FUT_COVERAGE_SUM => "a sum with arrays or other values in its variants",
        FUT_COVERAGE_ABSTRACT => "a type without a structure in the manifest",
        _ => "a layout that the manifest does not describe",
    };
    let message = format!(
        "no check covers all values of type {}, which is or has {what}: store them by `Stored::seal` (feature \
         `mac`), or call the unsafe `trust`",
        found.ty.name()
    );
    Err(Error::new(ErrorKind::Unsupported, "restore", message))
}

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
