//! Tuning parameters of programs, and files with their values.
//!
//! ```text
//! param.rs    the parameters of a table, and their classes
//! file.rs     the format of `.tuning` files, which `futhark autotune` writes
//! apply.rs    the values that a new context uses
//! unknown.rs  names that a program does not have, and similar ones, for contexts and build scripts
//! ```

#[cfg(feature = "run")]
mod apply;
mod file;
#[cfg(feature = "run")]
mod param;
mod unknown;

#[cfg(feature = "run")]
pub(crate) use apply::{apply, apply_embedded};
pub use file::Tuning;
#[cfg(feature = "run")]
pub(crate) use file::regular;
#[cfg(feature = "run")]
pub(crate) use param::params;
#[cfg(feature = "run")]
pub use param::{TuningClass, TuningParam};
#[cfg(feature = "build")]
pub(crate) use unknown::unknown_in;
