//! Generated inputs: arguments of any type, described on the host, so that every backend gets the
//! same ones, and they can be shrunk and saved.
//!
//! ```text
//! program ─▶ recipe ─┬─ learn: trial calls find which sizes must be equal
//!                    └─▶ strategy ─▶ growing ─▶ tree ─▶ values in any context
//!                        elements      └─▶ kept: a file
//! ```

mod elements;
mod growing;
mod kept;
mod learn;
mod recipe;
mod strategy;
mod tree;

pub use elements::{Random, any_bits, edges, is_tame, small, wild};
#[cfg(test)]
pub use elements::{Taste, fill};
pub use growing::{Pace, Stage, stages};
pub use kept::{Kept, Store};
pub use learn::{Trial, learn};
pub use recipe::Call;
pub use strategy::{Limits, like, runner};
pub use tree::{Input, Refusal, elem_of};
