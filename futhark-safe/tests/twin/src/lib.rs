//! The program `twin` of this crate; another crate has one of the same name.
#![forbid(unsafe_code)]

futhark_safe::include_program!(pub twin);
