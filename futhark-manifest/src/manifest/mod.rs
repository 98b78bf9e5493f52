//! Manifests, from the text to the resolved program and what is derived from it.
//!
//! ```text
//! text --json--> members --decode--> syntax::Manifest --check--> findings
//!                                        |                (no errors)
//!                                        +--resolve--> program::Program --> operation, c, call, interface,
//!                                                                           diff, document
//! ```
//!
//! `model` has the types that both forms share. The methods of `syntax::Manifest` call the stages.
//! `check` takes the names of the library's functions from `c`.

pub mod c;
mod call;
mod check;
mod code;
mod decode;
#[cfg(feature = "diff")]
pub mod diff;
#[cfg(feature = "document")]
mod document;
mod encode;
mod error;
mod finding;
#[doc = include_str!("../guide.md")]
pub mod guide {}
mod interface;
mod json;
mod model;
mod operation;
mod order;
mod program;
mod resolve;
#[cfg(feature = "schema")]
pub mod schema;
pub mod syntax;
mod visit;
mod walk;

pub use call::{Call, FunctionList};
pub use code::{Code, ErrorKind, Severity};
#[cfg(feature = "document")]
pub use document::Document;
pub use error::Error;
pub use finding::Finding;
pub use json::{Locator, Position};
pub use model::{
    ArrayOps, ArrayType, Field, Input, OpaqueArray, OpaqueOps, OpaqueType, Output, Record,
    RecordArray, Structure, Sum, TypeKind, Unknown, Variant,
};
pub use operation::{Aliasing, Function, Operation, OutputAliasing, Owner};
pub use program::{EntryPoint, Program, ResultForm, Type, TypeId, TypeRef};
#[doc(inline)]
pub use syntax::Manifest;
pub use visit::Visitor;
