//! The C side of a program: its functions, their prototypes and its header.
//!
//! - [`Program::prototypes`](crate::Program::prototypes) yields the C prototype
//!   of every function that the manifest lists, with the role and the ownership
//!   of each parameter.
//! - [`library`] lists the functions that manifests leave out: configuration,
//!   contexts, tuning, profiling, errors.
//! - [`Header`] reads the generated header; [`agree`] (feature `headers`) compares it
//!   with the declarations that follow from the manifest.

#[cfg(feature = "headers")]
mod agree;
mod ctype;
mod derive;
mod header;
mod library;
mod parse;
mod prototype;
mod roles;
mod tokens;

#[cfg(feature = "headers")]
pub use agree::{Agreement, Beyond, BeyondItem, Disagreement, DisagreementCode, agree};
pub use ctype::{CType, Primitive};
pub use header::{Declaration, DeclaredParameter, Define, Header, StructDeclaration, Unread};
pub(crate) use library::STRUCTS;
pub use library::{ERROR_CODES, ErrorCode, Group, LibraryFunction, Since, library};
pub use prototype::{Parameter, ParameterRole, Passing, Prototype, Returns};
pub use roles::{LibraryReturns, LibraryRole};
