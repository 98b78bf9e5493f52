//! Conversion of untrusted bytes to stored values.

#![allow(unsafe_code, reason = "declares unsafe functions of the public API")]

use super::library::Library;
use super::stored::Stored;
use crate::error::Result;
use crate::stored::Untrusted;

impl Library {
    /// A stored value with these bytes, as [`Untrusted::trust`].
    ///
    /// # Errors
    ///
    /// As [`check_stored`](Self::check_stored).
    ///
    /// # Safety
    ///
    /// As for [`Untrusted::trust`].
    pub unsafe fn trust(&self, stored: Untrusted) -> Result<Stored> {
        let found = stored.find_in(self.table())?;
        // SAFETY: the caller promises that this program stored a value of this type as these bytes.
        let bytes = unsafe { found.bytes(stored.into_body()) };
        Ok(Stored::of(bytes))
    }
}
