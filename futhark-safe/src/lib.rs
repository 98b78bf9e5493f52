//! Call Futhark programs from Rust: typed, sound, on every backend. Layer 3 of 4, over
//! futhark-manifest and futhark-sys.
//!
//! A program is compiled by your build script and becomes a module (`tests/outside.rs`
//! builds and runs this):
//!
//! ```text
//! // build.rs
//! fn main() {
//!     futhark_safe::build::Program::new("stats.fut")
//!         .backends([Backend::Multicore, Backend::C])
//!         .compile();
//! }
//!
//! // main.rs
//! futhark_safe::include_program!(stats);
//!
//! let ctx = stats::Context::new(&stats::Config::new())?;
//! let xs = ctx.array(&[1.0f32, 2.0, 3.0])?;
//! let mean: f32 = ctx.entry().mean(&xs)?;   // observed: by reference
//! let ys = ctx.entry().normalise(xs)?;      // consumed: moved
//! println!("{mean} {:?}", ys.to_vec()?);
//! ```
//!
//! Programs that are known only at run time are behind the feature `dynamic`.
//!
//! Features: `load` (default) opens shared objects, `build` is for build scripts, `ndarray`
//! converts arrays to and from that crate's. `raw`, for build scripts too, makes modules for
//! plain C calls beside safe ones ([`Context::with_raw`]); it is the one that needs bindgen.
//!
//! # What holds
//!
//! * A value that a call consumes is moved. If anything else shares its memory, the
//!   call gets a copy, so nobody sees a value change.
//! * Values keep their context alive and cannot be passed to another context or program.
//! * Transfers are complete when the call that makes them returns.
//! * A failing program gives an [`Error`] with the text of the C side, and the context
//!   goes on: out of bounds, a negative size, missing memory. What else would have ended
//!   the process is [`Kind::ContextLost`], and a new context can be made. On host backends the memory of
//!   the lost one is freed with its last value.
//! * [`Opaque::store`] makes bytes of a value, for later or for another backend; see [`stored`].
//! * Every opaque type is a struct of its own: records are made of fields and have a method for
//!   each, sums have an enum, arrays of records are zipped and taken apart. The module `build`
//!   (feature `build`) says how.
//!
//! # Threads and blocking
//!
//! [`Context`], [`Array`] and [`Opaque`] are `Send` and `Sync`. One call at a time
//! runs per context; others wait for it. Dropping a value never waits.

#![deny(unsafe_code)]

#[cfg(feature = "build")]
pub mod build;
#[cfg(feature = "compile")]
pub use futhark_sys::compile;
#[cfg(feature = "dynamic")]
pub mod dynamic;

mod array;
mod cache;
mod checksum;
mod config;
mod context;
mod elem;
mod error;
#[cfg(all(test, feature = "dynamic"))]
mod fake_tests;
mod ffi;
mod known_bad;
mod opaque;
mod program;
mod raw;
mod start;
pub mod stored;
mod typed;

pub use array::{Array, ArrayIndex};
pub use config::Config;
pub use context::Context;
pub use elem::Element;
pub use error::{Error, Kind, Place, Result};
pub use ffi::RawMemory;
pub use futhark_manifest::{Backend, ElemType};
pub use half::f16;
pub use opaque::Opaque;
pub use program::{HasArray, OpaqueTag, Program};
pub use raw::{Raw, RawContext, RawValue};
pub use stored::{Stored, Untrusted};

/// What generated code and macros of this crate use. Not for others: it may change
/// in any version.
#[doc(hidden)]
pub mod __private {
    pub use crate::ffi::{Input, LinkedTable, Output};
    pub use crate::program::{Linked, Receive, Slot, Value, consumed, observed, scalar, slot};
    pub use crate::typed::{
        check_rows, column, element, from_elements, get, no_variant, part, parts, set_element,
        shape, unit,
    };
    pub use futhark_sys::table::Raw as RawTable;
}
