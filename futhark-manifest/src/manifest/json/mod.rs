//! Reading JSON text, and finding places in it.

mod path;
mod position;
mod tree;

pub(crate) use path::{Path, compare_pointers, escape};
pub use position::{Locator, Position};
pub(crate) use tree::{Reading, Refused, Sink, read};
