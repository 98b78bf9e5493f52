//! The C side of a program: its functions and their prototypes.
//!
//! - [`Program::prototypes`](crate::Program::prototypes) yields the C prototype of every function that the
//!   manifest lists, with the role and the ownership of each parameter.
//! - [`Program::assertions`](crate::Program::assertions) writes a C file by which a C compiler compares them
//!   with the generated header.

mod assert;
mod ctype;
mod prototype;

pub use ctype::CType;
pub use prototype::{Parameter, ParameterRole, Passing, Prototype, Returns};
