//! Generated inputs: arguments of any type, described on the host, so that every backend gets the
//! same ones, and they can be shrunk and saved.
//!
//! ```text
//! program ─▶ call, with the sizes that trial calls accept ─▶ strategy ─▶ input ─┬─▶ values in any context
//!                                                 elements ─────┘               └─▶ a file
//! ```

mod call;
mod elements;
mod input;
mod strategy;

pub use call::{Call, Trial};
pub use elements::{Random, Taste, any_bits, edges, fill, is_tame, random, small};
pub use input::{Input, Kept, Refusal, Store, elem_of};
pub use strategy::{Limits, Pace, SizedInput, growing, like_test_cases, runner};
