//! The programs of the tests, with raw modules. These declare functions of C, so the crate cannot
//! forbid unsafe code.

futhark_safe::include_program!(pub stats);
futhark_safe::include_program!(pub other);
