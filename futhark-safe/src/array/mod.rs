//! Arrays of scalars.
//!
//! * `value`: the type; its elements as a `Vec`, in a slice of the caller's, one by one,
//!   or where they lie
//! * `make`: arrays from slices and iterators
//! * `memory`: memory as a backend has it, in and out
//! * `ndarray`: to and from that crate's arrays

mod make;
mod memory;
#[cfg(feature = "ndarray")]
pub(crate) mod ndarray;
mod value;

pub use value::{Array, ArrayIndex};
