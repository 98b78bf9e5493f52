//! The conformance program: compiles Futhark programs for every backend that
//! this machine can run, derives checks from their manifests and test blocks,
//! runs them in child processes, and reports.
//!
//! ```text
//! cli ─▶ run ─┬─ corpus, toolchain, devices           select programs, compilers and devices
//!             ├─ expect                               expected failures
//!             ├─ files                                temporary files
//!             ├─ cover                                select jobs
//!             ├─ jobs ══ protocol ══ child            child processes per job, one at a time
//!             │                       └─ checks       one module per check
//!             │                           └─ harness  cases, contexts, calls, with
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
//! The modules that are public are for the tests of this crate, and change without notice.

#![forbid(unsafe_code)]
// `println` panics if a pipe is closed or a disk is full; `say` does not.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod blocks;
pub mod checks;
mod child;
mod cli;
mod compare;
mod corpus;
mod cover;
mod devices;
pub mod emulated;
mod expect;
mod files;
mod harness;
mod inputs;
mod jobs;
mod lines;
pub mod parallel;
mod pattern;
mod prepare;
mod protocol;
mod record;
pub mod report;
mod run;
mod say;
mod stopwatch;
mod toolchain;
pub mod values;

pub use cli::{Config, InputArgs, MachineArgs, WorkArgs};
pub use corpus::Corpus;
pub use devices::{Device, Emulate};
pub use futhark_manifest as manifest;
pub use jobs::Shard;
pub use pattern::{CheckPattern, Pattern};
pub use record::{CaseResult, Cause, CompilerInfo, Header, JobId, Outcome, Record};
pub use report::Report;
pub use run::{Ended, Exit, child_process, main, run, test};
