//! Programs with raw modules; the tests use them. No `#![forbid(unsafe_code)]` here: a raw
//! module declares functions of C.

futhark_safe::include_program!(pub stats);
futhark_safe::include_program!(pub other);
