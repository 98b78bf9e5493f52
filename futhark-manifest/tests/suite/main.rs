//! The tests of the public API, in one program.

mod bridge;
mod common;
mod compilers;
mod corpus;
mod diff;
mod eras;
mod errors;
mod fixtures;
mod headers;
mod interface;
mod lossless;
mod mutations;
mod names;
mod prototypes;
mod requirements;
mod samples;
mod schema;
mod toolchain;
mod versions;
mod walks;
