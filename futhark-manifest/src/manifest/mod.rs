//! Manifests, from the text to the resolved program and what is derived from it.
//!
//! ```text
//! text --read--> model::Manifest --check--> findings
//!                      |                (no errors)
//!                      +--resolve--> program::Program --> operation, c, call, interface, diff, document
//! ```
//!
//! `pipeline` calls the stages; these are the methods of [`Manifest`].

pub mod c;
mod call;
mod check;
#[cfg(feature = "diff")]
pub mod diff;
#[cfg(feature = "document")]
mod document;
mod finding;
#[doc = include_str!("../guide.md")]
pub mod guide {}
mod interface;
mod model;
mod operation;
mod pipeline;
mod program;
mod read;
mod resolve;
#[cfg(feature = "document")]
#[doc = include_str!("../../docs/resolved.md")]
pub mod resolved {}
#[cfg(feature = "schema")]
pub mod schema;

/// The parts of a [`Manifest`] as written, in which types refer to each other by name.
///
/// Most users need the resolved form, [`Program`]. Parts can be changed and removed in place; the structs are
/// `non_exhaustive`, since the next compiler may add members.
pub mod syntax {
    pub use crate::manifest::model::{EntryPoint, Manifest, Outputs, Type};
}

pub use call::{Call, FunctionList};
#[cfg(feature = "document")]
pub use document::Document;
pub use finding::{Code, Error, ErrorKind, Finding, Severity};
pub use model::{
    ArrayOps, ArrayType, Field, Input, Manifest, OpaqueArray, OpaqueOps, OpaqueType, Output,
    Record, RecordArray, Structure, Sum, TypeId, TypeKind, TypeRef, Unknown, Variant,
};
pub use operation::{Aliasing, Function, Operation, OutputAliasing, Owner};
pub use program::{EntryPoint, Program, ResultForm, Type};
