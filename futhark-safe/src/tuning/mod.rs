//! Tuning parameters of programs, and files with their values.
//!
//! ```text
//! param.rs  the parameters of a table, and their classes
//! file.rs   the format of `.tuning` files, which `futhark autotune` writes
//! apply.rs  the values that a new context uses, and names that its program does not have
//! near.rs   names that are similar to an unknown one
//! ```

mod apply;
mod file;
mod near;
mod param;

#[cfg(feature = "build")]
pub(crate) use apply::unknown_in;
pub(crate) use apply::{apply, apply_embedded};
pub use file::Tuning;
pub(crate) use param::params;
pub use param::{TuningClass, TuningParam};
