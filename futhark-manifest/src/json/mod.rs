//! JSON as text: reading it, and finding places in it again.

mod path;
mod position;
mod tree;

pub(crate) use path::{Path, escape};
pub use position::Position;
pub(crate) use tree::{Refused, Tree, read};
