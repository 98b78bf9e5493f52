//! The prototype of a C function that a manifest lists, with the role and ownership of
//! its parts.

use std::fmt;

use super::ctype::{CType, write_prototype};
use super::header::Declaration;
use crate::elem::ElemType;
use crate::manifest::program::TypeRef;

/// The prototype of a C function that a manifest lists.
///
/// `Display` writes the declaration of the generated header.
///
/// A call has succeeded only if it returned success, the next `futhark_context_sync`
/// returned 0, and `futhark_context_get_error` returned `NULL`. On GPU backends a kernel
/// fails after the call has returned, and a later copy can hide a failed allocation, so
/// a function can return 0, or a handle, with an error pending. Handles from such a
/// call contain garbage and must still be freed; slots that it did not write are unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prototype {
    /// The C name.
    pub name: String,
    /// The C type of the result.
    pub result: CType,
    /// The meaning of the result.
    pub returns: Returns,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
}

impl Prototype {
    /// Whether a declaration has the same types, top-level `const` included.
    /// Names of parameters do not count.
    #[must_use]
    pub fn has_types_of(&self, declaration: &Declaration) -> bool {
        let own = self.parameters.iter().map(|parameter| &parameter.ty);
        let others = declaration.parameters.iter();
        self.result == declaration.result && own.eq(others.map(|parameter| &parameter.ty))
    }
}

impl fmt::Display for Prototype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.parameters.iter();
        let parameters = parameters.map(|parameter| (&parameter.ty, &*parameter.name));
        write_prototype(f, &self.result, &self.name, parameters)
    }
}

/// A parameter of a C function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// The name in the generated header.
    pub name: String,
    /// The C type.
    pub ty: CType,
    /// The role.
    pub role: ParameterRole,
    /// How it is passed, and its ownership.
    pub passing: Passing,
}

/// The role of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParameterRole {
    /// The context, always the first parameter. All values in a call must belong to it.
    Context,
    /// The value that owns the operation.
    Value,
    /// The elements of an array in host memory, in row-major order. Their number is the
    /// product of the dimensions.
    Data(ElemType),
    /// Raw memory of the backend that holds the elements in row-major order.
    RawMemory(ElemType),
    /// The length of this dimension, outermost first.
    Dimension(usize),
    /// The index in this dimension, outermost first. The function checks it
    /// against the shape.
    Index(usize),
    /// The value of a field.
    Field {
        /// The index of the field.
        index: usize,
        /// The type.
        ty: TypeRef,
    },
    /// A part of the payload of a variant.
    Payload {
        /// The index of the part.
        index: usize,
        /// The type.
        ty: TypeRef,
    },
    /// An argument of an entry point.
    Argument {
        /// The index of the argument.
        index: usize,
        /// The type.
        ty: TypeRef,
    },
    /// One element of an array.
    Element(TypeRef),
    /// All elements of an array in row-major order: a C array of handles.
    Elements(TypeRef),
    /// The slot for a result.
    Output {
        /// The index of the result; 0 if there is only one.
        index: usize,
        /// The type.
        ty: TypeRef,
    },
    /// A value as bytes.
    Bytes,
    /// The number of bytes.
    ByteCount,
}

/// How a parameter is passed, and its ownership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Passing {
    /// A scalar is passed by value.
    Scalar,
    /// The function uses it; the caller keeps ownership.
    Borrowed {
        /// Whether it may still be read after the function has returned, until
        /// the next `futhark_context_sync`: it must not be freed before.
        until_sync: bool,
    },
    /// The function consumes the value, even if it fails. Afterwards the caller may
    /// only free the handle, and every handle that shares storage with the value.
    Consumed,
    /// The function changes the value in place: the handle stays valid, and
    /// values that share storage with the old value change too.
    Overwritten,
    /// The handle is freed and must not be used again.
    Freed,
    /// Host memory that the function reads.
    HostRead {
        /// Whether it may still be read after the function has returned, until
        /// the next `futhark_context_sync`. The memory must be valid and
        /// unchanged until then.
        until_sync: bool,
    },
    /// Host memory that the function fills.
    HostWritten {
        /// Whether it may still be written after the function has returned,
        /// until the next `futhark_context_sync`.
        until_sync: bool,
    },
    /// Memory that the new value uses as its own: it must outlive the value
    /// and everything that shares storage with it, and Futhark never frees it.
    Lent,
    /// The context keeps a reference: it must outlive the context.
    KeptByContext,
    /// A slot that receives a scalar.
    GivesScalar {
        /// Whether the scalar is complete only after the next
        /// `futhark_context_sync`. The slot must be valid until then.
        after_sync: bool,
    },
    /// A slot that receives a handle, which the caller must free.
    GivesHandle {
        /// Whether the value is complete only after the next
        /// `futhark_context_sync`. It must not be used before, not even
        /// freed.
        after_sync: bool,
    },
    /// A slot for a pointer to bytes. If it is `NULL`, the function writes only the
    /// number of bytes. If it contains `NULL`, the function allocates memory, which the
    /// caller must release with `free`. Otherwise the function writes the bytes to the
    /// address in the slot.
    GivesBytes {
        /// Whether the bytes may still be written after the function has
        /// returned, until the next `futhark_context_sync`.
        until_sync: bool,
    },
    /// A slot that receives a number of bytes.
    GivesByteCount,
}

/// The meaning of the result of a C function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Returns {
    /// 0 for success, but see [`Prototype`]. Any other value is a failure, and does not identify the
    /// cause.
    Status,
    /// A handle that the caller must free, or `NULL` for a failure; see
    /// [`Prototype`].
    Handle,
    /// A pointer to the length of each dimension, outermost first, valid as long as the
    /// handle. The function cannot fail.
    Shape {
        /// The number of dimensions.
        rank: usize,
    },
    /// The index of the variant. The function cannot fail.
    Variant,
    /// Raw memory of the backend, which is valid as long as the value, its owner.
    RawMemory,
}
