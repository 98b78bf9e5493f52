//! Arrays of scalars.
//!
//! * `value`: the type; its elements as a `Vec`, in a slice of the caller's, one by one,
//!   or where they lie
//! * `make`: arrays from slices and iterators
//! * `ndarray`: to and from that crate's arrays
//!
//! Memory of backends, for work beside other crates, is in `raw::memory`.

mod make;
#[cfg(feature = "ndarray")]
pub(crate) mod ndarray;
mod value;

pub use value::{Array, ArrayIndex};
