//! Runs the server, and the load generator against it.
//!
//! Building this package needs a Futhark compiler. If the variable `FUTHARK_BACKENDS` excludes `c` or
//! `multicore`, their tests pass and a line on stderr names the backend; with
//! `FUTHARK_TESTS_NEED_COMPILERS=1` they fail.
#![cfg(unix)]

mod limits;
mod load;
mod responses;
mod server;
mod stop;
