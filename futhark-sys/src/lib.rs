//! Layer 2 of 4: the C side of a Futhark program.
//!
//! * [`table`]: what a compiled program offers, as one table of functions per
//!   program and backend, linked in or loaded at run time. Calling it is `unsafe`;
//!   `futhark-safe` is the sound interface over it.
//! * `load` (feature `load`): opens a shared object and finds its table.
//! * `compile` (feature `compile`): finds and runs the Futhark compiler, writes our
//!   C file around the generated one, compiles it, and says where the table is.
//!
//! The header of the table and the C that surrounds generated code are in `c/`.

mod bindings;
#[cfg(feature = "compile")]
pub mod compile;
#[cfg(feature = "load")]
pub mod load;
pub mod table;
