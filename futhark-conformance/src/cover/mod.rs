//! Chooses the jobs of a quick run: a part of the corpus that covers what the whole corpus covers.
//!
//! A *construct* is a property of a program that checks depend on: a type in its manifest, a
//! consumed parameter, a kind of test case, an operator in its source. Each construct has a
//! topic, and `demand` lists the topics that each check asks about. The part contains
//! every combination of check and construct of the corpus, at least once per place:
//!
//! | scope of the construct | once per |
//! |---|---|
//! | [`Scope::Device`] | backend and device, by any compiler |
//! | [`Scope::Compiler`] | backend and compiler, on any device |
//! | [`Scope::Family`] | family of backends that share the compiler's parallel code |
//! | [`Scope::Run`] | run |
//!
//! ```text
//! scan       source, test blocks, manifest ─▶ constructs and cost of a program, which are kept in a file
//! demand     check × construct × place     ─▶ what a job covers
//! choose     jobs ─▶ the part: greedy, most new combinations per cost first; then, for each check, the jobs that run it
//! plan       the chosen part, as a value and as text
//! ```
//!
//! The choice depends only on the programs, the compilers' versions and the columns, so every
//! machine chooses the same part. Only with `--budget` it also depends on estimates of time.

mod choose;
mod construct;
mod demand;
mod kept;
mod part;
mod plan;
mod scan;

pub use construct::{Construct, Features, Scope, Topic};
pub use kept::Sources;
pub(crate) use part::slowness;
pub use part::{Part, of_jobs};
pub use plan::{Column, Cost, Plan};
