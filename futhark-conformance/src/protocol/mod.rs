//! The contract between the supervising process and its child processes.
//!
//! The parent passes one [`JobSpec`] as an argument; the child answers with a stream of
//! [`events`] on its standard output.

pub mod events;
mod spec;

pub use events::Event;
pub use spec::{Earlier, JobSpec, RunSpec};
