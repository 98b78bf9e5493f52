//! Opaque values as bytes: stored in one context, restored in another, of any backend.
//!
//! * [`Stored`]: made by [`Opaque::store`](crate::Opaque::store) in this process, so it holds
//!   what it says, and restoring it is safe
//! * [`Untrusted`]: read from bytes that may come from anywhere; becomes a `Stored` by
//!   an `unsafe` call, after every check that there is
//!
//! ```text
//! let stored = ctx.entry().model(&data)?.store()?;
//! std::fs::write("model.bin", stored.to_bytes()?)?;
//!
//! let untrusted = Untrusted::from_bytes(&std::fs::read("model.bin")?)?;
//! // SAFETY: only this program writes that file.
//! let stored = unsafe { untrusted.trust::<Model>() }?;
//! let model = stored.restore(&ctx)?;
//! ```
//!
//! # What is checked, and what cannot be
//!
//! [`Untrusted::from_bytes`] checks the frame: magic, version, lengths, checksum. Before trust
//! come program and type, and the body component by component: rank and element type, sizes
//! that are not negative and whose product fits, truth values that are 0 or 1, the length to
//! the last byte, tags of sums that name a variant, and equal outer dimensions of what
//! makes up an array of records. Wherever these are inside of a record or an array, they are
//! checked; inside of a *payload* of a sum they are not, since the variants share components
//! in an order that only the compiler knows. Nor are sizes that the program's own types
//! relate to each other, nor what it keeps true of a value of an abstract type. The compiled
//! program relies on all of these, which is why trust is `unsafe`. SAFETY.md shows the smallest case.
//!
//! # Format
//!
//! The frame, in version 1, with numbers in little-endian order:
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | magic: `89 46 55 54 0d 0a 1a 0a`, which a transfer as text changes |
//! | 8 | 1 | version: 1 |
//! | 9 | 1 | byte order of the body: 0 little-endian, 1 big-endian |
//! | 10 | 2 | p: length of the program's key |
//! | 12 | 4 | n: length of the type's name |
//! | 16 | 8 | b: length of the body |
//! | 24 | 8 | checksum of everything but these eight bytes |
//! | 32 | p | the program's key: source, compiler version, layout of types; not the backend |
//! | 32 + p | n | the type's name, as in the manifest |
//! | 32 + p + n | b | the body, as the runtime of Futhark writes values |
//!
//! The checksum is of the 24 bytes before it and of everything after it, one after the
//! other. It begins as `cbf29ce484222325` and takes words of eight bytes in little-endian
//! order: `s = (s ^ word) * 9e3779b97f4a7c15`, then `s = s ^ (s >> 32)`, modulo 2^64. Each of
//! the two parts gives its whole words, one with the bytes that are left, zeros after them
//! (there is one even if none are), and its length. It shows accidents; anyone can compute it.
//!
//! Nothing follows. A key is a SHA-256 hash in 64 hexadecimal digits, so a frame takes 96 bytes
//! and the name. Equal values have equal bytes, on every backend.

use std::fmt;
use std::marker::PhantomData;

use futhark_sys::table::Table;

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{self, Bytes, other_program};
use crate::opaque::Opaque;
use crate::program::handle::HasHandle;
use crate::program::{Linked as _, OpaqueTag};

mod body;
mod frame;
#[cfg(feature = "serde")]
mod serde;
mod trust;

use frame::Frame;

impl<G: OpaqueTag> Opaque<G> {
    /// The value as bytes, to be restored later, or in a context of another backend of the
    /// program. Waits until the value is computed.
    ///
    /// # Errors
    ///
    /// What made the value failed; [`ErrorKind::OutOfMemory`].
    pub fn store(&self) -> Result<Stored<G>> {
        Ok(Stored::of(ffi::store(self.handle())?))
    }
}

/// An opaque value as bytes that this process stored, or vouched for.
///
/// It belongs to no context and outlives all of them.
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

    /// Makes the value in the memory of a context, of whatever backend.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Restore`]: the context is of another build of the program (of two backends of
    /// one program, compiled by different versions of the compiler).
    /// [`ErrorKind::OutOfMemory`]; [`ErrorKind::ContextLost`].
    pub fn restore(&self, context: &Context<G::Program>) -> Result<G> {
        let handle = ffi::restore(context.core(), &self.bytes)?;
        Ok(Opaque::from_handle(handle).into())
    }

    /// Frame and body, for a file or another process: see [`Untrusted`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfMemory`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        to_bytes(&self.bytes)
    }

    /// The bytes in the runtime's own format, which C programs and `futhark` itself read.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.bytes.body()
    }

    /// The value's type, as the manifest names it.
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

/// Bytes that say that they are a stored value. Their frame agrees with itself; whether
/// they are what they say, nobody can know.
///
/// [`trust`](Self::trust) makes a [`Stored`] of it.
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
    /// Reads what `to_bytes` made.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Restore`]: something else, another version, truncated or changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Untrusted> {
        let frame = Frame::read(bytes)?;
        Ok(Untrusted {
            program: frame.program.to_owned(),
            type_name: frame.type_name.to_owned(),
            body: frame.body.to_vec(),
        })
    }

    /// The key of the program that it says it was stored by; the same for all backends.
    #[must_use]
    pub fn program_id(&self) -> &str {
        &self.program
    }

    /// The type that it says it has, as the manifest names it.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The bytes in the runtime's own format.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Every check that [`trust`](Self::trust) makes, without trust.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Restore`]: another program, or another version of it or of its compiler;
    /// another type; components, sizes, tags or truth values that no value of the type has.
    pub fn check<G: OpaqueTag>(&self) -> Result<()> {
        self.find::<G>().map(drop)
    }

    /// The program and the type, after every check.
    pub(crate) fn find<G: OpaqueTag>(&self) -> Result<(&'static str, &'static str)> {
        if self.type_name != G::NAME {
            return Err(fail(format!(
                "a value of type {} was stored, wanted is one of type {}",
                self.type_name,
                G::NAME
            )));
        }
        // The key names layouts too, so any backend of that key will do.
        for table in G::Program::tables() {
            let table = table.check()?;
            if table.program() == self.program {
                return self.find_in(table);
            }
        }
        Err(other_program())
    }

    /// As [`find`](Self::find), for a program that is known at run time.
    pub(crate) fn find_in(&self, table: &'static Table) -> Result<(&'static str, &'static str)> {
        if table.program() != self.program {
            return Err(other_program());
        }
        let ty = table
            .types()
            .iter()
            .find(|ty| ty.name() == self.type_name && ty.raw().restore.is_some())
            .ok_or_else(|| {
                let name = &self.type_name;
                fail(format!("the program restores no type `{name}`"))
            })?;
        body::check(&self.body, ty.components())?;
        Ok((table.program(), ty.name()))
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
