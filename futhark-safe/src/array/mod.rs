//! Arrays of scalars.
//!
//! * `value`: the type, and access to its elements: copied, one by one, or in place
//! * `host`: a slice that owns an array of a host backend
//! * `make`: arrays from slices and iterators
//! * `memory`: memory shared with other crates
//! * `ndarray`: conversions from and to that crate's arrays

mod host;
mod make;
mod memory;
#[cfg(feature = "ndarray")]
pub(crate) mod ndarray;
mod value;

pub use host::HostArray;
pub use value::{Array, ArrayIndex};
