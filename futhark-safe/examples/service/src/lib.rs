//! The Futhark program, and the parts of the server that do not depend on it.
#![forbid(unsafe_code)]

pub mod arguments;
pub mod http;
pub mod latency;

futhark_safe::include_program!(pub service);
