//! Tuning parameters of programs, and files with their values.
//!
//! ```text
//! file.rs   `.tuning` files, which `futhark autotune` writes
//! param.rs  the parameters of a table, and the values that a new context uses
//! ```

mod file;
#[cfg(feature = "run")]
mod param;

pub use file::Tuning;
#[cfg(feature = "build")]
pub(crate) use file::unknown_in;
#[cfg(feature = "run")]
pub use param::{TuningClass, TuningParam};
#[cfg(feature = "run")]
pub(crate) use param::{apply, params};
