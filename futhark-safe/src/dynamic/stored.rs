//! Stored values: bytes that know where they come from.

use std::fmt;

use crate::raw;

/// The bytes of an opaque value, with its program and type.
///
/// Made by [`Opaque::store`](super::Opaque::store) only, never from bytes of unknown
/// origin, which is why restoring one is safe. It can be restored into a context of any
/// backend of the same program, compiled by the same version of the compiler.
#[derive(Clone, PartialEq, Eq)]
pub struct Stored(pub(super) raw::Bytes);

impl Stored {
    /// The bytes, in the runtime's own format.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The value's type, as the manifest names it.
    #[must_use]
    pub fn type_name(&self) -> &str {
        self.0.type_name()
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored")
            .field("type", &self.type_name())
            .field("bytes", &self.bytes().len())
            .finish()
    }
}
