//! A program written in Rust: a table like those that futhark-sys compiles, whose
//! functions check how they are called.
//!
//! The core cannot tell it from a real one, and sanitizers and Miri see all of it. It
//! keeps a ledger, and writes down every breach of `futhark_table.h` as a violation:
//!
//! * two calls at once in one context, or a context used after it was freed;
//! * a value that is none, is freed twice or not at all, belongs to another context, or
//!   has another type than the function takes;
//! * a consumed argument whose memory anything else shares;
//! * on its GPU flavour, where results are computed after the call has returned: a result
//!   of a failed computation that is given out or computed with.
//!
//! Values are memory of their own, freed when the table is told to, so that what is used
//! afterwards is seen by AddressSanitizer too. Nothing here locks what a call touches: if
//! the core's lock fails, ThreadSanitizer sees a race.
//!
//! * `world`: what a test holds; no violation may be left when it ends
//! * `value`: arrays and what is made of them, with exact reference counts
//! * `context`: a context, its ledger, its failures
//! * `call`: how each function begins and ends
//! * `types`, `operations`, `functions`: what the program can do
//! * `plain`: the functions that a raw module of it would declare
//! * `program`: its manifest and its tables

mod call;
mod context;
mod functions;
mod operations;
mod plain;
mod program;
mod types;
mod value;
mod world;

mod tests;
