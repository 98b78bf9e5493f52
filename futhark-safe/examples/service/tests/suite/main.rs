//! Runs the server.
//!
//! Building this package needs a Futhark compiler.
#![cfg(unix)]

mod limits;
mod responses;
mod server;
mod stop;
