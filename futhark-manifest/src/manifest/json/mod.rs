//! JSON as text: reading it, and finding places in it again.

mod path;
mod position;
mod tree;

pub(crate) use path::{Path, compare_pointers, escape};
pub use position::{Locator, Position};
pub(crate) use tree::{Reading, Refused, Sink, read};
