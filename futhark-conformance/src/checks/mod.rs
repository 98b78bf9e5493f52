//! The checks: one module each, under the name of the check.
//!
//! A check derives its questions from the program's manifest and test blocks, and runs them as
//! steps in the environment of `harness`. `catalog` lists the checks, `order` runs them.

mod arrays;
mod blocks;
mod catalog;
mod compile;
mod consume;
pub(crate) mod device_code;
mod differential;
mod errors;
mod header;
mod index;
mod leaks;
mod lifecycle;
mod manifest;
mod opaque;
mod order;
pub(crate) mod plain;
mod properties;
mod raw;
mod server;
mod settings;
mod store;
mod symbols;

pub use catalog::{ALL, Check, Run, must_exist};
pub use compile::Compiled;
pub use order::{build, run, skip_running};
