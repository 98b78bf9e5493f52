//! A Futhark program written in Rust: a table like those that futhark-sys compiles, whose
//! functions check their caller. For the tests of futhark-safe.
//!
//! The core of futhark-safe uses it like a compiled program, and sanitizers and Miri see all of
//! it. It keeps a ledger of values, and records every breach of `futhark_table.h` as a violation:
//!
//! * two calls at once in one context, or a context used after it was freed;
//! * a pointer that is not a live value, a value that is freed twice or not at all, belongs to
//!   another context, or has another type than the function takes;
//! * a consumed argument that shares memory with another value;
//! * an element that is read before it was written;
//! * on its GPU flavour, which computes results after the call has returned: a result of a failed
//!   computation that is read or computed with.
//!
//! Each value is a separate allocation, which the table's `free` frees, so AddressSanitizer reports
//! a use after that, too. Nothing here locks the data that a call touches: if the core's lock
//! fails, ThreadSanitizer reports a race.
//!
//! * `world`: fails a test if a violation was recorded, or a context or value is left
//! * `value`: arrays and opaque values, with exact reference counts
//! * `context`: a context, its ledger, its failures
//! * `call`: the beginning and the end of each function
//! * `types`, `operations`, `functions`: the program's types and functions
//! * `plain`: the functions that a raw module of it would declare
//! * `program`: its manifest and its tables
//! * `checked`: for models, `std::sync` and `std::thread` on loom
//!
//! SAFETY comments refer to the guarantees that `futhark-safe/src/ffi/mod.rs` lists: T, the
//! caller obeys `futhark_table.h`; L, it holds the context's lock; V, its values live.

mod call;
#[cfg(loom)]
pub mod checked;
mod context;
mod functions;
#[cfg(test)]
mod model;
mod operations;
pub mod plain;
pub mod program;
pub mod types;
mod value;
mod world;

pub use world::{FLAVOURS, Flavour, World};
