//! The tests of the public API, in one program.

mod assertions;
mod bridge;
mod common;
mod compilers;
mod corpus;
mod diff;
mod documents;
mod eras;
mod errors;
mod fixtures;
mod interface;
mod members;
#[cfg(feature = "schema")]
mod mutations;
mod names;
mod prototypes;
mod requirements;
#[cfg(feature = "schema")]
mod resolved;
mod samples;
#[cfg(feature = "schema")]
mod schema;
mod toolchain;
#[cfg(feature = "schema")]
mod versions;
