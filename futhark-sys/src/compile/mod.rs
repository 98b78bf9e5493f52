//! From a Futhark source to a compiled library with one table.
//!
//! [`Build`] says what to compile and how, [`Build::run`] does it and gives an
//! [`Artifact`]. What flows where:
//!
//! ```text
//! compiler.rs   finds futhark, runs it: name.c, name.h, name.json
//! generated/    reads name.c and name.h: everything that the next steps derive from them
//! plain.rs      which functions of name.h a raw module calls, and their symbols
//! unit/         writes our C file: hooks, #include "name.c", wrappers, the table
//! cc.rs         compiles it, keeps the table's symbol global, links or archives it
//! ispc.rs       compiles name.kernels.ispc, on the backend ispc
//! bindgen.rs    name.h in Rust, for raw modules (feature `raw`)
//! build.rs      puts the steps in order and caches the result
//! tools.rs      the programs of a build, and what identifies them
//! cache.rs      the private folder for results, if no folder is named
//! recording.rs  results for machines without compilers
//! sources.rs    a hash of these files, made when this crate is built
//! toolchain.rs  where compilers and headers are: every environment variable
//! ```

#[cfg(feature = "raw")]
mod bindgen;
mod build;
mod cache;
mod cc;
mod compiler;
mod error;
mod generated;
mod hash;
mod ispc;
mod plain;
mod recording;
#[cfg(test)]
mod sources;
mod toolchain;
mod tools;
mod unit;

pub use build::{Artifact, Build, Linkage};
pub use cache::cache_folder;
pub use compiler::Compiler;
pub use error::{Error, ErrorKind};
pub use recording::Recorded;
pub use toolchain::Toolchain;
pub use unit::FunctionList;
