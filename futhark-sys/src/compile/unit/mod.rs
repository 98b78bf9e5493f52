//! Writes our C file for one program and backend, which is compiled instead of `name.c`.

mod bounds; // terms that the compiler's own checks lack
pub(super) mod checked; // the copy of `name.c` with checks, for hardened units
mod concat; // checks of the lengths of concatenations
mod constants; // arrays of a constant shape that cannot exist
mod divisions; // checks that no divisor can be 0 or -1
mod edits; // changes of a file by place
mod file; // the C file, and the fixed files that it includes
mod inputs; // what the parts are written from; text, types and lists in C
mod launches; // the checks in functions that launch kernels and fill arrays
mod operations; // the functions that a program may call, and the known places of operations that can wrap
mod passes; // the sizes that functions of a program pass to the runtime
pub(super) mod raw; // the functions that a raw module offers, and those whose results the caller frees
mod room; // whether copies stay in their memory
mod sizes; // second definitions of sizes in checked arithmetic
pub(super) mod symbols; // unique names of the functions and variables with external linkage
mod table; // the table
mod values; // the wrappers of the other functions of each type, and what its values need
mod wrappers; // a wrapper per call, and the validation of shapes

pub(super) use file::{CHECKED, FIXED_FILES, write};
pub(super) use inputs::Unit;
