//! Statistics, computed by Futhark.
#![forbid(unsafe_code)]

futhark_safe::include_program!(pub stats);
