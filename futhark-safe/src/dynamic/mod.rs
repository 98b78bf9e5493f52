//! The dynamic interface: programs, types and values known at run time.
//!
//! ```no_run
//! use futhark_safe::Config;
//! use futhark_safe::dynamic::{Arg, Context, Library, Value};
//!
//! // SAFETY: the file was installed with this program, and `compile::Build` made it.
//! let library = unsafe { Library::open("libstats.so") }?;
//! let ctx = Context::new(&library, &Config::new())?;
//! let xs: Value = ctx.array(&[1.0f32, 2.0, 3.0])?.into();
//! let results = ctx.call("mean", vec![Arg::Borrow(&xs)])?;
//! println!("{:?}", results[0]);
//! # Ok::<(), futhark_safe::Error>(())
//! ```
//!
//! A machine that only opens libraries needs neither compilers nor the feature `compile`. With that feature,
//! `Library::build` compiles a program and opens it.
//!
//! It uses the same core as the typed interface. Mistakes that the typed interface rejects at
//! compile time are errors at run time. Types have the names of the manifest: see [`Library::program`]. `# Errors`
//! sections omit [the failures that any function can have](crate#errors).

mod array;
mod context;
mod library;
mod opaque;
mod value;

pub use context::{Batch, Context};
pub use library::Library;
pub use opaque::Stored;
pub use value::{Arg, Array, Opaque, Scalar, Value};
