//! The harness: the types and functions that checks use.
//!
//! ```text
//! checks ─▶ session                 compare two implementations on generated inputs
//!        ─▶ server                  processes that execute commands on variables, an implementation
//!        ─▶ ways                    ways to make an argument that may share memory with other values
//!        ─▶ answers, test_cases     arguments and expected results; `script` evaluates those of test blocks
//!        ─▶ env                     libraries, contexts, settings
//!        ─▶ build, limits           builds of the program, and the memory limits of processes
//!        ─▶ calls, make, content    operations on values
//!        ─▶ cases                   filter, run and report the cases of a check
//! ```
//!
//! No module of the harness uses a check.

pub mod answers;
pub mod build;
pub mod calls;
pub mod cases;
pub mod content;
pub mod env;
pub mod limits;
pub mod make;
mod script;
pub mod server;
pub mod session;
pub mod test_cases;
pub mod ways;
