//! Compiles Futhark programs to libraries.
//!
//! [`Build`] describes a build, and [`Build::run`] returns an [`Artifact`]. The steps:
//!
//! ```text
//! run.rs        runs a build: finds its inputs, looks it up in the cache, or runs the steps; records it
//! build.rs      what a build makes, from which source and by which compiler
//! artifact.rs   the result
//! recording.rs  a folder with recorded builds, for machines without compilers
//! code.rs       where the generated C comes from: a compiler or stored code; generates vendored code
//! stored.rs     the format of stored code: what was vendored or recorded
//! compiler.rs   finds and runs futhark, which writes name.c, name.h and name.json
//! generated/    reads name.c and name.h
//! unit/         writes our C file: hooks, #include of the checked name.c, wrappers, the table
//! cc.rs         compiles it with our headers, links or archives it
//! driver.rs     finds the C compiler and the archiver
//! bindgen.rs    Rust declarations of name.h, for raw modules (feature `raw`)
//! files.rs      finds the source files of a program without the compiler; their part of the cache key
//! lexer.rs      splits Futhark text into tokens
//! facts.rs      keeps what compilers report about themselves; tells whether a file was replaced
//! cache.rs      the default folder for results, and folders that are complete or not there
//! toolchain.rs  finds compilers and headers; reads every environment variable
//! process.rs    runs a command in bounded time and memory
//! paths.rs      paths relative to a program; files read and written with errors that name them
//! ```

mod artifact;
#[cfg(feature = "raw")]
mod bindgen;
mod build;
mod cache;
mod cc;
mod code;
mod compiler;
mod driver;
mod error;
mod facts;
mod files;
mod generated;
mod hash;
#[doc(hidden)]
pub mod lexer;
mod paths;
#[doc(hidden)]
pub mod process;
mod recording;
mod run;
#[cfg(test)]
#[path = "../../build/sources.rs"]
mod sources;
mod stored;
mod toolchain;
mod unit;

pub use artifact::Artifact;
pub use build::{Build, Linkage};
pub use cache::cache_folder;
pub use compiler::Compiler;
pub use error::{BACKENDS, Error, ErrorKind};
pub use files::sources;
pub use recording::Recording;
pub use run::{Interface, Recorded};
pub use toolchain::{Toolchain, Vendor};
