//! Stored values of the dynamic interface: see [`crate::stored`].

use std::fmt;

use super::library::Library;
use crate::error::Result;
use crate::ffi::Bytes;
use crate::stored::{self, Untrusted};

/// The bytes of an opaque value, with its program and type.
///
/// Created by [`Opaque::store`](super::Opaque::store), or from untrusted bytes by the `unsafe`
/// [`Library::trust`], so that restoring it is safe. It can be restored into a context of any
/// backend of the same program, compiled by the same version of the compiler.
#[derive(Clone, PartialEq, Eq)]
pub struct Stored(pub(super) Bytes);

impl Stored {
    pub(crate) fn of(bytes: Bytes) -> Stored {
        Stored(bytes)
    }

    /// Returns frame and body, for a file or another process: see [`Untrusted`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        stored::to_bytes(&self.0)
    }

    /// Returns frame, body and a MAC of them, as [`crate::Stored::seal`].
    ///
    /// Needs the feature `mac`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    #[cfg(feature = "mac")]
    pub fn seal(&self, key: &stored::Key) -> Result<Vec<u8>> {
        stored::seal(&self.0, key)
    }

    /// The bytes in the format of the runtime, without the frame.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.0.body()
    }

    /// The name of the type in the manifest.
    #[must_use]
    pub fn type_name(&self) -> &str {
        self.0.type_name()
    }
}

impl Library {
    /// Runs all checks of [`accept`](Self::accept) and [`trust`](Self::trust).
    ///
    /// # Errors
    ///
    /// The errors of [`Untrusted::check`].
    pub fn check_stored(&self, stored: &Untrusted) -> Result<()> {
        stored.find_in(self.table()).map(drop)
    }

    /// A stored value with these bytes, if the checks are complete for its type, as
    /// [`Untrusted::accept`].
    ///
    /// # Errors
    ///
    /// As [`Untrusted::accept`].
    pub fn accept(&self, stored: Untrusted) -> Result<Stored> {
        let found = stored.find_in(self.table())?;
        stored::accept(found, stored.into_body()).map(Stored)
    }

    /// Returns the value that [`Stored::seal`] sealed under the same key, as
    /// [`crate::Stored::unseal`].
    ///
    /// Needs the feature `mac`.
    ///
    /// # Errors
    ///
    /// As [`crate::Stored::unseal`].
    #[cfg(feature = "mac")]
    pub fn unseal(&self, key: &stored::Key, bytes: &[u8]) -> Result<Stored> {
        stored::unseal(key, bytes, |untrusted| untrusted.find_in(self.table())).map(Stored)
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        stored::debug(f, "Stored", self.type_name(), self.body())
    }
}

#[cfg(feature = "serde")]
impl serde_core::Serialize for Stored {
    fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.to_bytes().map_err(serde_core::ser::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

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
    #[allow(unsafe_code, reason = "an unsafe function of the public API")]
    pub unsafe fn trust(&self, stored: Untrusted) -> Result<Stored> {
        let found = stored.find_in(self.table())?;
        // SAFETY: the caller promises that this program stored a value of this type as these bytes.
        let bytes = unsafe { found.bytes(stored.into_body()) };
        Ok(Stored::of(bytes))
    }
}
