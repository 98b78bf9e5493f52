//! Opaque values: everything that is no scalar and no array of scalars.

use std::fmt;
use std::marker::PhantomData;

use crate::error::Result;
use crate::program::OpaqueTag;
use crate::program::handle::HasHandle;
use crate::raw::{self, Handle};

/// A record, tuple, sum, abstract value or array of such, in the memory of a context.
///
/// `G` says of which type and program.
pub struct Opaque<G: OpaqueTag> {
    handle: Handle,
    tag: PhantomData<fn() -> G>,
}

impl<G: OpaqueTag> Opaque<G> {
    pub(crate) fn from_handle(handle: Handle) -> Self {
        Opaque {
            handle,
            tag: PhantomData,
        }
    }

    /// The type's name in the manifest.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        G::NAME
    }

    /// The shape of an array of opaque values.
    ///
    /// # Errors
    ///
    /// [`Kind::InvalidArgument`](crate::Kind::InvalidArgument): the value is no array.
    pub fn shape(&self) -> Result<Vec<usize>> {
        raw::shape(&self.handle)
    }
}

impl<G: OpaqueTag> HasHandle for Opaque<G> {
    fn handle(&self) -> &Handle {
        &self.handle
    }

    fn into_handle(self) -> Handle {
        self.handle
    }
}

impl<G: OpaqueTag> fmt::Debug for Opaque<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opaque<{}>", G::NAME)
    }
}
