//! Tuning parameters of programs, and files with their values.

mod file;
#[cfg(feature = "run")]
mod param;

pub use file::Tuning;
#[cfg(feature = "build")]
pub(crate) use file::unknown_in;
#[cfg(feature = "run")]
pub use param::TuningParam;
#[cfg(feature = "run")]
pub(crate) use param::{apply, params};
