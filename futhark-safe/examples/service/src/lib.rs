//! The Futhark program, and the parts that the server and the load generator share.
#![cfg_attr(not(feature = "floor"), forbid(unsafe_code))]

pub mod arguments;
pub mod http;
pub mod latency;

futhark_safe::include_program!(pub service);

// The same program without hardening, for plain C calls.
#[cfg(feature = "floor")]
futhark_safe::include_program!(pub plain);
