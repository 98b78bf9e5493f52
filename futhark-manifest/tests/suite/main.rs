//! The tests of the crate as its users see it, in one program.

mod common;
mod compilers;
mod diff;
mod eras;
mod errors;
mod interface;
mod lossless;
mod names;
mod samples;
mod walks;
