//! The conformance program: compiles Futhark programs for every backend that
//! this machine can run, derives checks from their manifests and test blocks,
//! runs them in child processes, and reports.
//!
//! ```text
//! cli ─▶ run ─┬─ corpus, toolchain, devices, expect     what to run
//!             ├─ jobs ══ child processes ══ child       where it runs
//!             │                              └─ checks  what is asked, with
//!             │                                 blocks, inputs, values, compare
//!             └─ report                                 what came out
//!      └▶ prepare   what machines without compilers need
//! ```
//!
//! The library exists so that the parts can be tested; the interface for users
//! is the program `futhark-conformance`.

#![forbid(unsafe_code)]

pub mod blocks;
pub mod checks;
pub mod child;
pub mod cli;
pub mod compare;
pub mod corpus;
pub mod devices;
pub mod emulated;
pub mod expect;
pub mod inputs;
pub mod jobs;
pub mod judge;
mod key;
pub mod pattern;
pub mod prepare;
pub mod record;
pub mod report;
pub mod run;
pub mod toolchain;
pub mod values;
