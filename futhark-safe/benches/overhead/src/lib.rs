//! The programs that the benchmark compares: the typed interface, the typed interface without
//! hardening, and plain C.

pub mod plain;

// Of the bench `costs`.
futhark_safe::include_program!(pub ways);
futhark_safe::include_program!(pub bench);
futhark_safe::include_program!(pub bench_untrapped);
