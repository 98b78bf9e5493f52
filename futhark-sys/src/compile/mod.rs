//! Compiles Futhark programs to libraries.
//!
//! [`Build`] describes a build, and [`Build::run`] returns an [`Artifact`].

mod artifact; // the result
#[cfg(feature = "raw")]
mod bindgen; // Rust declarations of name.h, for raw modules (feature `raw`)
mod build; // what a build makes, from which source and by which compiler
mod cache; // the default folder for results, and folders that are complete or not there
mod cc; // compiles our C file with our headers, links or archives it
mod code; // where the generated C comes from: a compiler or stored code; generates vendored code
mod compiler; // finds and runs futhark, which writes name.c, name.h and name.json
mod docs; // the comments of declarations in the source
mod driver; // finds the C compiler and the archiver
mod error;
mod facts; // keeps what compilers report about themselves; tells whether a file was replaced
mod files; // finds the source files of a program without the compiler; their part of the cache key
mod generated; // reads name.c and name.h
mod hash;
#[doc(hidden)]
pub mod lexer; // splits Futhark text into tokens
#[cfg(feature = "library")]
mod library; // hardened libraries for bridges from other languages: the functions of name.h over tables
mod paths; // paths relative to a program; errors of files, which name them
#[doc(hidden)]
pub mod process; // runs a command in bounded time and memory
mod recording; // a folder with recorded builds, for machines without compilers
mod run; // runs a build: finds its inputs, looks it up in the cache, or runs the steps; records it
#[cfg(test)]
#[path = "../../build/sources.rs"]
mod sources;
mod stored; // the format of stored code: what was vendored or recorded
mod toolchain; // finds compilers and headers; reads every environment variable
mod unit; // writes our C file: hooks, #include of the checked name.c, wrappers, the table

pub use artifact::Artifact;
pub use build::{Build, Linkage};
pub use cache::cache_folder;
pub use compiler::Compiler;
pub use error::{BACKENDS, Error, ErrorKind};
pub use files::sources;
#[cfg(feature = "library")]
pub use library::{Library, library};
pub use recording::Recording;
#[doc(hidden)]
pub use run::hardened_source;
pub use run::{Interface, Recorded};
pub use toolchain::{Toolchain, Vendor};
