//! Bytes of unknown origin, and their conversion to stored values: without `unsafe` for types whose values the checks
//! cover, and by a promise of the caller.

#![allow(
    unsafe_code,
    reason = "the table says for which types the checks are complete; declares unsafe functions of the public API"
)]

use std::fmt;

use futhark_sys::table::{FUT_COVERAGE_ABSTRACT, FUT_COVERAGE_FULL, FUT_COVERAGE_SUM, Table, Type};

use super::format::{check_body, read_frame};
use super::{Stored, debug, fail};
use crate::context::{Context, Linked as _};
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::{Bytes, other_program};
use crate::opaque::OpaqueTag;

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
    pub(super) program: String,
    pub(super) type_name: String,
    pub(super) body: Vec<u8>,
}

impl Untrusted {
    /// Parses the output of `to_bytes`.
    ///
    /// # Errors
    /// [`ErrorKind::Restore`]: not a stored value, another version, truncated or changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Untrusted> {
        read_frame(bytes)
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
    /// [`ErrorKind::Restore`]: another program, another version of it or of its compiler, another
    /// type, or components, sizes, tags or bools that no value of the type has.
    pub fn check<G: OpaqueTag>(&self) -> Result<()> {
        self.find::<G>(None).map(drop)
    }

    /// Runs all checks of [`trust_for`](Self::trust_for).
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_for<G: OpaqueTag>(&self, ctx: &Context<G::Program>) -> Result<()> {
        self.find::<G>(Some(ctx)).map(drop)
    }

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
    /// As [`check`](Self::check). [`ErrorKind::Unsupported`]: the type is or contains a sum with other
    /// variants, or a type whose structure the manifest does not describe. `Stored::seal` and `unseal` (feature
    /// `mac`) take every type.
    pub fn accept<G: OpaqueTag>(self) -> Result<Stored<G>> {
        let found = self.find::<G>(None)?;
        Ok(Stored::of(accept(found, self.into_body())?))
    }

    /// As [`accept`](Self::accept), for the program of a context that was made of a library
    /// (`Context::with_library`, feature `dynamic`).
    pub fn accept_for<G: OpaqueTag>(self, ctx: &Context<G::Program>) -> Result<Stored<G>> {
        let found = self.find::<G>(Some(ctx))?;
        Ok(Stored::of(accept(found, self.into_body())?))
    }

    /// A stored value with these bytes, if they pass [`check`](Self::check), of a program that is linked
    /// into this binary.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    ///
    /// # Safety
    /// The same program stored a value as these bytes. The checks detect accidents, not attacks. They
    /// cannot verify sizes that the program's types relate to each other, the content of
    /// a sum's payload, and invariants of the program's abstract types. The compiled program
    /// relies on all of these, and accesses memory out of bounds if they do not hold.
    pub unsafe fn trust<G: OpaqueTag>(self) -> Result<Stored<G>> {
        let found = self.find::<G>(None)?;
        // SAFETY: the caller promises that this program stored a value of this type as these bytes.
        let bytes = unsafe { found.bytes(self.into_body()) };
        Ok(Stored::of(bytes))
    }

    /// A stored value with these bytes, if they pass [`check_for`](Self::check_for): as
    /// [`trust`](Self::trust), for the program of a context that was made of a
    /// library (`Context::with_library`, feature `dynamic`).
    ///
    /// # Safety
    /// As for [`trust`](Self::trust).
    pub unsafe fn trust_for<G: OpaqueTag>(self, ctx: &Context<G::Program>) -> Result<Stored<G>> {
        let found = self.find::<G>(Some(ctx))?;
        // SAFETY: the caller promises that this program stored a value of this type as these bytes.
        let bytes = unsafe { found.bytes(self.into_body()) };
        Ok(Stored::of(bytes))
    }

    /// Runs all checks, and returns program and type: for the program of `ctx`, or for one that is linked into this
    /// binary.
    pub(super) fn find<G: OpaqueTag>(&self, ctx: Option<&Context<G::Program>>) -> Result<Found> {
        if self.type_name != G::NAME {
            let (expected, name) = (G::NAME, &self.type_name);
            return Err(fail(format!(
                "expected a value of type {expected}, got one of type {name}"
            )));
        }
        if let Some(ctx) = ctx {
            return self.find_in(ctx.core().table());
        }
        // The key covers the layouts, so any backend with that key has them.
        for table in G::Program::tables() {
            let table = table.check()?;
            if table.program() == self.program {
                return self.find_in(table);
            }
        }
        Err(other_program())
    }

    /// Like [`find`](Self::find), for a program known at run time.
    pub(crate) fn find_in(&self, table: &'static Table) -> Result<Found> {
        if table.program() != self.program {
            return Err(other_program());
        }
        let name = &self.type_name;
        let mut types = table.types().iter();
        let ty = types.find(|ty| ty.name() == name && ty.raw().restore.is_some());
        let ty = ty.ok_or_else(|| {
            fail(format!(
                "the program has no type `{name}` that can be restored"
            ))
        })?;
        check_body(&self.body, ty.components())?;
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

/// Program and type of a body that has passed all checks for it.
pub(crate) struct Found {
    pub(super) program: &'static str,
    pub(super) ty: &'static Type,
}

impl Found {
    /// # Safety
    /// As for [`Bytes::new`].
    pub(crate) unsafe fn bytes(&self, body: Vec<u8>) -> Bytes {
        // SAFETY: as the caller promises.
        unsafe { Bytes::new(self.program, self.ty.name(), body) }
    }
}

/// Stored values serialize as the bytes of their frame. Deserialized bytes can have any origin.
#[cfg(feature = "serde")]
mod serde {
    use std::fmt;

    use serde_core::de::value::SeqAccessDeserializer;
    use serde_core::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

    use super::Untrusted;

    impl<'de> Deserialize<'de> for Untrusted {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Untrusted, D::Error> {
            deserializer.deserialize_bytes(Bytes)
        }
    }

    struct Bytes;

    impl<'de> Visitor<'de> for Bytes {
        type Value = Untrusted;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the bytes of a stored value of a Futhark program")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Untrusted, E> {
            Untrusted::from_bytes(bytes).map_err(E::custom)
        }

        /// Formats without a bytes type use a list of numbers.
        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Untrusted, A::Error> {
            // Reads the size hint as untrusted.
            let bytes = Vec::<u8>::deserialize(SeqAccessDeserializer::new(list))?;
            Untrusted::from_bytes(&bytes).map_err(A::Error::custom)
        }
    }
}
