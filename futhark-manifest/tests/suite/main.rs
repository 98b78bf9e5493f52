//! The tests of the crate as its users see it, in one program.

mod common;
mod compilers;
mod diff;
mod eras;
mod errors;
mod headers;
mod interface;
mod lossless;
mod names;
mod prototypes;
mod samples;
mod walks;
