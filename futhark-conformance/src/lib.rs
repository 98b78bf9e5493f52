//! The conformance program: compiles Futhark programs for every backend that
//! this machine can run, derives checks from their manifests and test blocks,
//! runs them in child processes, and reports.
//!
//! ```text
//! cli ─▶ run ─┬─ corpus, toolchain, devices, expect   select programs, compilers and devices
//!             ├─ identity, scratch                    names of compilers, temporary files
//!             ├─ cover                                select jobs
//!             ├─ jobs ══ protocol ══ child            one child process per job
//!             │                       └─ checks       one module per check
//!             │                           └─ harness  steps, contexts, calls, with
//!             │                                       blocks, inputs, values, compare
//!             └─ report                               terminal, JSON, JUnit, HTML, Markdown
//!      └▶ prepare   record builds for machines without compilers
//! ```
//!
//! The interface for users is the program `futhark-conformance`, and for Rust programs:
//!
//! * [`test()`] shows the programs of a crate as tests of `cargo test`.
//! * [`run()`] checks a [`Corpus`] of programs as a [`Config`] says, and returns a [`Report`], for a
//!   harness of your own. Its `main` begins with [`child_process`].
//!
//! The other modules are public for tests and for the types of fields and results of these items, and
//! change without notice.

#![forbid(unsafe_code)]
// `println` panics if a pipe is closed or a disk is full; `say` does not.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod blocks;
pub mod checks;
pub mod child;
pub mod cli;
pub mod compare;
pub mod corpus;
pub mod cover;
pub mod devices;
pub mod emulated;
pub mod expect;
pub mod harness;
pub mod identity;
pub mod inputs;
pub mod jobs;
mod key;
pub mod leash;
mod lines;
pub mod parallel;
pub mod pattern;
pub mod prepare;
pub mod protocol;
pub mod record;
pub mod report;
pub mod run;
pub mod say;
pub mod scratch;
pub mod shard;
mod stopwatch;
pub mod toolchain;
pub mod values;

pub use corpus::Corpus;
pub use futhark_manifest as manifest;
pub use report::Report;
pub use run::{Config, child_process, run, test};
