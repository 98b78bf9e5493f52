//! The conformance program: compiles Futhark programs for every backend that
//! this machine can run, derives checks from their manifests and test blocks,
//! runs them in child processes, and reports.
//!
//! ```text
//! cli ─▶ run ─┬─ corpus, toolchain, devices      find programs, compilers and devices
//!             ├─ cover                           choose jobs
//!             ├─ jobs ══ protocol ══▶ child      a child process per job
//!             │   ▲                   └─ checks      a function per check
//!             │   ║                       └─ harness     cases, contexts, calls, with blocks, values, compare,
//!             │   ║                           │          and inputs, which uploads by harness::{calls, make}
//!             │   ╚═══ protocol::Event ═══════╯      the results of cases, back to the parent
//!             ├─ expect                          judge each result by the expected failures
//!             └─ report                          write records, and from them text, JUnit, HTML, Markdown
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

#![deny(unsafe_code)]
// `println` panics if a pipe is closed or a disk is full; `say` does not.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

// The way of `futhark-conformance run PROGRAM --check NAME` through the modules:
//
// 1. `run/mod.rs`: `main`, `run_command`, `check_corpus`; `Plan::make` makes the jobs (of a
//    folder, `run/select.rs` chooses among them). Workers take them from a `Queue`,
//    and `check_and_record` has each checked.
// 2. `jobs/mod.rs`: `check_job` starts a child process (`jobs/process.rs`: `Process::start`) and receives its events
//    (`Process::listen`).
// 3. `child.rs`: `main`, `check_program` has the program compiled, and loads it.
// 4. `checks/mod.rs`: `compile_and_check` (`checks/compile.rs` compiles), and `check_in_context`, which makes the context
//    and calls the functions in `ALL`.
// 5. `checks/NAME.rs`, or the file that `ALL` names: the function of the check, which passes each case to `Cases` (`run`,
//    `run_in_context` and the like).
// 6. `harness/cases.rs`: `Cases::perform` runs the case, and sends its result as an `Event` (`protocol.rs`).
// 7. Back in `jobs/mod.rs`: `JobState::handle` receives it, and `check_job` has it judged (`expect.rs`).
// 8. Back in `run/mod.rs`: `check_and_record` has its line written (`report/json.rs`: `add`); at the end `run_command`
//    prints `Report::as_text` (`report/mod.rs`, `report/text.rs`), and `verdict` makes the exit code.

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
