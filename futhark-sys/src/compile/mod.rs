//! From a Futhark source to a compiled library with one table.
//!
//! [`Build`] says what to compile and how, [`Build::run`] does it and gives an
//! [`Artifact`]. What flows where:
//!
//! ```text
//! compiler.rs   finds futhark, runs it: name.c, name.h, name.json
//! layout.rs     reads the components of opaque values out of name.c
//! unit/         writes our C file: hooks, #include "name.c", wrappers, the table
//! cc.rs         compiles it, keeps one symbol global, links or archives it
//! build.rs      puts the steps in order and caches the result
//! toolchain.rs  where compilers and headers are: every environment variable
//! ```

mod build;
mod cc;
mod compiler;
mod error;
mod hash;
mod layout;
mod toolchain;
mod unit;

pub use build::{Artifact, Build, Linkage};
pub use compiler::Compiler;
pub use error::{Error, ErrorKind};
pub use toolchain::Toolchain;
pub use unit::function_names;
