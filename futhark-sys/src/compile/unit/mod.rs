//! Writes our C file for one program and backend, which is compiled instead of `name.c`.
//!
//! ```text
//! file.rs       the C file, and the fixed files that it includes
//! inputs.rs     what the parts are written from; text, types and lists in C
//! wrappers.rs   a wrapper per call, and the validation of shapes
//! values.rs     the wrappers of the other functions of each type, and what its values need
//! table.rs      the table
//! raw.rs        the functions that a raw module offers, and those whose results the caller frees
//! symbols.rs    unique names of the functions and variables with external linkage
//! sizes.rs      the copy of `name.c` with checked sizes, for hardened units
//! bounds.rs     terms that the compiler's own checks lack
//! concat.rs     checks of the lengths of concatenations
//! operations.rs  the known places of operations that can wrap
//! runtime.rs    changes of the functions of the runtime
//! ```

mod bounds;
mod concat;
mod file;
mod inputs;
mod operations;
pub(super) mod raw;
mod runtime;
pub(super) mod sizes;
pub(super) mod symbols;
mod table;
mod values;
mod wrappers;

pub(super) use file::{CHECKED, FIXED_FILES, write};
pub(super) use inputs::Unit;
