//! Compiles Futhark programs to libraries.
//!
//! [`Build`] describes a build, and [`Build::run`] returns an [`Artifact`]. The steps:
//!
//! ```text
//! compiler.rs   finds and runs futhark, which writes name.c, name.h and name.json
//! generated/    reads name.c and name.h
//! plain.rs      the functions of name.h that a raw module offers, and their symbols
//! unit/         writes our C file: hooks, #include of the checked name.c, wrappers, the table
//! headers.rs    writes the headers that it includes
//! cc.rs         compiles it, hides all symbols but the table, links or archives it
//! driver.rs     finds the C compiler
//! interface.rs  only the manifest, for code that is checked and not linked
//! ispc.rs       compiles name.kernels.ispc, on the backend ispc
//! bindgen.rs    Rust declarations of name.h, for raw modules (feature `raw`)
//! build.rs      runs these steps and caches the result
//! artifact.rs   the result
//! files.rs      the source files of a program, and their part of the cache key
//! imports.rs    finds imports without the Futhark compiler
//! lexer.rs      splits Futhark text into tokens
//! tools.rs      the executables of a build, and their part of the cache key
//! process.rs    runs a command in bounded time and memory
//! stamp.rs      tells whether a file was replaced
//! facts.rs      keeps what compilers report about themselves
//! cache.rs      the default folder for results
//! record.rs     stores results for machines without compilers
//! recording.rs  finds them again
//! vendor.rs     stores generated code beside the source
//! vendored.rs   finds it again, in place of the Futhark compiler
//! paths.rs      paths relative to a program; files read and written with errors that name them
//! sources.rs    a hash of these files, computed by the build script
//! toolchain.rs  finds compilers and headers; reads every environment variable
//! ```

mod artifact;
#[cfg(feature = "raw")]
mod bindgen;
mod build;
mod cache;
mod cc;
mod compiler;
mod driver;
mod error;
mod facts;
mod files;
mod generated;
mod hash;
mod headers;
#[doc(hidden)]
pub mod imports;
mod interface;
mod ispc;
#[doc(hidden)]
pub mod lexer;
mod paths;
mod plain;
#[doc(hidden)]
pub mod process;
mod record;
mod recording;
#[cfg(test)]
mod sources;
mod stamp;
mod toolchain;
mod tools;
mod unit;
mod vendor;
mod vendored;

pub use artifact::{Artifact, Linkage};
pub use build::Build;
pub use cache::cache_folder;
pub use compiler::Compiler;
pub use error::{Error, ErrorKind};
pub use interface::Interface;
pub use record::Recorded;
pub use toolchain::{Toolchain, Vendor};
