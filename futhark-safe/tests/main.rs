//! The dynamic interface on real programs. One binary: each program is compiled and loaded once.
#![cfg(all(feature = "compile", feature = "dynamic", unix))]

mod bad_input;
mod c_api;
mod cache;
mod configuration;
mod device_code;
mod dynamic;
mod ends;
mod errors;
mod failures;
mod stored;
mod support;
#[cfg(feature = "tracing")]
mod tracing;
mod tuning;
