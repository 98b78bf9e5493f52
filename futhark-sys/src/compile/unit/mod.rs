//! Writes our C file for one program and backend, which is compiled instead of `name.c`.

mod bounds; // terms that the compiler's own checks lack
mod concat; // checks of the lengths of concatenations
mod file; // the C file, and the fixed files that it includes
mod inputs; // what the parts are written from; text, types and lists in C
mod operations; // the known places of operations that can wrap
pub(super) mod raw; // the functions that a raw module offers, and those whose results the caller frees
mod room; // whether copies stay in their memory
mod runtime; // changes of the functions of the runtime
pub(super) mod sizes; // the copy of `name.c` with checked sizes, for hardened units
pub(super) mod symbols; // unique names of the functions and variables with external linkage
mod table; // the table
mod values; // the wrappers of the other functions of each type, and what its values need
mod wrappers; // a wrapper per call, and the validation of shapes

pub(super) use file::{CHECKED, FIXED_FILES, write};
pub(super) use inputs::Unit;
