//! Opaque values as bytes: stored in one context, restored in another, of any backend.
//!
//! * [`Stored`]: created by [`Opaque::store`](crate::Opaque::store) in this process, so restoring
//!   it is safe
//! * [`Untrusted`]: read from bytes of unknown origin
//!
//! There are three ways from bytes to a `Stored`, all after the same checks:
//!
//! | way | for | who can have written the bytes |
//! |---|---|---|
//! | [`Untrusted::accept`] | types for which the checks are complete: records, arrays, sums of scalars | anyone |
//! | `Stored::unseal` (feature `mac`) | every type | holders of the key |
//! | `unsafe` [`Untrusted::trust`] | every type | this program, which the caller promises |
//!
//! ```text
//! let stored = ctx.entry().model(&data)?.store()?;
//! std::fs::write("model.bin", stored.to_bytes()?)?;
//!
//! let untrusted = Untrusted::from_bytes(&std::fs::read("model.bin")?)?;
//! let model = ctx.restore(&untrusted.accept::<Model>()?)?;
//! ```
//!
//! With a key, for types that `accept` refuses:
//!
//! ```text
//! std::fs::write("model.bin", stored.seal(&key)?)?;
//! let model = ctx.restore(&Stored::<Model>::unseal(&key, &std::fs::read("model.bin")?)?)?;
//! ```
//!
//! # Checks and their limits
//!
//! [`Untrusted::from_bytes`] validates the frame: magic number, version, lengths, checksum.
//! [`Untrusted::check`] validates program and type, and each component of the body: rank and
//! element type, sizes that are not negative and do not overflow, bools that are 0 or 1, tags
//! that name a variant, equal outer dimensions of the parts of an array of records, and the total
//! length.
//!
//! Three things cannot be checked: the *payload* of a sum, whose variants share components in an order that only the
//! compiler knows; types whose structure the manifest does not describe; and relations between sizes in the types of the
//! program. SAFETY.md says why only the first two can do harm. [`Untrusted::accept`] takes types without them.
//!
//! # Changes of the program
//!
//! A stored value belongs to the program that stored it: the same source, compiler and compiler options, on any
//! backend. Comments can change; any other change, also of another entry point, makes the value invalid, because layouts
//! and the meaning of components can change with it. To keep data across versions of a program, save its parts, such as
//! `state.fields()?` and `to_vec()` with serde, and construct the value again.
//!
//! # Format
//!
//! The frame, in version 1, with numbers in little-endian order:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | magic: `89 46 55 54 0d 0a 1a 0a`; a transfer in text mode changes it |
//! | 8 | 1 | version: 1 |
//! | 9 | 1 | byte order of the body: 0 little-endian, 1 big-endian |
//! | 10 | 2 | p: length of the program's key |
//! | 12 | 4 | n: length of the type's name |
//! | 16 | 8 | b: length of the body |
//! | 24 | 8 | checksum of all other bytes |
//! | 32 | p | the program's key: source, options of the Futhark compiler, its version, layout of types; not the backend |
//! | 32 + p | n | the type's name, as in the manifest |
//! | 32 + p + n | b | the body, in the format of the Futhark runtime |
//!
//! The checksum covers two parts in order: the 24 bytes before it, and all bytes after it. It
//! starts as `cbf29ce484222325`. For each word of eight bytes in little-endian order,
//! `s = (s ^ word) * 9e3779b97f4a7c15`, then `s = s ^ (s >> 32)`, modulo 2^64. The words of a part are
//! its whole words, one word with the remaining bytes padded with zeros (also if no byte
//! remains), and its length. The checksum detects accidents, not attacks.
//!
//! A sealed value is a frame and, after it, 32 bytes: the HMAC-SHA256 of `futhark-safe sealed value 1`, a zero byte
//! and the frame.
//!
//! No other bytes follow the body. A key is a SHA-256 hash in 64 hexadecimal digits, so a frame takes 96 bytes
//! plus the name. Equal values have equal bytes, on every backend.

use std::fmt;
use std::marker::PhantomData;

use crate::context::{Context, Program};
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{self, Bytes};
use crate::opaque::{Opaque, OpaqueTag};

mod format;
#[cfg(feature = "mac")]
mod seal;
mod untrusted;

#[cfg(feature = "mac")]
pub use seal::Key;
#[cfg(all(feature = "mac", feature = "dynamic"))]
pub(crate) use seal::{seal, unseal};
pub use untrusted::Untrusted;
#[cfg(feature = "dynamic")]
pub(crate) use untrusted::accept;

impl<G: OpaqueTag> Opaque<G> {
    /// Returns the value as bytes, to be restored later or in a context of another backend of the
    /// program. Waits until the value is computed.
    pub fn store(&self) -> Result<Stored<G>> {
        Ok(Stored::of(ffi::store(&self.handle)?))
    }
}

impl<P: Program> Context<P> {
    /// Restores a stored value. Any backend of the program can have stored it.
    ///
    /// # Errors
    /// [`ErrorKind::Restore`]: another program stored it, which includes another source (except comments), other
    /// options of the Futhark compiler, and another version of it: see
    /// [changes of the program](crate::stored#changes-of-the-program).
    pub fn restore<G: OpaqueTag<Program = P>>(&self, stored: &Stored<G>) -> Result<G> {
        let handle = ffi::restore(self.core(), &stored.bytes)?;
        Ok(Opaque::from_handle(handle).into())
    }
}

/// An opaque value as bytes that this process stored or trusts.
///
/// It belongs to no context.
pub struct Stored<G: OpaqueTag> {
    bytes: Bytes,
    tag: PhantomData<fn() -> G>,
}

impl<G: OpaqueTag> Stored<G> {
    pub(crate) fn of(bytes: Bytes) -> Stored<G> {
        Stored {
            bytes,
            tag: PhantomData,
        }
    }

    /// Returns frame and body, for a file or another process: see [`Untrusted`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        to_bytes(&self.bytes)
    }

    /// The bytes in the format of the runtime, which C programs and `futhark` read.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.bytes.body()
    }

    /// The name of the type in the manifest.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.bytes.type_name()
    }
}

impl<G: OpaqueTag> Clone for Stored<G> {
    fn clone(&self) -> Stored<G> {
        Stored::of(self.bytes.clone())
    }
}

impl<G: OpaqueTag> PartialEq for Stored<G> {
    fn eq(&self, other: &Stored<G>) -> bool {
        self.bytes == other.bytes
    }
}

impl<G: OpaqueTag> Eq for Stored<G> {}

#[cfg(feature = "serde")]
impl<G: OpaqueTag> serde_core::Serialize for Stored<G> {
    fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.to_bytes().map_err(serde_core::ser::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

impl<G: OpaqueTag> fmt::Debug for Stored<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "Stored", self.type_name(), self.body())
    }
}

pub(crate) fn to_bytes(bytes: &Bytes) -> Result<Vec<u8>> {
    format::write_frame(bytes.program(), bytes.type_name(), bytes.body())
}

pub(crate) fn debug(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    type_name: &str,
    body: &[u8],
) -> fmt::Result {
    f.debug_struct(name)
        .field("type", &type_name)
        .field("bytes", &body.len())
        .finish()
}

fn fail(message: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::Restore, "restore", message)
}
