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
//! Three things cannot be checked: the *payload* of a sum, whose variants share components in
//! an order that only the compiler knows; relations between sizes in the types of the program;
//! and types whose structure the manifest does not describe. The compiled program relies on the first and the last, so
//! trust is `unsafe`. SAFETY.md shows the smallest case. Sizes matter less: constructors such as `State::new` and
//! `zip` accept parts of any size, so compiled programs compare the sizes that they rely on. So the checks are
//! complete for types without the other two, and [`Untrusted::accept`] takes these.
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

use futhark_sys::table::Table;

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{self, Bytes, other_program};
use crate::opaque::Opaque;
use crate::program::handle::HasHandle;
use crate::program::{Linked as _, OpaqueTag, Program};

mod body;
mod frame;
#[cfg(feature = "mac")]
mod seal;
#[cfg(feature = "serde")]
mod serde;
mod untrusted;

use frame::Frame;
#[cfg(feature = "mac")]
pub use seal::Key;
#[cfg(all(feature = "mac", feature = "dynamic"))]
pub(crate) use seal::{seal, unseal};
pub(crate) use untrusted::Found;
#[cfg(feature = "dynamic")]
pub(crate) use untrusted::accept;

impl<G: OpaqueTag> Opaque<G> {
    /// Returns the value as bytes, to be restored later or in a context of another backend of the
    /// program. Waits until the value is computed.
    ///
    /// # Errors
    ///
    /// The call that computes the value failed; [`ErrorKind::OutOfMemory`].
    pub fn store(&self) -> Result<Stored<G>> {
        Ok(Stored::of(ffi::store(self.handle())?))
    }
}

impl<P: Program> Context<P> {
    /// Restores a stored value. Any backend of the program can have stored it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Restore`]: another program stored it, which includes another source (except comments), other
    /// options of the Futhark compiler, and another version of it: see
    /// [changes of the program](crate::stored#changes-of-the-program).
    /// [`ErrorKind::OutOfMemory`]; [`ErrorKind::ContextLost`].
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
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfMemory`].
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

impl<G: OpaqueTag> fmt::Debug for Stored<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "Stored", self.type_name(), self.body())
    }
}

/// A stored value of unknown origin. Its frame is consistent, but its body may be wrong.
///
/// [`accept`](Self::accept) turns it into a [`Stored`] if the checks are complete for its type, and the
/// unsafe [`trust`](Self::trust) in any case.
///
/// ```
/// use futhark_safe::{ErrorKind, Untrusted};
///
/// let error = Untrusted::from_bytes(b"something else").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Restore);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Untrusted {
    program: String,
    type_name: String,
    body: Vec<u8>,
}

impl Untrusted {
    /// Parses the output of `to_bytes`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Restore`]: not a stored value, another version, truncated or changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Untrusted> {
        let frame = Frame::read(bytes)?;
        Ok(Untrusted {
            program: frame.program.to_owned(),
            type_name: frame.type_name.to_owned(),
            body: frame.body.to_vec(),
        })
    }

    /// The claimed key of the program; equal for all backends.
    #[must_use]
    pub fn program_id(&self) -> &str {
        &self.program
    }

    /// The claimed name of the type in the manifest.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The bytes in the format of the runtime.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Runs all checks of [`accept`](Self::accept) and [`trust`](Self::trust), for a program that is linked
    /// into this binary.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Restore`]: another program, another version of it or of its compiler, another
    /// type, or components, sizes, tags or bools that no value of the type has.
    pub fn check<G: OpaqueTag>(&self) -> Result<()> {
        self.find::<G>().map(drop)
    }

    /// Runs all checks of [`trust_for`](Self::trust_for).
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn check_for<G: OpaqueTag>(&self, ctx: &Context<G::Program>) -> Result<()> {
        self.find_for::<G>(ctx).map(drop)
    }

    /// Runs all checks and returns program and type.
    pub(crate) fn find<G: OpaqueTag>(&self) -> Result<Found> {
        self.expect_type::<G>()?;
        // The key covers the layouts, so any backend with that key has them.
        for table in G::Program::tables() {
            let table = table.check()?;
            if table.program() == self.program {
                return self.find_in(table);
            }
        }
        Err(other_program())
    }

    /// Like [`find`](Self::find), for the program of a context, which need not be linked.
    pub(crate) fn find_for<G: OpaqueTag>(&self, ctx: &Context<G::Program>) -> Result<Found> {
        self.expect_type::<G>()?;
        self.find_in(ctx.core().table())
    }

    fn expect_type<G: OpaqueTag>(&self) -> Result<()> {
        if self.type_name == G::NAME {
            return Ok(());
        }
        Err(fail(format!(
            "expected a value of type {}, got one of type {}",
            G::NAME,
            self.type_name
        )))
    }

    /// Like [`find`](Self::find), for a program known at run time.
    pub(crate) fn find_in(&self, table: &'static Table) -> Result<Found> {
        if table.program() != self.program {
            return Err(other_program());
        }
        let ty = table
            .types()
            .iter()
            .find(|ty| ty.name() == self.type_name && ty.raw().restore.is_some())
            .ok_or_else(|| {
                let name = &self.type_name;
                fail(format!(
                    "the program has no type `{name}` that can be restored"
                ))
            })?;
        body::check(&self.body, ty.components())?;
        Ok(Found {
            program: table.program(),
            ty,
        })
    }

    pub(crate) fn into_body(self) -> Vec<u8> {
        self.body
    }
}

impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "Untrusted", &self.type_name, &self.body)
    }
}

pub(crate) fn to_bytes(bytes: &Bytes) -> Result<Vec<u8>> {
    Frame {
        program: bytes.program(),
        type_name: bytes.type_name(),
        body: bytes.body(),
    }
    .write()
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
