//! What the benches share: the programs, how they are compiled, and plain C.

pub mod builds;
pub mod page;
pub mod plain;
pub mod workloads;

futhark_safe::include_program!(pub calls);
