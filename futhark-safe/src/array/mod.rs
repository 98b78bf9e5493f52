//! Arrays of scalars.
//!
//! * `value`: the type, and access to its elements: copied, one by one, or in place
//! * `make`: arrays from slices and iterators
//! * `memory`: memory shared with other crates
//! * `ndarray`: conversions from and to that crate's arrays

mod make;
mod memory;
#[cfg(feature = "ndarray")]
pub(crate) mod ndarray;
mod value;

pub use value::{Array, ArrayIndex};
