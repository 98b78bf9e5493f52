//! Tuning parameters of programs.

mod param;

pub(crate) use param::params;
pub use param::{TuningClass, TuningParam};
